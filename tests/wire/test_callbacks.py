"""What merchants are sent, to the byte."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.callbacks import CallbackEvent, CallbackFormat
from printworks.rules.events import OrderCreated, OrderMoved, ShipmentsChanged
from printworks.rules.orders import OrderStatus
from printworks.wire.callbacks import carries_news, render_callback
from tests.wire.callback_samples import FOLDER, SAMPLES, render_all

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _tell(event: Any, wanted: CallbackFormat = CallbackFormat.V3_0, **more: Any) -> Any:
    facts = {"order_id": 42, "environment": "live", "at": NOON, "format": wanted, **more}
    return json.loads(render_callback(event, **facts))


def test_every_callback_is_the_golden_one_to_the_byte() -> None:
    wanted = dict(render_all())

    found = {path: path.read_bytes() for path in FOLDER.glob("*.json")}

    assert found == wanted


@pytest.mark.parametrize(
    ("wanted", "members"),
    [
        ("3.0", "orderId environment timestamp status shipments id merchantOrderId"),
        ("2.6", "orderId environment timestamp status shipments id merchantOrderId"),
        ("2.5", "orderId environment timestamp status shipments id merchantOrderId"),
        ("2.3", "orderId environment timestamp status eventData eventId id merchantOrderId"),
    ],
)
def test_every_format_has_the_members_of_its_contract(wanted: str, members: str) -> None:
    event = OrderCreated(OrderStatus.NOT_YET_SUBMITTED, None)

    assert list(_tell(event, CallbackFormat(wanted))) == members.split()


@given(
    wanted=st.sampled_from(CallbackFormat),
    status=st.sampled_from(OrderStatus),
    reference=st.none() | st.text(st.characters(exclude_categories=["Cs"])),
    order_id=st.integers(1, 2**63 - 1),
)
def test_every_callback_says_whose_it_is_and_reports_only_statuses_of_the_contract(
    wanted: CallbackFormat, status: OrderStatus, reference: str | None, order_id: int
) -> None:
    event = OrderMoved(OrderStatus.NOT_YET_SUBMITTED, status, reference)

    told = _tell(event, wanted, order_id=order_id)

    assert told["orderId"] == told["id"] == order_id
    assert told["merchantOrderId"] == reference
    assert told["environment"] == "LIVE"
    assert told["status"].lower() in {"notyetsubmitted", "submitted", "complete", "cancelled"}
    assert (told["status"] == told["status"].lower()) == (wanted is not CallbackFormat.V3_0)


@pytest.mark.parametrize("status", OrderStatus)
def test_only_an_order_that_is_paid_for_can_be_waiting_for_its_pictures(
    status: OrderStatus,
) -> None:
    event = OrderMoved(OrderStatus.NOT_YET_SUBMITTED, status, None, lacks_images=True)

    told = _tell(event, CallbackFormat.V2_3)["eventData"]

    assert told == ("PaidAwaitingImageUpload" if status is OrderStatus.SUBMITTED else status)


@given(
    wanted=st.sampled_from([each for each in CallbackFormat if each != "2.3"]),
    event=st.sampled_from(list(SAMPLES.values())),
    before=st.sampled_from(list(SAMPLES.values())),
)
def test_what_has_another_body_but_for_its_timestamp_is_news(
    wanted: CallbackFormat, event: CallbackEvent, before: CallbackEvent
) -> None:
    differs = _tell(event, wanted) != _tell(before, wanted)

    assert carries_news(event, before, format=wanted) is differs


@pytest.mark.parametrize(
    ("before", "event", "is_news"),
    [
        ("created", "awaiting-payment", True),
        ("awaiting-payment", "submitted", True),
        ("submitted", "shipments-created", False),
        ("submitted", "shipped-in-part", True),
        ("shipped-in-part", "replanned-after-a-parcel-left", False),
        ("shipped-in-part", "complete", True),
        ("submitted-without-images", "shipments-created-without-images", False),
        ("submitted-without-images", "shipments-created", True),
    ],
)
def test_2_3_tells_changes_of_the_status_and_what_was_shipped(
    before: str, event: str, is_news: bool
) -> None:
    found = carries_news(SAMPLES[event], SAMPLES[before], format=CallbackFormat.V2_3)

    assert found is is_news


def test_2_3_names_the_shipments_that_left() -> None:
    shipped = SAMPLES["complete"]
    assert isinstance(shipped, OrderMoved)
    event = ShipmentsChanged(
        status=OrderStatus.SUBMITTED,
        merchant_order_id=None,
        changed=[7, 8],
        shipments=shipped.shipments,
    )

    told = _tell(event, CallbackFormat.V2_3)

    assert (told["eventId"], told["eventData"]) == ("itemsShipped", "7,8")


def test_moments_are_told_in_utc_without_a_zone() -> None:
    there = timezone(timedelta(hours=5, minutes=30))
    event = OrderCreated(OrderStatus.NOT_YET_SUBMITTED, None)

    told = _tell(event, at=datetime(2026, 3, 1, 1, 0, 0, 1999, tzinfo=there))

    assert told["timestamp"] == "2026-02-28T19:30:00.001"
