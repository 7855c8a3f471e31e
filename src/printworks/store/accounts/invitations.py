"""Links that let somebody in once."""

import secrets
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from printworks.rules.people import INVITATION_LASTS, Realm, Role
from printworks.store.accounts.sessions import forget_some, hash_token
from printworks.store.tables import invitations


class Invitation(msgspec.Struct, frozen=True):
    """Who may come in, and as what."""

    hash: str
    realm: Realm
    role: Role
    email: str
    # Whose dashboard it opens; null makes a new merchant, or is for an operator.
    merchant_id: int | None
    # Who chooses a new password with it.
    person_id: int | None
    created_at: datetime
    expires_at: datetime


_COLUMNS: Final = [invitations.c[name] for name in Invitation.__struct_fields__]


def add_invitation(
    db: Connection,
    *,
    realm: Realm,
    role: Role,
    email: str,
    now: datetime,
    merchant_id: int | None = None,
    person_id: int | None = None,
) -> str:
    """Invite somebody, and return what the link must hold."""
    token = secrets.token_hex(24)
    db.execute(
        insert(invitations).values(
            hash=hash_token(token),
            realm=realm,
            role=role,
            email=email,
            merchant_id=merchant_id,
            person_id=person_id,
            created_at=now,
            expires_at=now + INVITATION_LASTS,
        )
    )
    return token


def find_invitation(db: Connection, token: str, *, now: datetime) -> Invitation | None:
    """Return the invitation of a link, unless it was used or is too old."""
    row = db.execute(
        select(*_COLUMNS).where(
            invitations.c.hash == hash_token(token),
            invitations.c.used_at.is_(None),
            invitations.c.expires_at > now,
        )
    ).one_or_none()
    return None if row is None else Invitation(*row)


def use_invitation(db: Connection, invitation: Invitation, *, now: datetime) -> bool:
    """Use an invitation up; say whether nobody has before."""
    used = db.execute(
        update(invitations)
        .where(invitations.c.hash == invitation.hash, invitations.c.used_at.is_(None))
        .values(used_at=now)
    )
    return used.rowcount == 1


def withdraw_links_of(db: Connection, person_id: int) -> None:
    """Let no link work any more with which somebody could choose another password."""
    db.execute(
        delete(invitations).where(
            invitations.c.person_id == person_id, invitations.c.used_at.is_(None)
        )
    )


def forget_invitations(db: Connection, *, before: datetime, limit: int) -> int:
    """Forget invitations that expired before then, used or not; return how many those are."""
    return forget_some(db, invitations, invitations.c.expires_at < before, limit=limit)
