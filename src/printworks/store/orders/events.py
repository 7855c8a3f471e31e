"""The events of orders."""

from datetime import datetime
from typing import Final, get_args

import msgspec
from sqlalchemy import Connection, bindparam, func, select

from printworks.conversion import reader_of
from printworks.rules.callbacks import is_told
from printworks.rules.events import (
    OrderCharged,
    OrderCreated,
    OrderEvent,
    OrderMoved,
    PrintedElsewhere,
)
from printworks.store.callbacks.callbacks import INSERT_EVENT, FeedPosition, add_callback
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.tables import order_events

_INSERT: Final = PreparedStatement(INSERT_EVENT.inline())
_OF_ORDER: Final = PreparedStatement(
    select(order_events.c.facts)
    .where(order_events.c.order_id == bindparam("order_id"))
    .order_by(order_events.c.id)
)
_COUNT_CHARGES: Final = PreparedStatement(
    select(func.count()).where(
        order_events.c.order_id == bindparam("order_id"), order_events.c.kind == bindparam("kind")
    )
)
_CHARGED: Final = str(OrderCharged.__struct_config__.tag)
_read_event: Final = reader_of(OrderEvent)


def record_event(
    db: Connection,
    order_id: int,
    event: OrderEvent,
    *,
    now: datetime,
    place: FeedPosition | None = None,
) -> None:
    """Record an event of an order, and add its callback if merchants are notified of such events.

    The caller has locked the order, or has just created it and passes its position in the feed.
    """
    facts = msgspec.to_builtins(event)
    values = {"order_id": order_id, "kind": facts["type"], "facts": facts, "created_at": now}
    if is_told(event):
        add_callback(db, values, place=place)
    else:
        _INSERT.run(db, values)


def count_charges(db: Connection, order_id: int) -> int:
    """Return how often an order has been charged."""
    return int(_COUNT_CHARGES.one(db, {"order_id": order_id, "kind": _CHARGED})[0])


def list_events(db: Connection, order_id: int) -> list[OrderEvent]:
    """Return all events of an order, oldest first."""
    return [_read_event(facts) for (facts,) in _OF_ORDER.all(db, {"order_id": order_id})]


LoggedEvent = OrderCreated | OrderMoved | PrintedElsewhere
_KINDS: Final = tuple(str(kind.__struct_config__.tag) for kind in get_args(LoggedEvent))
_read_logged: Final = reader_of(LoggedEvent)


def list_logged(db: Connection, order_id: int) -> list[tuple[datetime, LoggedEvent]]:
    """Return the events that the log of an order tells of, oldest first."""
    rows = db.execute(
        select(order_events.c.created_at, order_events.c.facts)
        .where(order_events.c.order_id == order_id, order_events.c.kind.in_(_KINDS))
        .order_by(order_events.c.id)
    )
    return [(at, _read_logged(facts)) for at, facts in rows]
