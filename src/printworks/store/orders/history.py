"""The history of one order: events, attempts of callbacks, money, and an etag of all that."""

from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, func, select

from printworks.conversion import reader_of
from printworks.rules.events import OrderEvent
from printworks.rules.ledger import LedgerEntry
from printworks.store.callbacks.callbacks import Attempt
from printworks.store.engine.columns import beside_index
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of, group_by
from printworks.store.money.ledger import COLUMNS, read_entry
from printworks.store.orders.orders import read_of_order
from printworks.store.tables import (
    callback_attempts,
    callbacks,
    images,
    ledger_entries,
    order_events,
    orders,
    payment_requests,
    shipments,
)


class DatedEvent(msgspec.Struct, frozen=True):
    """An event of an order, and when it happened."""

    at: datetime
    event: OrderEvent


_read_events: Final = reader_of(list[OrderEvent])
_calls = callbacks.c.order_id == orders.c.id
# Each of these changes with something that a page shows of an order; together they cover all of it.
_STAMP: Final = PreparedStatement(
    select(
        orders.c.updated_at,
        select(func.max(order_events.c.id))
        .where(order_events.c.order_id == orders.c.id)
        .scalar_subquery(),
        # A plan follows from what has happened, and is made by whoever looks.
        select(func.max(shipments.c.updated_at))
        .where(shipments.c.order_id == orders.c.id, shipments.c.state.is_not(None))
        .scalar_subquery(),
        select(func.sum(callbacks.c.attempts + callbacks.c.round)).where(_calls).scalar_subquery(),
        select(func.count(ledger_entries.c.number))
        .where(ledger_entries.c.order_id == orders.c.id)
        .scalar_subquery(),
        select(func.max(payment_requests.c.updated_at))
        .where(payment_requests.c.order_id == orders.c.id)
        .scalar_subquery(),
        # They are drawn without an event.
        select(func.count(images.c.mockup))
        .where(images.c.order_id == orders.c.id)
        .scalar_subquery(),
    ).where(orders.c.id == bindparam("id"), orders.c.merchant_id == bindparam("merchant_id"))
)


def read_etag(db: Connection, merchant_id: int, order_id: int) -> str:
    """Return a text that changes whenever a merchant's order does."""
    row = read_of_order(_STAMP, db, merchant_id, order_id)
    return "-".join(_write(value) for value in row)


def _write(value: object) -> str:
    if isinstance(value, datetime):
        return str(int(value.timestamp() * 1000))
    return "0" if value is None else str(value)


def list_latest_events(
    db: Connection, merchant_id: int, order_id: int, *, limit: int
) -> list[DatedEvent]:
    """Return the latest events of a merchant's order, newest first."""
    wanted = (
        select(order_events.c.created_at, order_events.c.facts)
        .join_from(order_events, orders)
        .where(order_events.c.order_id == order_id, orders.c.merchant_id == merchant_id)
        .order_by(order_events.c.id.desc())
        .limit(limit)
    )
    rows = db.execute(wanted).all()
    # All at once: choosing the type of an event takes longer than reading it.
    events = _read_events([row.facts for row in rows])
    return [DatedEvent(row.created_at, event) for row, event in zip(rows, events, strict=True)]


def list_attempts_of_order(
    db: Connection, merchant_id: int, order_id: int, *, limit: int
) -> dict[int, list[Attempt]]:
    """Return the latest attempts of an order's callbacks, by callback, newest first."""
    wanted = (
        select(callback_attempts.c.callback_id, *columns_of(callback_attempts, Attempt))
        .join_from(callback_attempts, callbacks)
        .where(callbacks.c.order_id == order_id, callbacks.c.merchant_id == merchant_id)
        .order_by(callback_attempts.c.at.desc(), callback_attempts.c.number.desc())
        .limit(limit)
    )
    rows = group_by(db.execute(wanted), lambda row: int(row.callback_id))
    return {callback: [Attempt(*row[1:]) for row in found] for callback, found in rows.items()}


def list_entries_of_order(
    db: Connection, merchant_id: int, order_id: int, *, limit: int
) -> list[LedgerEntry]:
    """Return the ledger entries of a merchant's order, newest first."""
    wanted = (
        select(*COLUMNS)
        # SQLite would read the merchant's whole ledger.
        .where(
            ledger_entries.c.order_id == order_id,
            beside_index(ledger_entries.c.merchant_id) == merchant_id,
        )
        .order_by(beside_index(ledger_entries.c.number).desc())
        .limit(limit)
    )
    return [read_entry(row._mapping) for row in db.execute(wanted)]
