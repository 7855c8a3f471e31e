"""How the console names things, and which of them stand out."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from printworks.dashboard.shared.words import (
    CALLBACK_WORDS,
    IMAGE_WORDS,
    ORDER_WORDS,
    Words,
    count,
)
from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState, Resolution
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import PaymentState
from printworks.rules.production import LabState

# Read a line as: this ... is called so, and looks so.
_JOBS: Final[Mapping[LabState | None, Words]] = {
    None: Words("Planned"),
    LabState.OFFERED: Words("Offered"),
    LabState.ACCEPTED: Words("Accepted"),
    LabState.IN_PRODUCTION: Words("In production", "warn"),
    LabState.DISPATCHED: Words("Dispatched", "ok"),
    LabState.REJECTED: Words("Rejected", "error"),
    LabState.CANCELLED: Words("Called off"),
    LabState.FAILED: Words("Failed", "error"),
}
_ISSUES: Final[Mapping[IssueState, Words]] = {
    IssueState.OPEN: Words("New", "error"),
    IssueState.IN_PROGRESS: Words("In progress", "warn"),
    IssueState.CLOSED_RESOLVED: Words("Settled", "ok"),
    IssueState.CANCELLED: Words("Dropped"),
}
_PAYMENTS: Final[Mapping[PaymentState, Words]] = {
    PaymentState.ASKED: Words("Asked", "warn"),
    PaymentState.WAITING: Words("Waits for the payer", "warn"),
    PaymentState.PAID: Words("Paid", "ok"),
    PaymentState.DECLINED: Words("Declined", "error"),
    PaymentState.CANCELLED: Words("Called off"),
    PaymentState.REFUNDING: Words("Going back", "warn"),
    PaymentState.REFUNDED: Words("Given back"),
}

State = OrderStatus | ImageStatus | LabState | IssueState | CallbackState | PaymentState | None

OUTCOMES: Final[Mapping[Resolution, str]] = {
    Resolution.REPRINT: "Printed again",
    Resolution.REFUND: "Money back",
    Resolution.NO_ACTION: "Nothing was done",
}


def name_state(state: State) -> Words:
    """Return what a state is called, and how it looks."""
    match state:
        case OrderStatus():
            return ORDER_WORDS[state]
        case ImageStatus():
            return IMAGE_WORDS[state]
        case IssueState():
            return _ISSUES[state]
        case CallbackState():
            return CALLBACK_WORDS[state]
        case PaymentState():
            return _PAYMENTS[state]
        case _:
            return _JOBS[state]


def tell_span(span: timedelta) -> str:
    """Return how long something is, roughly: `3 hours`."""
    seconds = max(int(span.total_seconds()), 0)
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size * (2 if noun == "day" else 1):
            return count(seconds // size, noun)
    return "less than a minute"


def tell_age(at: datetime, *, now: datetime) -> str:
    """Return how long ago something was; a merchant's clock may be ahead."""
    return f"{tell_span(now - at)} ago" if at <= now else "by a clock ahead of ours"
