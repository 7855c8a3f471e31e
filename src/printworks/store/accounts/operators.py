"""The operator's own people, and links that nobody has used yet."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, func, select

from printworks.rules.people import Realm, Role
from printworks.store.accounts.invitations import Invitation
from printworks.store.tables import invitations, people, sessions

_COLUMNS: Final = [invitations.c[name] for name in Invitation.__struct_fields__]
# More than anybody reads.
MOST_SHOWN: Final = 50


def lock_admins(db: Connection) -> frozenset[int]:
    """Return the numbers of those who may do everything; they stay so until the transaction ends."""
    locked = (
        select(people.c.id)
        .where(people.c.realm == Realm.OPERATOR, people.c.role == Role.ADMIN)
        # In one order everywhere: two who change each other must not wait for each other.
        .order_by(people.c.id)
        .with_for_update()
    )
    return frozenset(db.execute(locked).scalars())


def has_operators(db: Connection) -> bool:
    """Say whether anybody can sign in to the console."""
    anybody = select(people.c.id).where(people.c.realm == Realm.OPERATOR).limit(1)
    return db.execute(anybody).first() is not None


def delete_person(db: Connection, person_id: int) -> None:
    """Forget somebody: who they are, where they are signed in, and links that they were sent."""
    db.execute(delete(sessions).where(sessions.c.person_id == person_id))
    db.execute(delete(invitations).where(invitations.c.person_id == person_id))
    db.execute(delete(people).where(people.c.id == person_id))


def list_open_invitations(
    db: Connection, realm: Realm, *, merchant_id: int | None = None, now: datetime
) -> list[Invitation]:
    """Return the links of a door that still let somebody in, the newest first."""
    wanted = (
        select(*_COLUMNS)
        .where(*_are_open(realm, now), invitations.c.merchant_id.is_not_distinct_from(merchant_id))
        .order_by(invitations.c.created_at.desc())
        .limit(MOST_SHOWN)
    )
    return [Invitation(*row) for row in db.execute(wanted)]


def withdraw_invitation(
    db: Connection, realm: Realm, invitation_hash: str, *, merchant_id: int | None = None
) -> Invitation | None:
    """Let a link work no more; return whose it was, or None if it worked no more before."""
    gone = db.execute(
        delete(invitations)
        .where(
            invitations.c.hash == invitation_hash,
            invitations.c.realm == realm,
            invitations.c.merchant_id.is_not_distinct_from(merchant_id),
            invitations.c.used_at.is_(None),
        )
        .returning(*_COLUMNS)
    ).one_or_none()
    return None if gone is None else Invitation(*gone)


def withdraw_all(db: Connection, realm: Realm, email: str) -> None:
    """Let no link work any more that was sent to an address."""
    db.execute(
        delete(invitations).where(
            invitations.c.realm == realm,
            invitations.c.email == email,
            invitations.c.used_at.is_(None),
        )
    )


def _are_open(realm: Realm, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        invitations.c.realm == realm,
        invitations.c.used_at.is_(None),
        invitations.c.expires_at > now,
    )


def find_last_visits(db: Connection, realm: Realm) -> Mapping[int, datetime]:
    """Return when each of the people of a door who are signed in was last there, by number."""
    seen = (
        select(sessions.c.person_id, func.max(sessions.c.seen_at))
        .join_from(sessions, people)
        .where(people.c.realm == realm)
        .group_by(sessions.c.person_id)
    )
    return {row.person_id: row[1] for row in db.execute(seen)}
