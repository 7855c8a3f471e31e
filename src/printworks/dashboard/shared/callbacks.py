"""Callbacks and their attempts, as pages show them."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Final

import msgspec

from printworks.dashboard.shared.labels import CALLBACK_LABELS
from printworks.dashboard.site.rendering import Tone
from printworks.rules.callbacks import CallbackEvent
from printworks.rules.events import CallbackState, OrderCreated, ShipmentsChanged
from printworks.rules.orders import OrderStatus
from printworks.store.callbacks.callbacks import Attempt, Callback
from printworks.store.callbacks.log import LoggedCallback

# The only answer that acknowledges.
_HEARD: Final = 200
# Of an answer in a list; the last one is shown in full.
_LONGEST_ANSWER: Final = 160

_MOVED: Final[Mapping[OrderStatus, str]] = {
    OrderStatus.NOT_YET_SUBMITTED: "Order reopened",
    OrderStatus.AWAITING_PAYMENT: "Order awaits payment",
    OrderStatus.SUBMITTED: "Order submitted",
    OrderStatus.COMPLETE: "Order complete",
    OrderStatus.CANCELLED: "Order cancelled",
}


class CallbackView(msgspec.Struct, frozen=True, kw_only=True):
    """A callback as pages show it."""

    id: int
    # Null for a test.
    order_id: int | None
    reference: str
    what: str
    state: str
    tone: Tone
    attempts: int
    # The result of the last attempt, and its error if no answer came; empty without an attempt.
    last: str
    error: str
    at: datetime
    next_at: datetime | None
    delivered_at: datetime | None
    is_waiting: bool


class AttemptView(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt as pages show it."""

    number: int
    at: datetime
    url: str
    result: str
    tone: Tone
    error: str
    milliseconds: int
    answer: str


def view_callback(callback: Callback) -> CallbackView:
    """Return what pages show of a callback; with its last attempt if that is known."""
    state, tone = CALLBACK_LABELS[callback.state]
    last = error = ""
    if isinstance(callback, LoggedCallback):
        error = callback.last_error or ""
        last = describe_result(callback.last_status) if callback.last_status or error else ""
    return CallbackView(
        id=callback.id,
        order_id=callback.order_id,
        reference=(callback.event and callback.event.merchant_order_id) or "",
        what=describe_event(callback.event),
        state=state,
        tone=tone,
        attempts=callback.attempts,
        last=last,
        error=error,
        at=callback.created_at,
        next_at=callback.next_at,
        delivered_at=callback.delivered_at,
        is_waiting=callback.state is CallbackState.PENDING,
    )


def view_attempt(attempt: Attempt) -> AttemptView:
    """Return what pages show of an attempt."""
    answer = " ".join(attempt.answer[: _LONGEST_ANSWER + 1].split())
    return AttemptView(
        number=attempt.number,
        at=attempt.at,
        url=attempt.url,
        result=describe_result(attempt.status),
        tone="ok" if attempt.status == _HEARD else "error",
        error=attempt.error or "",
        milliseconds=attempt.milliseconds,
        answer=f"{answer[:_LONGEST_ANSWER]}…" if len(attempt.answer) > _LONGEST_ANSWER else answer,
    )


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
