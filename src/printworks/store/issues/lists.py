"""A merchant's issues as a list shows them."""

from typing import Final

import msgspec
from sqlalchemy import Connection, func, select

from printworks.rules.images import ImageStatus
from printworks.rules.issues import UNSETTLED
from printworks.store.issues.issues import Issue
from printworks.store.tables import images, issue_photos, issues, orders


class IssueLine(msgspec.Struct, frozen=True):
    """What a list shows of an issue."""

    issue: Issue
    # What the merchant calls its order, and who gets it.
    merchant_order_id: str | None
    recipient_name: str | None
    photo_count: int
    # The first image of the order that can be seen.
    first_image: int | None


_COLUMNS: Final = [issues.c[name] for name in Issue.__struct_fields__]
_PHOTOS: Final = (
    select(func.count()).where(issue_photos.c.issue_id == issues.c.id).scalar_subquery()
)
_FIRST_IMAGE: Final = (
    select(func.min(images.c.id))
    .where(images.c.order_id == issues.c.order_id, images.c.status == ImageStatus.OK)
    .scalar_subquery()
)
_BESIDE: Final = (orders.c.merchant_order_id, orders.c.recipient_name, _PHOTOS, _FIRST_IMAGE)


def list_issue_lines(
    db: Connection, merchant_id: int, *, is_settled: bool, before: int | None, limit: int
) -> list[IssueLine]:
    """Return issues of a merchant that are settled, or those that are not; newest first.

    `before` is the last issue of the page before this one.
    """
    is_wanted = issues.c.state.not_in(UNSETTLED) if is_settled else issues.c.state.in_(UNSETTLED)
    query = (
        select(*_COLUMNS, *_BESIDE)
        .join_from(issues, orders, issues.c.order_id == orders.c.id)
        .where(issues.c.merchant_id == merchant_id, is_wanted)
        .order_by(issues.c.id.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(issues.c.id < before)
    return [
        IssueLine(Issue(*row[: len(_COLUMNS)]), *row[len(_COLUMNS) :]) for row in db.execute(query)
    ]
