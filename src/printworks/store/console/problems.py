"""What somebody has to look into, the most urgent first: for whoever runs the business.

Of each kind of trouble a bounded number is looked at. Where there is more, that is said.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, Generic, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Connection, func, or_, select, text

from printworks.catalogue.products import Currency
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobState
from printworks.rules.orders import ENDED, OrderStatus
from printworks.rules.payments import Payer, PaymentState
from printworks.rules.production import OPEN, LabState
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY
from printworks.store.console.labs import QueuedShipment, read_queued
from printworks.store.console.orders import IS_TROUBLED
from printworks.store.engine.columns import beside_index, spelled_out
from printworks.store.issues.issues import Issue
from printworks.store.labs.shipments import IS_OPEN
from printworks.store.queue.jobs import JobRow, list_jobs
from printworks.store.tables import (
    callbacks,
    issues,
    merchants,
    orders,
    payment_requests,
    shipments,
)

# So many of each kind are looked at and counted.
MOST: Final = 1000
# A payment without an end for so long needs somebody.
PENDING_FOR: Final = timedelta(hours=1)

T = TypeVar("T")


class Finds(msgspec.Struct, Generic[T], frozen=True):
    """One kind of trouble: how much there is of it, and the first of it."""

    count: int
    # Whether there may be more than was counted.
    is_more: bool
    rows: list[T]


class TroubledOrder(msgspec.Struct, frozen=True):
    """An order that is held, or cannot go on."""

    id: int
    merchant_id: int
    merchant: str
    status: OrderStatus
    merchant_order_id: str | None
    recipient_name: str | None
    held_at: datetime | None
    error_message: str | None
    updated_at: datetime


class DeafMerchant(msgspec.Struct, frozen=True):
    """A merchant that was not told of some events."""

    id: int
    code: str
    name: str
    # Callbacks that were given up, at most as many as are counted.
    count: int


class StuckPayment(msgspec.Struct, frozen=True):
    """A payment of which nobody knows the end."""

    id: int
    order_id: int
    merchant_id: int
    merchant: str
    payer: Payer
    provider: str
    state: PaymentState
    amount: int
    currency: Currency
    created_at: datetime


class OpenProblems(msgspec.Struct, frozen=True, kw_only=True):
    """All that somebody has to look into."""

    # Those that wait because somebody asked for it, newest first.
    held: Finds[TroubledOrder]
    # Those that are submitted and cannot go on, newest first.
    stuck: Finds[TroubledOrder]
    # Those that would arrive late if they left today, the latest first.
    late: Finds[QueuedShipment]
    # Those that a lab could not make or made wrongly, oldest first.
    failed: Finds[QueuedShipment]
    given_up: Finds[DeafMerchant]
    # Those without an end for more than an hour, oldest first.
    payments: Finds[StuckPayment]
    jobs: Finds[JobRow]
    # Those that are not settled, oldest first.
    issues: Finds[Issue]


def find_problems(
    db: Connection, *, transit_days: Mapping[str, int], now: datetime, limit: int
) -> OpenProblems:
    """Return what somebody has to look into, with the first rows of each kind.

    `transit_days` says of each shipping service how long it takes at most. `now` is the real
    time; a merchant whose clock is ahead is judged by that clock.
    """
    troubled = _list_troubled(db)
    held = [order for order in troubled if order.held_at and order.status not in ENDED]
    stuck = [
        order for order in troubled if order.error_message and order.status is OrderStatus.SUBMITTED
    ]
    is_more = len(troubled) > MOST
    return OpenProblems(
        held=Finds(len(held), is_more, held[:limit]),
        stuck=Finds(len(stuck), is_more, stuck[:limit]),
        late=find_late(db, transit_days=transit_days, now=now, limit=limit),
        failed=find_failed(db, limit=limit),
        given_up=_find_deaf(db, limit=limit),
        payments=_find_pending(db, now=now, limit=limit),
        jobs=_cut(list_jobs(db, state=JobState.FAILED, limit=MOST + 1), limit),
        issues=_find_unsettled(db, limit=limit),
    )


def _cut(found: Sequence[T], limit: int) -> Finds[T]:
    """Count what was found, of which there may be one more than is counted."""
    return Finds(min(len(found), MOST), len(found) > MOST, list(found[: min(limit, MOST)]))


def _list_troubled(db: Connection) -> list[TroubledOrder]:
    names = TroubledOrder.__struct_fields__
    newest = (
        select(orders.c.id)
        .where(IS_TROUBLED)
        .order_by(orders.c.id.desc())
        .limit(MOST + 1)
        .subquery("newest")
    )
    rows = db.execute(
        select(*(merchants.c.name if name == "merchant" else orders.c[name] for name in names))
        .join_from(newest, orders, newest.c.id == orders.c.id)
        .join(merchants, orders.c.merchant_id == merchants.c.id)
    )
    return sorted((TroubledOrder(*row) for row in rows), key=lambda order: -order.id)


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
    # Whatever arrives later than this is in time for everybody.
    furthest = _arrive(now + ahead, max(transit_days.values(), default=0))
    rows = db.execute(
        select(
            shipments.c.id,
            shipments.c.service,
            shipments.c.latest_arrival,
            merchants.c.clock_offset,
        )
        # Everything has a merchant; but an outer join is read from its left side, and not
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
    """Return when a parcel arrives at the latest that leaves on this day."""
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


# From each merchant to the next one that has any: its others are passed over, not read. Tests,
# which have no number, are the merchant's own affair.
_DEAF: Final = text("""
    WITH RECURSIVE deaf(id) AS (
        SELECT min(merchant_id) FROM callbacks
            WHERE state = 'given-up' AND number IS NOT NULL
        UNION ALL
        SELECT (SELECT min(merchant_id) FROM callbacks
            WHERE state = 'given-up' AND number IS NOT NULL AND merchant_id > deaf.id)
        FROM deaf WHERE deaf.id IS NOT NULL
    )
    SELECT id FROM deaf WHERE id IS NOT NULL LIMIT :most
""")


def _find_deaf(db: Connection, *, limit: int) -> Finds[DeafMerchant]:
    found = _cut(db.execute(_DEAF, {"most": MOST + 1}).scalars().all(), limit)
    counts = count_failed(db, found.rows)
    rows = db.execute(
        select(merchants.c.id, merchants.c.code, merchants.c.name)
        .where(merchants.c.id.in_(found.rows))
        .order_by(merchants.c.id)
    )
    deaf = [DeafMerchant(*row, count=counts[row.id]) for row in rows]
    return Finds(found.count, found.is_more, deaf)


def count_failed(db: Connection, merchant_ids: Iterable[int]) -> dict[int, int]:
    """Return how many callbacks of each merchant were given up, counting no further than `MOST`."""
    counts = {}
    for merchant_id in merchant_ids:
        given_up = (
            select(callbacks.c.number)
            .where(
                callbacks.c.merchant_id == merchant_id,
                callbacks.c.state == spelled_out(CallbackState.FAILED),
                callbacks.c.number.is_not(None),
            )
            .limit(MOST)
            .subquery()
        )
        counts[merchant_id] = db.execute(select(func.count()).select_from(given_up)).scalar_one()
    return counts


def _find_pending(db: Connection, *, now: datetime, limit: int) -> Finds[StuckPayment]:
    names = StuckPayment.__struct_fields__
    columns = [
        merchants.c.name if name == "merchant" else payment_requests.c[name] for name in names
    ]
    rows = db.execute(
        select(*columns, merchants.c.clock_offset)
        .join_from(payment_requests, merchants, isouter=True)
        .where(text("payment_requests.state IN ('asked', 'waiting')"))
        .order_by(payment_requests.c.id)
        .limit(MOST + 1)
    ).all()
    pending = [
        StuckPayment(*payment)
        for *payment, offset in rows
        if payment[-1] < now + offset - PENDING_FOR
    ]
    return Finds(len(pending), len(rows) > MOST, pending[:limit])


def _find_unsettled(db: Connection, *, limit: int) -> Finds[Issue]:
    columns: list[Any] = [issues.c[name] for name in Issue.__struct_fields__]
    rows = db.execute(
        select(*columns)
        .where(text("issues.state IN ('Open', 'InProgress')"))
        .order_by(issues.c.id)
        .limit(MOST + 1)
    )
    return _cut([Issue(*row) for row in rows], limit)
