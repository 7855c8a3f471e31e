"""Invitations: links that can be used once, to sign up or to choose a new password."""

import secrets
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from printworks.rules.people import INVITATION_LASTS, Realm, Role
from printworks.store.accounts.sessions import hash_token
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import columns_of, find_struct, list_structs
from printworks.store.tables import invitations


class NewInvitation(msgspec.Struct, frozen=True):
    """Who may sign in, and as what."""

    realm: Realm
    role: Role
    email: str
    # Whose dashboard it opens; None makes a new merchant, or is for an operator.
    merchant_id: int | None = None
    # Who chooses a new password with it.
    person_id: int | None = None


class Invitation(msgspec.Struct, frozen=True):
    """An invitation that was sent."""

    hash: str
    realm: Realm
    role: Role
    email: str
    merchant_id: int | None
    person_id: int | None
    created_at: datetime
    expires_at: datetime


COLUMNS: Final = columns_of(invitations, Invitation)
_IS_UNUSED: Final = invitations.c.used_at.is_(None)


def add_invitation(
    db: Connection,
    new: NewInvitation,
    *,
    now: datetime,
    lasts: timedelta = INVITATION_LASTS,
) -> str:
    """Invite a person; return the token that the link must hold."""
    token = secrets.token_hex(24)
    values: dict[str, Any] = {"created_at": now, "expires_at": now + lasts}
    values |= msgspec.structs.asdict(new)
    db.execute(insert(invitations).values(hash=hash_token(token), **values))
    return token


def find_invitation(db: Connection, token: str, *, now: datetime) -> Invitation | None:
    """Return the invitation with this token, unless it was used or has expired."""
    query = select(*COLUMNS).where(
        invitations.c.hash == hash_token(token),
        _IS_UNUSED,
        invitations.c.expires_at > now,
    )
    return find_struct(db, Invitation, query)


def use_invitation(db: Connection, invitation: Invitation, *, now: datetime) -> bool:
    """Mark an invitation as used; return False if it was used before."""
    used = db.execute(
        update(invitations)
        .where(invitations.c.hash == invitation.hash, _IS_UNUSED)
        .values(used_at=now)
    )
    return used.rowcount == 1


def withdraw_links_of(db: Connection, person_id: int) -> None:
    """Withdraw the links with which a person could choose a new password."""
    db.execute(delete(invitations).where(invitations.c.person_id == person_id, _IS_UNUSED))


def purge_invitations(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete invitations that expired before then, used or not; return how many."""
    return delete_oldest(
        db, invitations.c.expires_at, invitations.c.expires_at < before, limit=limit
    )


# More than anyone reads.
MOST_SHOWN: Final = 50


def list_open_invitations(
    db: Connection, realm: Realm, *, merchant_id: int | None = None, now: datetime
) -> list[Invitation]:
    """Return the invitations of a realm that can still be used, newest first."""
    wanted = (
        select(*COLUMNS)
        .where(
            invitations.c.realm == realm,
            invitations.c.merchant_id.is_not_distinct_from(merchant_id),
            _IS_UNUSED,
            invitations.c.expires_at > now,
        )
        .order_by(invitations.c.created_at.desc())
        .limit(MOST_SHOWN)
    )
    return list_structs(db, Invitation, wanted)


def withdraw_invitation(
    db: Connection, realm: Realm, invitation_hash: str, *, merchant_id: int | None = None
) -> Invitation | None:
    """Withdraw an invitation and return it; None if it could not be used any more."""
    gone = db.execute(
        delete(invitations)
        .where(
            invitations.c.hash == invitation_hash,
            invitations.c.realm == realm,
            invitations.c.merchant_id.is_not_distinct_from(merchant_id),
            _IS_UNUSED,
        )
        .returning(*COLUMNS)
    ).one_or_none()
    return None if gone is None else Invitation(*gone)


def withdraw_all(
    db: Connection, realm: Realm, email: str, *, merchant_id: int | None = None
) -> None:
    """Withdraw all invitations that were sent to an address: by a merchant, or by operators."""
    theirs = (
        invitations.c.realm == realm,
        invitations.c.email == email,
        invitations.c.merchant_id.is_not_distinct_from(merchant_id),
    )
    db.execute(delete(invitations).where(*theirs, _IS_UNUSED))
