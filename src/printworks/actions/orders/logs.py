"""The log of an order, for its merchant."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection

from printworks.rules.events import OrderCreated
from printworks.store.orders.events import Move, list_moves


class LogLine(msgspec.Struct, frozen=True):
    title: str
    message: str
    created_at: datetime


def list_log(db: Connection, order_id: int) -> list[LogLine]:
    """Return the log of an order, oldest first; the caller has checked whose order it is."""
    return [_make_line(move, at) for at, move in list_moves(db, order_id)]


def _make_line(move: Move, at: datetime) -> LogLine:
    if isinstance(move, OrderCreated):
        return LogLine("Order created", "Order created", at)
    return LogLine("Status update", f"Order updated from {move.was} to {move.status}", at)
