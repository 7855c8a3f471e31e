"""What happened to orders, in the order in which it happened."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection, bindparam, insert, select

from printworks.rules.events import OrderEvent
from printworks.store.tables import order_events

_INSERT = insert(order_events).inline()
_OF_ORDER = (
    select(order_events.c.facts)
    .where(order_events.c.order_id == bindparam("order_id"))
    .order_by(order_events.c.id)
)


def record_event(db: Connection, order_id: int, event: OrderEvent, *, now: datetime) -> None:
    """Remember that something happened to an order."""
    facts = msgspec.to_builtins(event)
    db.execute(
        _INSERT,
        {"order_id": order_id, "kind": facts["type"], "facts": facts, "created_at": now},
    )


def list_events(db: Connection, order_id: int) -> list[OrderEvent]:
    """Return all that happened to an order, oldest first."""
    rows = db.execute(_OF_ORDER, {"order_id": order_id}).scalars()
    return [msgspec.convert(facts, OrderEvent) for facts in rows]
