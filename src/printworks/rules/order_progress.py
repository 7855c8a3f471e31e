"""How far an order is, as its recipient sees it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from printworks.rules.orders import ENDED, OrderStatus
from printworks.rules.production import SENT, LabState

# How long after its end an order can be followed without having paid for it.
FOLLOW_FOR: Final = timedelta(days=90)


class Stage(StrEnum):
    """How far an order is that a lab makes."""

    ORDERED = "ordered"
    IN_PRODUCTION = "in production"
    SENT = "sent"
    DELIVERED = "delivered"


class SentCount(NamedTuple):
    """How many shipments an order has, and how many of them are on their way or there."""

    sent: int
    all: int


_NOT_BEGUN: Final = frozenset({None, LabState.OFFERED})


def is_sent(state: LabState | None) -> bool:
    """Whether a shipment has left its lab."""
    return state in SENT


def is_delivered(state: LabState | None) -> bool:
    """Whether the carrier says that a shipment has arrived."""
    return state is LabState.DELIVERED


def find_stage(status: OrderStatus, states: Iterable[LabState | None]) -> Stage:
    """Return how far an order is, by the states of its shipments."""
    known = list(states)
    if known and all(is_delivered(state) for state in known):
        return Stage.DELIVERED
    if status is OrderStatus.COMPLETE or (known and all(is_sent(state) for state in known)):
        return Stage.SENT
    has_begun = any(state not in _NOT_BEGUN for state in known)
    return Stage.IN_PRODUCTION if has_begun else Stage.ORDERED


def count_sent_shipments(states: Iterable[LabState | None]) -> SentCount:
    """Count the shipments of an order."""
    sent = [is_sent(state) for state in states]
    return SentCount(sum(sent), len(sent))


def may_follow(status: OrderStatus, changed_at: datetime, *, now: datetime) -> bool:
    """Whether an order can be followed by whoever has its link.

    Not before it is submitted, and only for a while after its end.
    """
    if status in {OrderStatus.NOT_YET_SUBMITTED, OrderStatus.AWAITING_PAYMENT}:
        return False
    return status not in ENDED or now - changed_at < FOLLOW_FOR
