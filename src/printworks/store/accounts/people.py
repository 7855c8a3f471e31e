"""People who sign in: merchants' staff and operators."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from printworks.rules.people import Realm, Role
from printworks.store.engine.rows import columns_of, find_struct, get_struct, list_structs
from printworks.store.tables import (
    invitations,
    kept_forms,
    mail_choices,
    passkeys,
    people,
    recovery_codes,
    sent_forms,
    sessions,
)


class Person(msgspec.Struct, frozen=True):
    """A person who can sign in."""

    id: int
    realm: Realm
    email: str
    role: Role
    # Null for operators.
    merchant_id: int | None
    password_hash: str
    # Sealed.
    totp_secret: str | None
    # The step of the last code that was used: no code can be used twice.
    totp_step: int
    created_at: datetime
    # The last news and the last event of the merchant's feed that the person has seen.
    news_seen: int
    events_seen: int
    # Whether the list of first steps was put away.
    hides_first_steps: bool

    @property
    def has_totp(self) -> bool:
        """Whether a code is needed besides the password."""
        return self.totp_secret is not None


class NewPerson(msgspec.Struct, frozen=True, kw_only=True):
    """A person who has just chosen a password."""

    realm: Realm
    email: str
    role: Role
    merchant_id: int | None
    password_hash: str


COLUMNS: Final = columns_of(people, Person)


def insert_person(db: Connection, new: NewPerson, *, now: datetime) -> Person:
    """Add a person; no other in the same realm may have this address."""
    values = msgspec.structs.asdict(new)
    added = insert(people).values(**values, created_at=now).returning(*COLUMNS)
    return Person(*db.execute(added).one())


def find_person(db: Connection, realm: Realm, email: str) -> Person | None:
    wanted = select(*COLUMNS).where(people.c.realm == realm, people.c.email == email)
    return find_struct(db, Person, wanted)


def get_person(db: Connection, person_id: int) -> Person:
    wanted = select(*COLUMNS).where(people.c.id == person_id)
    return get_struct(db, Person, wanted, missing="There is no person with this ID.")


def is_person(db: Connection, person_id: int) -> bool:
    """Say whether there is a person with this id, or no longer."""
    return db.execute(select(people.c.id).where(people.c.id == person_id)).first() is not None


def get_person_to_change(db: Connection, person_id: int) -> Person:
    """Return a person, and lock the row until the transaction ends."""
    wanted = select(*COLUMNS).where(people.c.id == person_id).with_for_update()
    return get_struct(db, Person, wanted, missing="There is no person with this ID.")


def find_person_to_change(db: Connection, person_id: int) -> Person | None:
    """Return a person, and lock the row until the transaction ends; None if there is none now."""
    wanted = select(*COLUMNS).where(people.c.id == person_id).with_for_update()
    return find_struct(db, Person, wanted)


def list_people(db: Connection, realm: Realm, *, merchant_id: int | None = None) -> list[Person]:
    """Return the people of one merchant, or the operators."""
    wanted = (
        select(*COLUMNS)
        .where(people.c.realm == realm, people.c.merchant_id.is_not_distinct_from(merchant_id))
        .order_by(people.c.email)
    )
    return list_structs(db, Person, wanted)


def set_password(db: Connection, person_id: int, password_hash: str) -> None:
    _change(db, person_id, password_hash=password_hash)


def set_totp(db: Connection, person_id: int, secret: str | None, *, step: int) -> None:
    """Require codes of this sealed secret from now on, or none."""
    _change(db, person_id, totp_secret=secret, totp_step=step)


def set_role(db: Connection, person_id: int, role: Role) -> None:
    _change(db, person_id, role=role)


def use_step(db: Connection, person_id: int, step: int) -> bool:
    """Mark a code as used; return False if it was used before."""
    used = db.execute(
        update(people)
        .where(people.c.id == person_id, people.c.totp_step < step)
        .values(totp_step=step)
    )
    return used.rowcount == 1


def _change(db: Connection, person_id: int, **values: Any) -> None:
    db.execute(update(people).where(people.c.id == person_id).values(**values))


def lock_admins(db: Connection) -> frozenset[int]:
    """Return the ids of all admins; they stay admins until the transaction ends."""
    locked = (
        select(people.c.id)
        .where(people.c.realm == Realm.OPERATOR, people.c.role == Role.ADMIN)
        # Always in the same order: two transactions that change each other must not deadlock.
        .order_by(people.c.id)
        .with_for_update()
    )
    return frozenset(db.execute(locked).scalars())


def lock_owners(db: Connection, merchant_id: int) -> frozenset[int]:
    """Return the ids of a merchant's owners; they stay owners until the transaction ends."""
    locked = (
        select(people.c.id)
        .where(people.c.merchant_id == merchant_id, people.c.role == Role.OWNER)
        # Always in the same order: two transactions that change each other must not deadlock.
        .order_by(people.c.id)
        .with_for_update()
    )
    return frozenset(db.execute(locked).scalars())


def has_operators(db: Connection) -> bool:
    operators = select(people.c.id).where(people.c.realm == Realm.OPERATOR).limit(1)
    return db.execute(operators).first() is not None


def delete_person(db: Connection, person_id: int) -> None:
    """Delete a person, with all sessions, forms, invitations, passkeys, recovery codes and choices."""
    db.execute(delete(sent_forms).where(sent_forms.c.person_id == person_id))
    db.execute(delete(kept_forms).where(kept_forms.c.person_id == person_id))
    db.execute(delete(passkeys).where(passkeys.c.person_id == person_id))
    db.execute(delete(mail_choices).where(mail_choices.c.person_id == person_id))
    db.execute(delete(recovery_codes).where(recovery_codes.c.person_id == person_id))
    db.execute(delete(sessions).where(sessions.c.person_id == person_id))
    db.execute(delete(invitations).where(invitations.c.person_id == person_id))
    db.execute(delete(people).where(people.c.id == person_id))


def find_last_visits(
    db: Connection, realm: Realm, *, merchant_id: int | None = None
) -> Mapping[int, datetime]:
    """Return when each person of a merchant, or operator, who is signed in was last seen, by id."""
    seen = (
        select(sessions.c.person_id, func.max(sessions.c.seen_at))
        .join_from(sessions, people)
        .where(people.c.realm == realm, people.c.merchant_id.is_not_distinct_from(merchant_id))
        .group_by(sessions.c.person_id)
    )
    return {row.person_id: row[1] for row in db.execute(seen)}
