"""What became of one order: its events, tries of its callbacks, its money, and whether it is news."""

from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, func, select

from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.rules.events import OrderEvent
from printworks.rules.ledger import LedgerEntry
from printworks.store.callbacks.callbacks import Attempt
from printworks.store.engine.columns import beside_index
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.money.ledger import read_lines
from printworks.store.orders.orders import LARGEST_ID
from printworks.store.tables import (
    callback_attempts,
    callbacks,
    ledger_entries,
    order_events,
    orders,
    payment_requests,
    shipments,
)


class Happening(msgspec.Struct, frozen=True):
    """Something that happened to an order, and when."""

    at: datetime
    event: OrderEvent


_read_events: Final = reader_of(list[OrderEvent])
_ENTRY: Final = [ledger_entries.c[name] for name in LedgerEntry.__struct_fields__]
_ATTEMPT: Final = [callback_attempts.c[name] for name in Attempt.__struct_fields__]
_calls = callbacks.c.order_id == orders.c.id
# Each of these changes with something that is told of an order; together they never stay the same.
_STAMP: Final = PreparedStatement(
    select(
        orders.c.updated_at,
        select(func.max(order_events.c.id))
        .where(order_events.c.order_id == orders.c.id)
        .scalar_subquery(),
        select(func.max(shipments.c.updated_at))
        .where(shipments.c.order_id == orders.c.id)
        .scalar_subquery(),
        select(func.sum(callbacks.c.attempts + callbacks.c.round)).where(_calls).scalar_subquery(),
        select(func.count(ledger_entries.c.number))
        .where(ledger_entries.c.order_id == orders.c.id)
        .scalar_subquery(),
        select(func.max(payment_requests.c.updated_at))
        .where(payment_requests.c.order_id == orders.c.id)
        .scalar_subquery(),
    ).where(orders.c.id == bindparam("id"), orders.c.merchant_id == bindparam("merchant_id"))
)


def read_etag(db: Connection, merchant_id: int, order_id: int) -> str:
    """Return a text that is another one as soon as anything is new about a merchant's order."""
    row = None
    if 0 < order_id <= LARGEST_ID:
        row = _STAMP.first(db, {"id": order_id, "merchant_id": merchant_id})
    if row is None:
        raise NotFound("The order with the specified id was not found")
    return "-".join(_write(value) for value in row)


def _write(value: object) -> str:
    if isinstance(value, datetime):
        return str(int(value.timestamp() * 1000))
    return "0" if value is None else str(value)


def list_happenings(
    db: Connection, merchant_id: int, order_id: int, *, limit: int
) -> list[Happening]:
    """Return the latest that happened to a merchant's order, newest first."""
    wanted = (
        select(order_events.c.created_at, order_events.c.facts)
        .join_from(order_events, orders)
        .where(order_events.c.order_id == order_id, orders.c.merchant_id == merchant_id)
        .order_by(order_events.c.id.desc())
        .limit(limit)
    )
    rows = db.execute(wanted).all()
    # All at once: to find out what an event can be takes longer than to read one.
    events = _read_events([row.facts for row in rows])
    return [Happening(row.created_at, event) for row, event in zip(rows, events, strict=True)]


def list_attempts_of_order(
    db: Connection, merchant_id: int, order_id: int, *, limit: int
) -> dict[int, list[Attempt]]:
    """Return how the latest tries of an order's callbacks went, by callback, newest first."""
    wanted = (
        select(callback_attempts.c.callback_id, *_ATTEMPT)
        .join_from(callback_attempts, callbacks)
        .where(callbacks.c.order_id == order_id, callbacks.c.merchant_id == merchant_id)
        .order_by(callback_attempts.c.at.desc(), callback_attempts.c.number.desc())
        .limit(limit)
    )
    by_callback: dict[int, list[Attempt]] = {}
    for row in db.execute(wanted):
        values = dict(row._mapping)
        by_callback.setdefault(values.pop("callback_id"), []).append(Attempt(**values))
    return by_callback


def list_entries_of_order(
    db: Connection, merchant_id: int, order_id: int, *, limit: int
) -> list[LedgerEntry]:
    """Return the money that moved for a merchant's order, newest first."""
    wanted = (
        select(*_ENTRY)
        # SQLite would walk through the merchant's whole ledger.
        .where(
            ledger_entries.c.order_id == order_id,
            beside_index(ledger_entries.c.merchant_id) == merchant_id,
        )
        .order_by(beside_index(ledger_entries.c.number).desc())
        .limit(limit)
    )
    return [
        LedgerEntry(**{**row._mapping, "lines": read_lines(row.lines)})
        for row in db.execute(wanted)
    ]
