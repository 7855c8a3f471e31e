"""Events and the answers to callbacks, in words."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from printworks.rules.callbacks import CallbackEvent
from printworks.rules.events import OrderCreated, ShipmentsChanged
from printworks.rules.orders import OrderStatus

_MOVED: Final[Mapping[OrderStatus, str]] = {
    OrderStatus.NOT_YET_SUBMITTED: "Order reopened",
    OrderStatus.AWAITING_PAYMENT: "Order awaits payment",
    OrderStatus.SUBMITTED: "Order submitted",
    OrderStatus.COMPLETE: "Order complete",
    OrderStatus.CANCELLED: "Order cancelled",
}


def describe_event(event: CallbackEvent | None) -> str:
    """Return the label of an event; None is a test."""
    if event is None:
        return "Test callback"
    if isinstance(event, OrderCreated):
        return "Order created"
    if isinstance(event, ShipmentsChanged):
        return "Shipments changed"
    return _MOVED[event.status]


def describe_result(status: int | None) -> str:
    """Return the label of a receiver's answer."""
    if status is None:
        return "No answer"
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def excerpt(answer: str, longest: int = 160) -> str:
    """Return the beginning of a receiver's answer in one line."""
    begun = " ".join(answer[: longest + 1].split())
    return f"{begun[:longest]}…" if len(answer) > longest else begun
