"""How far an order is, as its recipient sees it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from printworks.rules.order_progress import (
    FOLLOW_FOR,
    SentCount,
    Stage,
    count_sent_shipments,
    find_stage,
    is_delivered,
    may_follow,
)
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
_L = LabState
# What a carrier says, after the lab.
THERE = LabState.DELIVERED


@pytest.mark.parametrize(
    ("states", "stage"),
    [
        ([], Stage.ORDERED),
        ([None, None], Stage.ORDERED),
        ([_L.OFFERED], Stage.ORDERED),
        ([_L.OFFERED, _L.ACCEPTED], Stage.IN_PRODUCTION),
        ([_L.IN_PRODUCTION], Stage.IN_PRODUCTION),
        ([_L.FAILED], Stage.IN_PRODUCTION),
        ([_L.DISPATCHED, _L.OFFERED], Stage.IN_PRODUCTION),
        ([_L.DISPATCHED, _L.DISPATCHED], Stage.SENT),
        ([_L.DISPATCHED, THERE], Stage.SENT),
        ([THERE, THERE], Stage.DELIVERED),
    ],
)
def test_an_order_is_as_far_as_its_last_shipment(states: list[Any], stage: Stage) -> None:
    assert find_stage(OrderStatus.SUBMITTED, states) is stage


def test_a_complete_order_was_sent_whatever_is_known_of_its_shipments() -> None:
    assert find_stage(OrderStatus.COMPLETE, []) is Stage.SENT


def test_shipments_are_counted() -> None:
    assert count_sent_shipments([_L.DISPATCHED, THERE, _L.ACCEPTED]) == SentCount(2, 3)
    assert is_delivered(THERE)
    assert not is_delivered(_L.DISPATCHED)


@pytest.mark.parametrize(
    ("status", "age", "may"),
    [
        (OrderStatus.NOT_YET_SUBMITTED, timedelta(0), False),
        (OrderStatus.AWAITING_PAYMENT, timedelta(0), False),
        (OrderStatus.SUBMITTED, 9 * FOLLOW_FOR, True),
        (OrderStatus.COMPLETE, FOLLOW_FOR - timedelta(seconds=1), True),
        (OrderStatus.COMPLETE, FOLLOW_FOR, False),
        (OrderStatus.CANCELLED, timedelta(1), True),
    ],
)
def test_an_order_can_be_followed_until_some_time_after_its_end(
    status: OrderStatus, age: timedelta, may: bool
) -> None:
    assert may_follow(status, NOW - age, now=NOW) is may
