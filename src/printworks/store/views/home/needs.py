"""What waits for a merchant: found by indexes, and a limited number of each kind.

Whatever the number of a merchant's orders, each of these reads a few rows: indexes have only the
orders in whose way something stands, the images that failed, and the issues that are open.
"""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Text, and_, bindparam, cast, func, literal_column, select, text

from printworks.rules.events import CallbackState
from printworks.rules.issues import Author
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import StoredReasons
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of
from printworks.store.tables import callbacks, images, issue_remarks, issues, orders

# Of the orders that were not submitted, the newest that are searched for failed images.
DRAFTS: Final = 200
# Callbacks that failed for good are counted up to this many.
MOST_CALLBACKS: Final = 1000


class OrderInTrouble(msgspec.Struct, frozen=True):
    """An open order that is held, or in whose way something stands."""

    id: int
    status: OrderStatus
    merchant_order_id: str | None
    held_at: datetime | None
    reasons: StoredReasons


class FailedDraft(msgspec.Struct, frozen=True):
    """An order that is not submitted, with images that cannot be printed."""

    id: int
    merchant_order_id: str | None
    # How many, and the first of them.
    failed: int
    image_id: int


class OldDraft(msgspec.Struct, frozen=True):
    """An order that is cancelled soon unless somebody submits or changes it."""

    id: int
    merchant_order_id: str | None
    updated_at: datetime


class AnsweredIssue(msgspec.Struct, frozen=True):
    """An open issue about which we have spoken last."""

    id: int
    order_id: int
    at: datetime


_IS_MERCHANTS: Final = orders.c.merchant_id == bindparam("merchant_id")
# Spelled as in the index.
_IS_IN_TROUBLE: Final = text(
    "status IN ('NotYetSubmitted', 'AwaitingPayment', 'Submitted') "
    "AND (held_at IS NOT NULL OR reasons IS NOT NULL)"
)
_TROUBLED: Final = PreparedStatement(
    select(*columns_of(orders, OrderInTrouble))
    .where(_IS_MERCHANTS, _IS_IN_TROUBLE)
    .order_by(orders.c.ordinal.desc())
    .limit(bindparam("limit"))
)

_newest = (
    select(orders.c.id, orders.c.merchant_order_id, orders.c.ordinal)
    .where(_IS_MERCHANTS, orders.c.status == spelled_out(OrderStatus.NOT_YET_SUBMITTED))
    .order_by(orders.c.ordinal.desc())
    .limit(literal_column(str(DRAFTS)))
    .subquery("newest")
)
_has_failed = and_(
    images.c.order_id == _newest.c.id,
    text("images.status IN ('FileNotFoundAtUrl', 'Invalid')"),
)
_FAILED_DRAFTS: Final = PreparedStatement(
    select(
        _newest.c.id,
        _newest.c.merchant_order_id,
        func.count(images.c.id).label("failed"),
        func.min(images.c.id).label("image_id"),
    )
    # An outer join is read from its left side, and not from the failed images of all merchants.
    .join_from(_newest, images, _has_failed, isouter=True)
    .group_by(_newest.c.id, _newest.c.merchant_order_id, _newest.c.ordinal)
    .having(func.count(images.c.id) > literal_column("0"))
    .order_by(_newest.c.ordinal.desc())
    .limit(bindparam("limit"))
)

# The first ones of a merchant, which are the oldest.
_OLD_DRAFTS: Final = PreparedStatement(
    select(*columns_of(orders, OldDraft), orders.c.created_at)
    .where(_IS_MERCHANTS, orders.c.status == spelled_out(OrderStatus.NOT_YET_SUBMITTED))
    .order_by(orders.c.ordinal)
    .limit(bindparam("limit"))
)

_last = issue_remarks.alias("last")
_last_number = (
    select(func.max(issue_remarks.c.number))
    .where(issue_remarks.c.issue_id == issues.c.id)
    .scalar_subquery()
)
_ANSWERED: Final = PreparedStatement(
    select(issues.c.id, issues.c.order_id, _last.c.at)
    .join_from(issues, _last, _last.c.issue_id == issues.c.id)
    .where(
        issues.c.merchant_id == bindparam("merchant_id"),
        text("issues.state IN ('Open', 'InProgress')"),
        _last.c.number == _last_number,
        cast(_last.c.author, Text) == literal_column(f"'{Author.SERVICE}'"),
        # A change of state alone says nothing.
        _last.c.comment.is_not(None),
    )
    .order_by(issues.c.id.desc())
    .limit(bindparam("limit"))
)

_failed_callbacks = (
    select(callbacks.c.number)
    .where(
        callbacks.c.merchant_id == bindparam("merchant_id"),
        callbacks.c.state == spelled_out(CallbackState.FAILED),
        callbacks.c.number.is_not(None),
    )
    .limit(literal_column(str(MOST_CALLBACKS)))
    .subquery("failed")
)
_COUNT_CALLBACKS: Final = PreparedStatement(select(func.count()).select_from(_failed_callbacks))


def list_troubled(db: Connection, merchant_id: int, *, limit: int) -> list[OrderInTrouble]:
    """Return the open orders that are held or in whose way something stands, newest first."""
    return [OrderInTrouble(*row) for row in _ask(db, _TROUBLED, merchant_id, limit)]


def list_failed_drafts(db: Connection, merchant_id: int, *, limit: int) -> list[FailedDraft]:
    """Return orders that are not submitted and have images that failed, newest first."""
    return [FailedDraft(*row) for row in _ask(db, _FAILED_DRAFTS, merchant_id, limit)]


def list_old_drafts_of(
    db: Connection, merchant_id: int, *, before: datetime, limit: int
) -> list[OldDraft]:
    """Return orders that nobody has submitted or changed since then, oldest first.

    Only the merchant's oldest ones are looked at: the others come when their time has come.
    """
    rows = _ask(db, _OLD_DRAFTS, merchant_id, limit)
    drafts = [(OldDraft(*row), created_at) for *row, created_at in rows]
    return [
        draft for draft, created_at in drafts if created_at < before and draft.updated_at < before
    ]


def list_answered(db: Connection, merchant_id: int, *, limit: int) -> list[AnsweredIssue]:
    """Return the open issues about which we have spoken last, newest first."""
    return [AnsweredIssue(*row) for row in _ask(db, _ANSWERED, merchant_id, limit)]


def count_failed_callbacks(db: Connection, merchant_id: int) -> int:
    """Return how many callbacks failed for good, counted up to `MOST_CALLBACKS`."""
    return int(_COUNT_CALLBACKS.one(db, {"merchant_id": merchant_id})[0])


def _ask(
    db: Connection, statement: PreparedStatement, merchant_id: int, limit: int
) -> list[tuple[Any, ...]]:
    return statement.all(db, {"merchant_id": merchant_id, "limit": limit})
