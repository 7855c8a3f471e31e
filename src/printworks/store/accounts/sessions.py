"""Sessions: a row here, and a random token in a cookie."""

import hashlib
import secrets
from datetime import datetime
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from printworks.rules.merchants import MerchantState
from printworks.rules.people import Realm, end_of_session
from printworks.store.accounts.people import COLUMNS as OF_PERSON
from printworks.store.accounts.people import Person
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import columns_of, list_structs
from printworks.store.tables import merchants, people, sessions


class Session(msgspec.Struct, frozen=True):
    """A browser in which a person is signed in."""

    hash: str
    person_id: int
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    # When the password was last entered.
    proved_at: datetime
    address: str
    user_agent: str
    # Whether it began with a second factor.
    is_strong: bool


class SignedIn(NamedTuple):
    """A person, and the session in which the request was made."""

    person: Person
    session: Session


_COLUMNS: Final = columns_of(sessions, Session)
_FIND: Final = PreparedStatement(
    select(*OF_PERSON, *_COLUMNS)
    .join_from(sessions, people)
    .join(merchants, people.c.merchant_id == merchants.c.id, isouter=True)
    .where(
        # Whoever signed in while the account was being closed is not let in either.
        or_(
            people.c.merchant_id.is_(None),
            merchants.c.state != literal_column(f"'{MerchantState.CLOSED}'"),
        ),
        sessions.c.hash == bindparam("hash"),
        sessions.c.expires_at > bindparam("now"),
        people.c.realm == bindparam("realm"),
    )
)


def hash_token(token: str) -> str:
    """Return the hash under which a token of a cookie or a link is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


class NewSession(msgspec.Struct, frozen=True):
    """Where somebody signs in, and whether with a second factor."""

    address: str
    user_agent: str
    is_strong: bool = False


def begin_session(db: Connection, person: Person, new: NewSession, *, now: datetime) -> str:
    """Sign a person in; return the token for the cookie."""
    token = secrets.token_hex(32)
    db.execute(
        insert(sessions).values(
            hash=hash_token(token),
            person_id=person.id,
            created_at=now,
            seen_at=now,
            expires_at=end_of_session(person.realm, now, now=now),
            proved_at=now,
            **msgspec.structs.asdict(new),
        )
    )
    return token


def find_session(db: Connection, realm: Realm, token: str, *, now: datetime) -> SignedIn | None:
    """Return the person and session of a token, if the session is still valid."""
    row = _FIND.first(db, {"hash": hash_token(token), "now": now, "realm": realm})
    if row is None:
        return None
    return SignedIn(Person(*row[: len(OF_PERSON)]), Session(*row[len(OF_PERSON) :]))


def touch_session(db: Connection, signed_in: SignedIn, *, now: datetime) -> None:
    """Extend a session because it was used."""
    person, session = signed_in
    until = end_of_session(person.realm, session.created_at, now=now)
    _change(db, session.hash, seen_at=now, expires_at=until)


def mark_reauthenticated(db: Connection, session_hash: str, *, now: datetime) -> None:
    """Store that the password was entered again."""
    _change(db, session_hash, proved_at=now)


def mark_strong(db: Connection, session_hash: str) -> None:
    """Store that the person has shown a second factor."""
    _change(db, session_hash, is_strong=True)


def end_session(db: Connection, person_id: int, session_hash: str) -> None:
    """Sign a person out of one browser."""
    db.execute(
        delete(sessions).where(sessions.c.person_id == person_id, sessions.c.hash == session_hash)
    )


def end_session_of(db: Connection, token: str) -> None:
    """End the session with this token, if there is one."""
    db.execute(delete(sessions).where(sessions.c.hash == hash_token(token)))


def end_sessions(db: Connection, person_id: int, *, but: str = "") -> int:
    """Sign a person out everywhere, except perhaps in one browser; return how many."""
    gone = delete(sessions).where(sessions.c.person_id == person_id, sessions.c.hash != but)
    return db.execute(gone).rowcount


def list_sessions(db: Connection, person_id: int, *, now: datetime) -> list[Session]:
    """Return a person's sessions, the latest first."""
    wanted = (
        select(*_COLUMNS)
        .where(sessions.c.person_id == person_id, sessions.c.expires_at > now)
        .order_by(sessions.c.seen_at.desc())
        .limit(100)
    )
    return list_structs(db, Session, wanted)


def purge_sessions(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete sessions that expire then or earlier, the oldest first; return how many."""
    return delete_oldest(db, sessions.c.expires_at, sessions.c.expires_at <= before, limit=limit)


def _change(db: Connection, session_hash: str, **values: datetime | bool) -> None:
    db.execute(update(sessions).where(sessions.c.hash == session_hash).values(**values))
