"""What happened to orders, in the order in which it happened."""

from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, insert, select

from printworks.rules.events import OrderEvent
from printworks.store.prepared import Prepared
from printworks.store.tables import order_events

_INSERT: Final = Prepared(
    insert(order_events)
    .inline()
    .values({name: bindparam(name) for name in ("order_id", "kind", "facts", "created_at")})
)
_OF_ORDER = (
    select(order_events.c.facts)
    .where(order_events.c.order_id == bindparam("order_id"))
    .order_by(order_events.c.id)
)


def record_event(db: Connection, order_id: int, event: OrderEvent, *, now: datetime) -> None:
    """Remember that something happened to an order."""
    facts = msgspec.to_builtins(event)
    _INSERT.run(
        db, {"order_id": order_id, "kind": facts["type"], "facts": facts, "created_at": now}
    )


def list_events(db: Connection, order_id: int) -> list[OrderEvent]:
    """Return all that happened to an order, oldest first."""
    rows = db.execute(_OF_ORDER, {"order_id": order_id}).scalars()
    return [msgspec.convert(facts, OrderEvent) for facts in rows]
