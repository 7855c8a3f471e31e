"""Passkeys: public keys of people's devices, and what was signed with them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from printworks.rules.people import Realm
from printworks.store.accounts.people import Person
from printworks.store.accounts.sessions import hash_token
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import columns_of, find_struct, list_structs
from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import passkeys, people, used_challenges


class NewPasskey(msgspec.Struct, frozen=True):
    """A key that a device has just made."""

    credential: str
    public_key: bytes
    sign_count: int
    name: str


class Passkey(msgspec.Struct, frozen=True):
    """A key with which a person signs in."""

    id: int
    person_id: int
    # The id that the authenticator gave it, in base64url.
    credential: str
    public_key: bytes
    sign_count: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


_COLUMNS: Final = columns_of(passkeys, Passkey)


def insert_passkey(db: Connection, person_id: int, new: NewPasskey, *, now: datetime) -> None:
    """Add a passkey; no other may have its credential."""
    values = msgspec.structs.asdict(new)
    db.execute(insert(passkeys).values(person_id=person_id, created_at=now, **values))


def find_passkey(db: Connection, realm: Realm, credential: str) -> Passkey | None:
    """Return the passkey of somebody in this realm, by the id that the authenticator gave it."""
    wanted = (
        select(*_COLUMNS)
        .join_from(passkeys, people)
        .where(passkeys.c.credential == credential, people.c.realm == realm)
    )
    return find_struct(db, Passkey, wanted)


def list_passkeys(db: Connection, person_id: int) -> list[Passkey]:
    """Return the passkeys of a person, the oldest first."""
    wanted = select(*_COLUMNS).where(passkeys.c.person_id == person_id).order_by(passkeys.c.id)
    return list_structs(db, Passkey, wanted)


def count_passkeys(db: Connection, person_id: int) -> int:
    counted = select(func.count()).where(passkeys.c.person_id == person_id)
    return int(db.execute(counted).scalar_one())


def count_passkeys_of(db: Connection, whose: Iterable[Person]) -> Mapping[int, int]:
    """Return how many passkeys each of these people has, by their id, of those who have any."""
    counted = (
        select(passkeys.c.person_id, func.count())
        .where(passkeys.c.person_id.in_([person.id for person in whose]))
        .group_by(passkeys.c.person_id)
    )
    return {row[0]: row[1] for row in db.execute(counted)}


def note_passkey_use(db: Connection, passkey: Passkey, sign_count: int, *, now: datetime) -> bool:
    """Store that a passkey was used, and how often its authenticator says; return False if it is gone."""
    noted = db.execute(
        update(passkeys)
        .where(passkeys.c.id == passkey.id)
        .values(sign_count=sign_count, last_used_at=now)
    )
    return noted.rowcount == 1


def delete_passkey(db: Connection, person_id: int, passkey_id: int) -> Passkey | None:
    """Delete a passkey of a person and return it; None if there is none."""
    gone = db.execute(
        delete(passkeys)
        .where(passkeys.c.person_id == person_id, passkeys.c.id == passkey_id)
        .returning(*_COLUMNS)
    ).one_or_none()
    return None if gone is None else Passkey(*gone)


def delete_passkeys(db: Connection, person_id: int) -> None:
    db.execute(delete(passkeys).where(passkeys.c.person_id == person_id))


def use_challenge(db: Connection, challenge: str, *, expires_at: datetime) -> bool:
    """Use a challenge up; return False if it was used before."""
    return insert_unless_there(
        db, used_challenges, hash=hash_token(challenge), expires_at=expires_at
    )


def purge_challenges(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete challenges that have expired by then; return how many."""
    return delete_oldest(
        db, used_challenges.c.expires_at, used_challenges.c.expires_at <= before, limit=limit
    )
