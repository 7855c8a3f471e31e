"""What happened to an order, as a merchant may read it."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection

from printworks.rules.events import OrderCreated
from printworks.store.orders.logs import Move, list_moves


class LogLine(msgspec.Struct, frozen=True):
    """One thing that happened."""

    title: str
    message: str
    created_at: datetime


def list_log(db: Connection, order_id: int) -> list[LogLine]:
    """Return what happened to an order, oldest first; the caller knows whose it is."""
    return [_tell(move, at) for at, move in list_moves(db, order_id)]


def _tell(move: Move, at: datetime) -> LogLine:
    if isinstance(move, OrderCreated):
        return LogLine("Order created", "Order created", at)
    return LogLine("Status update", f"Order updated from {move.was} to {move.status}", at)
