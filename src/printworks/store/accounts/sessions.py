"""Who is signed in: rows here, and a random text in a cookie there."""

import hashlib
import secrets
from datetime import datetime
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, insert, select, update

from printworks.rules.people import Realm, end_of_session
from printworks.store.accounts.people import COLUMNS as OF_PERSON
from printworks.store.accounts.people import Person
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.tables import people, sessions


class Session(msgspec.Struct, frozen=True):
    """One browser in which somebody is signed in."""

    hash: str
    person_id: int
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    # When the password was last given.
    proved_at: datetime
    address: str
    user_agent: str


class SignedIn(NamedTuple):
    """Who is at the door, and in which browser."""

    person: Person
    session: Session


_COLUMNS: Final = [sessions.c[name] for name in Session.__struct_fields__]
_FIND: Final = PreparedStatement(
    select(*OF_PERSON, *_COLUMNS)
    .join_from(sessions, people)
    .where(
        sessions.c.hash == bindparam("hash"),
        sessions.c.expires_at > bindparam("now"),
        people.c.realm == bindparam("realm"),
    )
)


def hash_token(token: str) -> str:
    """Return what is stored of a random text that only a browser or a link has."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def begin_session(
    db: Connection, person: Person, *, address: str, user_agent: str, now: datetime
) -> str:
    """Sign somebody in and return what their browser must show from now on."""
    token = secrets.token_hex(32)
    db.execute(
        insert(sessions).values(
            hash=hash_token(token),
            person_id=person.id,
            created_at=now,
            seen_at=now,
            expires_at=end_of_session(person.realm, now, now=now),
            proved_at=now,
            address=address,
            user_agent=user_agent,
        )
    )
    return token


def find_session(db: Connection, realm: Realm, token: str, *, now: datetime) -> SignedIn | None:
    """Return who shows this at this door, if it still counts."""
    row = _FIND.first(db, {"hash": hash_token(token), "now": now, "realm": realm})
    if row is None:
        return None
    return SignedIn(Person(*row[: len(OF_PERSON)]), Session(*row[len(OF_PERSON) :]))


def touch_session(db: Connection, signed_in: SignedIn, *, now: datetime) -> None:
    """Note that somebody was there, and let the session last longer."""
    person, session = signed_in
    until = end_of_session(person.realm, session.created_at, now=now)
    _change(db, session.hash, seen_at=now, expires_at=until)


def prove_session(db: Connection, session_hash: str, *, now: datetime) -> None:
    """Note that the password was given once more."""
    _change(db, session_hash, proved_at=now)


def end_session(db: Connection, person_id: int, session_hash: str) -> None:
    """Sign one browser of somebody out."""
    db.execute(
        delete(sessions).where(sessions.c.person_id == person_id, sessions.c.hash == session_hash)
    )


def end_session_of(db: Connection, token: str) -> None:
    """Sign out the browser that shows this, whoever it belongs to."""
    db.execute(delete(sessions).where(sessions.c.hash == hash_token(token)))


def end_sessions(db: Connection, person_id: int, *, but: str = "") -> int:
    """Sign somebody out everywhere, perhaps but for one browser; return how many those were."""
    gone = delete(sessions).where(sessions.c.person_id == person_id, sessions.c.hash != but)
    return db.execute(gone).rowcount


def list_sessions(db: Connection, person_id: int, *, now: datetime) -> list[Session]:
    """Return where somebody is signed in, the latest first."""
    wanted = (
        select(*_COLUMNS)
        .where(sessions.c.person_id == person_id, sessions.c.expires_at > now)
        .order_by(sessions.c.seen_at.desc())
        .limit(100)
    )
    return [Session(*row) for row in db.execute(wanted)]


def forget_sessions(db: Connection, *, now: datetime, limit: int) -> int:
    """Forget sessions that have expired, the oldest first; return how many those are."""
    return forget_some(db, sessions, sessions.c.expires_at <= now, limit=limit)


def forget_some(db: Connection, table: Table, is_old: ColumnElement[bool], *, limit: int) -> int:
    """Forget rows that are known by a hash, the oldest first; return how many those are."""
    oldest = select(table.c.hash).where(is_old).order_by(table.c.expires_at).limit(limit)
    return db.execute(delete(table).where(table.c.hash.in_(oldest))).rowcount


def _change(db: Connection, session_hash: str, **values: datetime) -> None:
    db.execute(update(sessions).where(sessions.c.hash == session_hash).values(**values))
