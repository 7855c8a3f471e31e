"""The log of an order, for its merchant."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection

from printworks.rules.events import OrderMoved, PrintedElsewhere
from printworks.store.orders.events import LoggedEvent, list_logged


class LogLine(msgspec.Struct, frozen=True):
    title: str
    message: str
    created_at: datetime


def list_log(db: Connection, order_id: int) -> list[LogLine]:
    """Return the log of an order, oldest first; the caller has checked whose order it is."""
    return [_make_line(event, at) for at, event in list_logged(db, order_id)]


def _make_line(event: LoggedEvent, at: datetime) -> LogLine:
    match event:
        case OrderMoved():
            message = f"Order updated from {event.was} to {event.status}"
            return LogLine("Status update", message, at)
        case PrintedElsewhere():
            return LogLine("Print country", _describe_elsewhere(event), at)
        case _:
            return LogLine("Order created", "Order created", at)


def _describe_elsewhere(event: PrintedElsewhere) -> str:
    one = len(event.images) == 1
    items = f"{'item' if one else 'items'} {', '.join(map(str, event.images))}"
    return (
        f"No lab in {event.wanted} can make and send {items} in time, so "
        f"{'it is' if one else 'they are'} printed in {', '.join(event.countries)}"
    )
