"""Lists of issues: those of a merchant, and those of all merchants for operators."""

from typing import Final

import msgspec
from sqlalchemy import Connection, func, select, text

from printworks.rules.images import ImageStatus
from printworks.rules.issues import UNSETTLED
from printworks.store.engine.rows import newest_first
from printworks.store.issues.issues import COLUMNS, Issue
from printworks.store.tables import images, issue_photos, issues, merchants, orders


class IssueLine(msgspec.Struct, frozen=True):
    """What a list shows of an issue."""

    issue: Issue
    # The merchant's reference of the order, and its recipient.
    merchant_order_id: str | None
    recipient_name: str | None
    photo_count: int
    # The first image of the order that has a proof.
    first_image: int | None


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
    """Return a merchant's issues that are settled, or those that are not; newest first.

    `before` is the last issue of the previous page.
    """
    is_wanted = issues.c.state.not_in(UNSETTLED) if is_settled else issues.c.state.in_(UNSETTLED)
    query = (
        select(*_BESIDE, *COLUMNS)
        .join_from(issues, orders, issues.c.order_id == orders.c.id)
        .where(issues.c.merchant_id == merchant_id, is_wanted)
    )
    rows = db.execute(newest_first(query, issues.c.id, before=before, limit=limit))
    return [IssueLine(Issue(*row[len(_BESIDE) :]), *row[: len(_BESIDE)]) for row in rows]


# Spelled as in the index of unsettled issues.
IS_UNSETTLED: Final = text("issues.state IN ('Open', 'InProgress')")
_IS_SETTLED: Final = text("issues.state NOT IN ('Open', 'InProgress')")


class QueuedIssue(msgspec.Struct, frozen=True):
    issue: Issue
    merchant: str
    merchant_code: str


def list_issue_queue(
    db: Connection, *, is_settled: bool, after: int | None, limit: int
) -> list[QueuedIssue]:
    """Return unsettled issues, oldest first; or settled ones, newest first.

    `after` is the last id of the previous page.
    """
    query = select(merchants.c.name, merchants.c.code, *COLUMNS)
    query = query.join_from(issues, merchants, issues.c.merchant_id == merchants.c.id)
    if is_settled:
        query = newest_first(query.where(_IS_SETTLED), issues.c.id, before=after, limit=limit)
    else:
        query = query.where(IS_UNSETTLED, issues.c.id > (after or 0))
        query = query.order_by(issues.c.id).limit(limit)
    return [QueuedIssue(Issue(*issue), name, code) for name, code, *issue in db.execute(query)]
