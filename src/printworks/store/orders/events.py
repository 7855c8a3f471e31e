"""What happened to orders, in the order in which it happened."""

from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, insert, select

from printworks.conversion import reader_of
from printworks.rules.callbacks import is_told
from printworks.rules.events import OrderEvent
from printworks.store.callbacks.callbacks import FeedPosition, add_callback
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.tables import order_events

_ADD = insert(order_events).values(
    {name: bindparam(name) for name in ("order_id", "kind", "facts", "created_at")}
)
_INSERT: Final = PreparedStatement(_ADD.inline())
_INSERT_TOLD: Final = PreparedStatement(_ADD.returning(order_events.c.id))
_OF_ORDER = (
    select(order_events.c.facts)
    .where(order_events.c.order_id == bindparam("order_id"))
    .order_by(order_events.c.id)
)


_read_event: Final = reader_of(OrderEvent)


def record_event(
    db: Connection,
    order_id: int,
    event: OrderEvent,
    *,
    now: datetime,
    place: FeedPosition | None = None,
) -> None:
    """Remember that something happened to an order, and let its merchant be told if it wants to.

    The caller holds the order. Whoever has just made it gives the place that it took.
    """
    facts = msgspec.to_builtins(event)
    values = {"order_id": order_id, "kind": facts["type"], "facts": facts, "created_at": now}
    if is_told(event):
        (event_id,) = _INSERT_TOLD.one(db, values)
        add_callback(db, order_id, event_id, now=now, place=place)
    else:
        _INSERT.run(db, values)


def list_events(db: Connection, order_id: int) -> list[OrderEvent]:
    """Return all that happened to an order, oldest first."""
    rows = db.execute(_OF_ORDER, {"order_id": order_id}).scalars()
    return [_read_event(facts) for facts in rows]
