"""What may have happened since a backup, as far as the database can tell: what was under way."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Select, select, text

from printworks.rules.events import CallbackState
from printworks.rules.payments import PaymentState
from printworks.rules.production import LabState
from printworks.rules.quarantine import DoubtKind
from printworks.store.orders.shipments import IS_OPEN
from printworks.store.tables import callbacks, merchants, orders, payment_requests, shipments

# At most this many of each kind are counted.
MOST: Final = 1000


class Doubt(msgspec.Struct, frozen=True):
    """Something that was under way: which order, whose, and what of it."""

    order_id: int
    merchant: str
    subject: str
    detail: str


class DoubtGroup(msgspec.Struct, frozen=True):
    """All doubts of one kind: how many, up to `MOST`, and the first of them."""

    kind: DoubtKind
    count: int
    is_more: bool
    rows: list[Doubt]


def list_doubts(db: Connection, *, limit: int) -> list[DoubtGroup]:
    """Return what was under way, by kind; kinds without any are left out."""
    groups = []
    for kind, query in _QUERIES:
        rows = db.execute(query.limit(MOST + 1)).all()
        shown = [Doubt(row[0], row[1], *map(_write, row[2:])) for row in rows[:limit]]
        if rows:
            groups.append(DoubtGroup(kind, min(len(rows), MOST), len(rows) > MOST, shown))
    return groups


def _write(value: object) -> str:
    return "" if value is None else str(value)


def _with_merchant(table: Any, *columns: Any, through_order: bool = False) -> Select[Any]:
    owner = orders.c.merchant_id if through_order else table.c.merchant_id
    source = table.join(orders, table.c.order_id == orders.c.id) if through_order else table
    number = table.c.id if table is orders else table.c.order_id
    joined = source.join(merchants, owner == merchants.c.id)
    return select(number, merchants.c.name, *columns).select_from(joined).order_by(table.c.id)


_AT_LAB: Final = shipments.c.state != LabState.FAILED
_QUERIES: Final[Sequence[tuple[DoubtKind, Select[Any]]]] = (
    (
        DoubtKind.SENT,
        _with_merchant(shipments, shipments.c.id, shipments.c.lab, through_order=True).where(
            IS_OPEN, _AT_LAB, shipments.c.sent_at.is_(None)
        ),
    ),
    (
        DoubtKind.REPORTED,
        _with_merchant(shipments, shipments.c.id, shipments.c.lab, through_order=True).where(
            IS_OPEN, _AT_LAB, shipments.c.sent_at.is_not(None)
        ),
    ),
    (
        DoubtKind.PAID,
        _with_merchant(payment_requests, payment_requests.c.key, payment_requests.c.state).where(
            payment_requests.c.state.in_(
                (
                    PaymentState.ASKED,
                    PaymentState.WAITING,
                    PaymentState.REFUNDING,
                    PaymentState.REFUND_REJECTED,
                )
            )
        ),
    ),
    (
        DoubtKind.DELIVERED,
        _with_merchant(callbacks, callbacks.c.id, callbacks.c.state).where(
            callbacks.c.state == CallbackState.PENDING, callbacks.c.order_id.is_not(None)
        ),
    ),
    (
        DoubtKind.SUBMITTED,
        _with_merchant(orders, orders.c.merchant_order_id, orders.c.recipient_name).where(
            text("status = 'NotYetSubmitted'")
        ),
    ),
)
