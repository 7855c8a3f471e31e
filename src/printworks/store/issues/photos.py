"""Photographs that show what an issue is about. Merchants reach them through their issues only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from printworks.errors import NotFound
from printworks.rules.issues import UNSETTLED
from printworks.store.issues.issues import Issue
from printworks.store.orders.orders import LARGEST_ID
from printworks.store.tables import issue_photos, issues


class NewPhoto(msgspec.Struct, frozen=True):
    """A photograph that was drawn anew and is kept."""

    file: str
    # As it came; what is kept is smaller, and of the same shape.
    width: int
    height: int


class IssuePhoto(msgspec.Struct, frozen=True):
    """A photograph of an issue."""

    id: int
    issue_id: int
    file: str
    width: int
    height: int
    created_at: datetime


_COLUMNS: Final = [issue_photos.c[name] for name in IssuePhoto.__struct_fields__]


def insert_photos(
    db: Connection, issue: Issue, photos: Sequence[NewPhoto], *, now: datetime
) -> None:
    """Add photographs to an issue; the caller holds its order."""
    rows = [
        {**msgspec.structs.asdict(photo), "issue_id": issue.id, "created_at": now}
        for photo in photos
    ]
    if rows:
        db.execute(insert(issue_photos), rows)


def count_photos(db: Connection, issue: Issue) -> int:
    """Return how many photographs an issue has."""
    query = select(func.count()).where(issue_photos.c.issue_id == issue.id)
    return int(db.execute(query).scalar_one())


def list_photos(db: Connection, issue: Issue) -> list[IssuePhoto]:
    """Return the photographs of an issue, in the order in which they came."""
    query = select(*_COLUMNS).where(issue_photos.c.issue_id == issue.id)
    return [IssuePhoto(*row) for row in db.execute(query.order_by(issue_photos.c.id))]


def get_photo(db: Connection, issue: Issue, photo_id: int) -> IssuePhoto:
    """Return a photograph of this issue, which the caller knows to be the merchant's."""
    found = None
    if 0 < photo_id <= LARGEST_ID:
        query = select(*_COLUMNS).where(
            issue_photos.c.id == photo_id, issue_photos.c.issue_id == issue.id
        )
        found = db.execute(query).one_or_none()
    if found is None:
        raise NotFound("The photograph with the specified id was not found")
    return IssuePhoto(*found)


def forget_photos(db: Connection, *, before: datetime, limit: int) -> list[str]:
    """Forget photographs of issues that were settled before that; return their files."""
    old = (
        select(issue_photos.c.id)
        .join_from(issue_photos, issues)
        .where(issues.c.state.not_in(UNSETTLED), issues.c.updated_at < before)
        .order_by(issue_photos.c.id)
        .limit(limit)
    )
    forgotten = delete(issue_photos).where(issue_photos.c.id.in_(old))
    return list(db.execute(forgotten.returning(issue_photos.c.file)).scalars())
