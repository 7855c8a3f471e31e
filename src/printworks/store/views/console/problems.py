"""Open problems for operators, the most urgent first.

At most a fixed number of each kind is counted; `is_more` says that there are more.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, Generic, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Connection, case, func, or_, select, text

from printworks.catalogue.products import Currency
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobState
from printworks.rules.orders import ENDED, OrderStatus
from printworks.rules.payments import Payer, PaymentState
from printworks.rules.production import OPEN, LabState
from printworks.rules.reasons import StoredReasons
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY
from printworks.store.engine.columns import beside_index, spelled_out
from printworks.store.engine.rows import columns_of, list_structs
from printworks.store.issues.issues import COLUMNS, Issue
from printworks.store.issues.lists import IS_UNSETTLED
from printworks.store.orders.shipments import IS_OPEN
from printworks.store.tables import (
    callbacks,
    issues,
    merchants,
    orders,
    payment_requests,
    shipments,
)
from printworks.store.views.console.jobs import JobFilter, JobRow, list_jobs
from printworks.store.views.console.labs import QueuedShipment, read_queued
from printworks.store.views.console.orders import HAS_PROBLEM

# At most this many of each kind are counted.
MOST: Final = 1000
# A payment that is pending for longer is a problem.
PENDING_FOR: Final = timedelta(hours=1)

T = TypeVar("T")


class Finds(msgspec.Struct, Generic[T], frozen=True):
    """One kind of problem: how many there are, and the first of them."""

    count: int
    # Whether there may be more than were counted.
    is_more: bool
    rows: list[T]


class ProblemOrder(msgspec.Struct, frozen=True):
    """An order that is held or stuck."""

    id: int
    merchant_id: int
    merchant: str
    status: OrderStatus
    merchant_order_id: str | None
    recipient_name: str | None
    held_at: datetime | None
    reasons: StoredReasons
    updated_at: datetime


class UnnotifiedMerchant(msgspec.Struct, frozen=True):
    """A merchant with callbacks that failed for good."""

    id: int
    code: str
    name: str
    # Callbacks that failed for good, counted up to `MOST`.
    count: int


class StuckPayment(msgspec.Struct, frozen=True):
    """A payment or a refund whose outcome is unknown, or a refund that was rejected."""

    id: int
    order_id: int
    merchant_id: int
    merchant: str
    payer: Payer
    provider: str
    state: PaymentState
    amount: int
    currency: Currency
    # Why the refund was rejected.
    reason: str | None
    # When the payment was asked for, or its refund.
    since: datetime


class OpenProblems(msgspec.Struct, frozen=True, kw_only=True):
    # Orders held on request, newest first.
    held: Finds[ProblemOrder]
    # Orders that are submitted and stuck, newest first.
    stuck: Finds[ProblemOrder]
    # Shipments that would arrive late if they left today, the latest first.
    late: Finds[QueuedShipment]
    # Shipments that a lab could not make or made wrongly, oldest first.
    failed: Finds[QueuedShipment]
    unnotified: Finds[UnnotifiedMerchant]
    # Payments and refunds pending for more than an hour, oldest first.
    payments: Finds[StuckPayment]
    # Payments whose refund a bank has rejected, oldest first.
    refunds: Finds[StuckPayment]
    jobs: Finds[JobRow]
    # Issues that are not settled, oldest first.
    issues: Finds[Issue]


def find_problems(
    db: Connection, *, transit_days: Mapping[str, int], now: datetime, limit: int
) -> OpenProblems:
    """Return the open problems, with the first rows of each kind.

    `transit_days` has the longest transit time of each shipping service. `now` is the real time;
    for a merchant whose clock is ahead, that clock counts.
    """
    with_problems = _list_problem_orders(db)
    held = [order for order in with_problems if order.held_at and order.status not in ENDED]
    stuck = [
        order for order in with_problems if order.reasons and order.status is OrderStatus.SUBMITTED
    ]
    is_more = len(with_problems) > MOST
    return OpenProblems(
        held=Finds(len(held), is_more, held[:limit]),
        stuck=Finds(len(stuck), is_more, stuck[:limit]),
        late=find_late(db, transit_days=transit_days, now=now, limit=limit),
        failed=find_failed(db, limit=limit),
        unnotified=_find_unnotified(db, limit=limit),
        payments=find_pending(db, now=now, limit=limit),
        refunds=find_rejected(db, limit=limit),
        jobs=_cut(list_jobs(db, JobFilter(state=JobState.FAILED), limit=MOST + 1), limit),
        issues=_find_unsettled(db, limit=limit),
    )


def _cut(found: Sequence[T], limit: int) -> Finds[T]:
    """Count what was found, of which one more than `MOST` was read."""
    return Finds(min(len(found), MOST), len(found) > MOST, list(found[: min(limit, MOST)]))


def _list_problem_orders(db: Connection) -> list[ProblemOrder]:
    newest = (
        select(orders.c.id)
        .where(HAS_PROBLEM)
        .order_by(orders.c.id.desc())
        .limit(MOST + 1)
        .subquery("newest")
    )
    rows = db.execute(
        select(*columns_of(orders, ProblemOrder, merchant=merchants.c.name))
        .join_from(newest, orders, newest.c.id == orders.c.id)
        .join(merchants, orders.c.merchant_id == merchants.c.id)
    )
    return sorted((ProblemOrder(*row) for row in rows), key=lambda order: -order.id)


def find_late(
    db: Connection,
    *,
    transit_days: Mapping[str, int],
    now: datetime,
    limit: int,
    lab: str | None = None,
) -> Finds[QueuedShipment]:
    """Return what would arrive late if it left today, perhaps of one lab; the latest first."""
    ahead = db.execute(select(func.max(merchants.c.clock_offset))).scalar() or timedelta(0)
    # What may arrive later than this is in time for every merchant.
    furthest = _arrive(now + ahead, max(transit_days.values(), default=0))
    rows = db.execute(
        select(
            shipments.c.id,
            shipments.c.service,
            shipments.c.latest_arrival,
            merchants.c.clock_offset,
        )
        # Every shipment has a merchant, but an outer join is read from its left side, instead of
        # merchant by merchant.
        .join_from(shipments, orders, shipments.c.order_id == orders.c.id, isouter=True)
        .join(merchants, orders.c.merchant_id == merchants.c.id, isouter=True)
        .where(
            IS_OPEN,
            shipments.c.state.in_(OPEN),
            shipments.c.latest_arrival < furthest.isoformat(),
            *_at(lab),
        )
        .order_by(shipments.c.latest_arrival, shipments.c.id)
        .limit(MOST + 1)
    ).all()
    late = [
        row.id
        for row in rows
        if row.latest_arrival
        < _arrive(now + row.clock_offset, transit_days.get(row.service, 0)).isoformat()
    ]
    return Finds(len(late), len(rows) > MOST, read_queued(db, late[:limit]))


def _arrive(timestamp: datetime, transit_days: int) -> date:
    """Return the latest day on which a shipment arrives that leaves on this day."""
    return MONDAY_TO_FRIDAY.add(timestamp.date(), transit_days)


def find_failed(db: Connection, *, limit: int, lab: str | None = None) -> Finds[QueuedShipment]:
    """Return what could not be made or was made wrongly, perhaps by one lab; oldest first."""
    wanted = (
        select(shipments.c.id)
        .where(
            IS_OPEN,
            or_(shipments.c.state == LabState.FAILED, shipments.c.held_because.is_not(None)),
            *_at(lab),
        )
        .order_by(beside_index(shipments.c.id))
        .limit(MOST + 1)
    )
    found = _cut(db.execute(wanted).scalars().all(), limit)
    return Finds(found.count, found.is_more, read_queued(db, found.rows))


def _at(lab: str | None) -> list[ColumnElement[bool]]:
    return [] if lab is None else [shipments.c.lab == lab]


# From each merchant with failed callbacks to the next, without reading the others. Tests, which
# have no number, are left out.
_UNNOTIFIED: Final = text("""
    WITH RECURSIVE unnotified(id) AS (
        SELECT min(merchant_id) FROM callbacks
            WHERE state = 'given-up' AND number IS NOT NULL
        UNION ALL
        SELECT (SELECT min(merchant_id) FROM callbacks
            WHERE state = 'given-up' AND number IS NOT NULL AND merchant_id > unnotified.id)
        FROM unnotified WHERE unnotified.id IS NOT NULL
    )
    SELECT id FROM unnotified WHERE id IS NOT NULL LIMIT :most
""")


def _find_unnotified(db: Connection, *, limit: int) -> Finds[UnnotifiedMerchant]:
    found = _cut(db.execute(_UNNOTIFIED, {"most": MOST + 1}).scalars().all(), limit)
    counts = count_failed(db, found.rows)
    rows = db.execute(
        select(merchants.c.id, merchants.c.code, merchants.c.name)
        .where(merchants.c.id.in_(found.rows))
        .order_by(merchants.c.id)
    )
    unnotified = [UnnotifiedMerchant(*row, count=counts[row.id]) for row in rows]
    return Finds(found.count, found.is_more, unnotified)


def count_failed(db: Connection, merchant_ids: Iterable[int]) -> dict[int, int]:
    """Return how many callbacks of each merchant failed for good, counted up to `MOST`."""
    counts = {}
    for merchant_id in merchant_ids:
        failed = (
            select(callbacks.c.number)
            .where(
                callbacks.c.merchant_id == merchant_id,
                callbacks.c.state == spelled_out(CallbackState.FAILED),
                callbacks.c.number.is_not(None),
            )
            .limit(MOST)
            .subquery()
        )
        counts[merchant_id] = db.execute(select(func.count()).select_from(failed)).scalar_one()
    return counts


def _list_columns() -> list[ColumnElement[Any]]:
    """Return the columns of a stuck payment."""
    payment = payment_requests.c
    is_asked_for = payment.state.in_((PaymentState.ASKED, PaymentState.WAITING))
    since = case((is_asked_for, payment.created_at), else_=payment.updated_at)
    return columns_of(payment_requests, StuckPayment, merchant=merchants.c.name, since=since)


def find_pending(db: Connection, *, now: datetime, limit: int) -> Finds[StuckPayment]:
    """Return payments and refunds whose outcome has been unknown for long, oldest first."""
    rows = db.execute(
        select(*_list_columns(), merchants.c.clock_offset)
        .join_from(payment_requests, merchants, isouter=True)
        # Spelled as in the index.
        .where(text("payment_requests.state IN ('asked', 'waiting', 'refunding')"))
        .order_by(payment_requests.c.id)
        .limit(MOST + 1)
    ).all()
    pending = [
        StuckPayment(*payment)
        for *payment, offset in rows
        if payment[-1] < now + offset - PENDING_FOR
    ]
    return Finds(len(pending), len(rows) > MOST, pending[:limit])


def find_rejected(db: Connection, *, limit: int) -> Finds[StuckPayment]:
    """Return payments whose refund a bank has rejected and nobody has dealt with, oldest first."""
    rows = db.execute(
        select(*_list_columns())
        .join_from(payment_requests, merchants, isouter=True)
        # Spelled as in the index.
        .where(text("payment_requests.state = 'refund-rejected'"))
        .order_by(payment_requests.c.id)
        .limit(MOST + 1)
    )
    return _cut([StuckPayment(*row) for row in rows], limit)


def _find_unsettled(db: Connection, *, limit: int) -> Finds[Issue]:
    oldest = select(*COLUMNS).where(IS_UNSETTLED).order_by(issues.c.id).limit(MOST + 1)
    return _cut(list_structs(db, Issue, oldest), limit)
