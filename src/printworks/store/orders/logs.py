"""When an order came into being and moved, for whoever reads its log."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from printworks.conversion import reader_of
from printworks.rules.events import OrderCreated, OrderMoved
from printworks.store.tables import order_events

Move = OrderCreated | OrderMoved

_KINDS: Final = tuple(str(kind.__struct_config__.tag) for kind in (OrderCreated, OrderMoved))


_read_move: Final = reader_of(Move)


def list_moves(db: Connection, order_id: int) -> list[tuple[datetime, Move]]:
    """Return when the order was made and each time that it moved, oldest first."""
    rows = db.execute(
        select(order_events.c.created_at, order_events.c.facts)
        .where(order_events.c.order_id == order_id, order_events.c.kind.in_(_KINDS))
        .order_by(order_events.c.id)
    )
    return [(at, _read_move(facts)) for at, facts in rows]
