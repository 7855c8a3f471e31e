"""The labels of states at the console."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from printworks.dashboard.shared.labels import (
    CALLBACK_LABELS,
    IMAGE_LABELS,
    ORDER_LABELS,
    Label,
    count,
)
from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState, Resolution
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import PaymentState
from printworks.rules.production import LabState

_JOBS: Final[Mapping[LabState | None, Label]] = {
    None: Label("Planned"),
    LabState.OFFERED: Label("Offered"),
    LabState.ACCEPTED: Label("Accepted"),
    LabState.IN_PRODUCTION: Label("In production", "warn"),
    LabState.DISPATCHED: Label("Dispatched", "ok"),
    LabState.REJECTED: Label("Rejected", "error"),
    LabState.CANCELLED: Label("Cancelled"),
    LabState.FAILED: Label("Failed", "error"),
}
_ISSUES: Final[Mapping[IssueState, Label]] = {
    IssueState.OPEN: Label("New", "error"),
    IssueState.IN_PROGRESS: Label("In progress", "warn"),
    IssueState.CLOSED_RESOLVED: Label("Resolved", "ok"),
    IssueState.CANCELLED: Label("Cancelled"),
}
_PAYMENTS: Final[Mapping[PaymentState, Label]] = {
    PaymentState.ASKED: Label("Asked", "warn"),
    PaymentState.WAITING: Label("Waiting for the payer", "warn"),
    PaymentState.PAID: Label("Paid", "ok"),
    PaymentState.DECLINED: Label("Declined", "error"),
    PaymentState.CANCELLED: Label("Cancelled"),
    PaymentState.REFUNDING: Label("Refunding", "warn"),
    PaymentState.REFUNDED: Label("Refunded"),
}

State = OrderStatus | ImageStatus | LabState | IssueState | CallbackState | PaymentState | None

OUTCOMES: Final[Mapping[Resolution, str]] = {
    Resolution.REPRINT: "Reprinted",
    Resolution.REFUND: "Refund",
    Resolution.NO_ACTION: "No action",
}


def name_state(state: State) -> Label:
    """Return the label of a state."""
    match state:
        case OrderStatus():
            return ORDER_LABELS[state]
        case ImageStatus():
            return IMAGE_LABELS[state]
        case IssueState():
            return _ISSUES[state]
        case CallbackState():
            return CALLBACK_LABELS[state]
        case PaymentState():
            return _PAYMENTS[state]
        case _:
            return _JOBS[state]


def write_span(span: timedelta) -> str:
    """Return how long something is, roughly: `3 hours`."""
    seconds = max(int(span.total_seconds()), 0)
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size * (2 if noun == "day" else 1):
            return count(seconds // size, noun)
    return "less than a minute"


def write_age(at: datetime, *, now: datetime) -> str:
    """Return how long ago something was; a merchant's clock may be ahead."""
    return f"{write_span(now - at)} ago" if at <= now else "in the future, by the merchant's clock"
