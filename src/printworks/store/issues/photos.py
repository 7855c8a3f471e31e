"""Photos of issues. Merchants reach them through their issues only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from printworks.rules.issues import UNSETTLED
from printworks.store.engine.rows import columns_of, get_struct, list_structs, possible_id
from printworks.store.issues.issues import Issue
from printworks.store.tables import issue_photos, issues


class NewPhoto(msgspec.Struct, frozen=True):
    """A photo that was re-encoded and stored."""

    file: str
    # As received; what is stored is smaller, with the same aspect ratio.
    width: int
    height: int


class IssuePhoto(msgspec.Struct, frozen=True):
    id: int
    issue_id: int
    file: str
    width: int
    height: int
    created_at: datetime


_COLUMNS: Final = columns_of(issue_photos, IssuePhoto)


def insert_photos(
    db: Connection, issue: Issue, photos: Sequence[NewPhoto], *, now: datetime
) -> None:
    """Add photos to an issue; the caller has locked its order."""
    rows = [
        {**msgspec.structs.asdict(photo), "issue_id": issue.id, "created_at": now}
        for photo in photos
    ]
    if rows:
        db.execute(insert(issue_photos), rows)


def count_photos(db: Connection, issue: Issue) -> int:
    query = select(func.count()).where(issue_photos.c.issue_id == issue.id)
    return int(db.execute(query).scalar_one())


def list_photos(db: Connection, issue: Issue) -> list[IssuePhoto]:
    """Return the photos of an issue, in the order in which they came."""
    query = select(*_COLUMNS).where(issue_photos.c.issue_id == issue.id)
    return list_structs(db, IssuePhoto, query.order_by(issue_photos.c.id))


def get_photo(db: Connection, issue: Issue, photo_id: int) -> IssuePhoto:
    """Return a photo of this issue, which the caller knows to be the merchant's."""
    query = select(*_COLUMNS).where(
        issue_photos.c.id == possible_id(photo_id), issue_photos.c.issue_id == issue.id
    )
    missing = "The photo with the specified id was not found"
    return get_struct(db, IssuePhoto, query, missing=missing)


def purge_photos(db: Connection, *, before: datetime, limit: int) -> list[str]:
    """Delete the photos of issues that were settled before then; return their files."""
    old = (
        select(issue_photos.c.id)
        .join_from(issue_photos, issues)
        .where(issues.c.state.not_in(UNSETTLED), issues.c.updated_at < before)
        .order_by(issue_photos.c.id)
        .limit(limit)
    )
    deleted = delete(issue_photos).where(issue_photos.c.id.in_(old))
    return list(db.execute(deleted.returning(issue_photos.c.file)).scalars())
