"""What people read about a callback: what it told, how far it has come, and how each try went."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Final

import msgspec

from printworks.dashboard.shared.words import CALLBACK_WORDS
from printworks.dashboard.site.rendering import Tone
from printworks.rules.callbacks import ToldEvent
from printworks.rules.events import CallbackState, OrderCreated, ShipmentsChanged
from printworks.rules.orders import OrderStatus
from printworks.store.callbacks.callbacks import Attempt, Callback
from printworks.store.callbacks.log import LoggedCallback

# The only answer that acknowledges.
_HEARD: Final = 200
# Of an answer in a list; the last one is shown as it was kept.
_LONGEST_ANSWER: Final = 160

_MOVED: Final[Mapping[OrderStatus, str]] = {
    OrderStatus.NOT_YET_SUBMITTED: "Order opened again",
    OrderStatus.AWAITING_PAYMENT: "Order awaits payment",
    OrderStatus.SUBMITTED: "Order submitted",
    OrderStatus.COMPLETE: "Order complete",
    OrderStatus.CANCELLED: "Order cancelled",
}


class CallbackView(msgspec.Struct, frozen=True, kw_only=True):
    """A callback as people read it."""

    id: int
    # Null for a test.
    order_id: int | None
    reference: str
    what: str
    state: str
    tone: Tone
    attempts: int
    # How the last try went, in a few words, and why if no answer came; nothing if there was none.
    last: str
    trouble: str
    at: datetime
    next_at: datetime | None
    delivered_at: datetime | None
    is_waiting: bool


class AttemptView(msgspec.Struct, frozen=True, kw_only=True):
    """One try as people read it."""

    number: int
    at: datetime
    url: str
    result: str
    tone: Tone
    trouble: str
    milliseconds: int
    answer: str


def view_callback(callback: Callback) -> CallbackView:
    """Return what people read about a callback; how the last try went if that is known."""
    state, tone = CALLBACK_WORDS[callback.state]
    last = trouble = ""
    if isinstance(callback, LoggedCallback):
        trouble = callback.last_error or ""
        last = describe_result(callback.last_status) if callback.last_status or trouble else ""
    return CallbackView(
        id=callback.id,
        order_id=callback.order_id,
        reference=(callback.event and callback.event.merchant_order_id) or "",
        what=describe_event(callback.event),
        state=state,
        tone=tone,
        attempts=callback.attempts,
        last=last,
        trouble=trouble,
        at=callback.created_at,
        next_at=callback.next_at,
        delivered_at=callback.delivered_at,
        is_waiting=callback.state is CallbackState.PENDING,
    )


def view_attempt(attempt: Attempt) -> AttemptView:
    """Return what people read about one try."""
    answer = " ".join(attempt.answer[: _LONGEST_ANSWER + 1].split())
    return AttemptView(
        number=attempt.number,
        at=attempt.at,
        url=attempt.url,
        result=describe_result(attempt.status),
        tone="ok" if attempt.status == _HEARD else "error",
        trouble=attempt.error or "",
        milliseconds=attempt.milliseconds,
        answer=f"{answer[:_LONGEST_ANSWER]}…" if len(attempt.answer) > _LONGEST_ANSWER else answer,
    )


def describe_event(event: ToldEvent | None) -> str:
    """Say what happened; a test tells of nothing."""
    if event is None:
        return "Test message"
    if isinstance(event, OrderCreated):
        return "Order created"
    if isinstance(event, ShipmentsChanged):
        return "Shipments changed"
    return _MOVED[event.status]


def describe_result(status: int | None) -> str:
    """Say how a receiver answered, as a badge would."""
    if status is None:
        return "No answer"
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
