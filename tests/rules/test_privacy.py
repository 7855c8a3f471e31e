"""What is erased of a recipient, and when that is possible."""

from typing import Any

import pytest

from printworks.errors import BadInput
from printworks.rules.events import (
    ImageRendered,
    OrderCreated,
    OrderHeld,
    OrderMoved,
    ShipmentFact,
    ShipmentsChanged,
)
from printworks.rules.orders import OrderStatus
from printworks.rules.privacy import (
    DESCRIPTIONS,
    LONGEST_ASKED_BY,
    Subject,
    blank_event,
    find_obstacle,
    read_asked_by,
)
from printworks.rules.reasons import Reason, ReasonCode, add_reason, blank_reasons
from printworks.rules.search import make_email_key, make_postal_key


@pytest.mark.parametrize("status", OrderStatus)
def test_only_an_order_that_has_ended_can_be_erased(status: OrderStatus) -> None:
    obstacle = find_obstacle(status, open_issues=(), is_being_paid=False)

    assert (obstacle is None) == (status in {OrderStatus.COMPLETE, OrderStatus.CANCELLED})


def test_issues_and_payments_must_be_settled() -> None:
    complete = OrderStatus.COMPLETE

    assert "Issue 3, 7 of" in (
        find_obstacle(complete, open_issues=[7, 3], is_being_paid=True) or ""
    )
    assert "payment" in (find_obstacle(complete, open_issues=(), is_being_paid=True) or "")


@pytest.mark.parametrize("text", ["", "  ", "a" * (LONGEST_ASKED_BY + 1), "a\x07"])
def test_a_receipt_says_who_asked(text: str) -> None:
    with pytest.raises(BadInput, match="Say who asked"):
        read_asked_by(text)


def test_who_asked_is_one_line() -> None:
    assert read_asked_by(" the recipient,\n by letter ") == "the recipient, by letter"


def test_every_subject_has_a_name_for_receipts() -> None:
    assert set(DESCRIPTIONS) == set(Subject)


def a_fact(**values: Any) -> ShipmentFact:
    known: dict[str, Any] = {"id": 1, "items": [2], "is_shipped": True, "carrier": "DHL"}
    return ShipmentFact(**{**known, "tracking_number": None, "tracking_url": None, **values})


def test_events_keep_what_happened_and_nothing_of_a_person() -> None:
    sent = a_fact(tracking_number="1", tracking_url="https://post.example/1")
    moved = OrderMoved(OrderStatus.SUBMITTED, OrderStatus.COMPLETE, "A-7", [sent])
    changed = ShipmentsChanged(
        status=OrderStatus.COMPLETE, merchant_order_id=None, changed=[1], shipments=[sent]
    )

    assert [blank_event(event) for event in (moved, changed)] == [
        OrderMoved(OrderStatus.SUBMITTED, OrderStatus.COMPLETE, "A-7", [a_fact()]),
        ShipmentsChanged(
            status=OrderStatus.COMPLETE, merchant_order_id=None, changed=[1], shipments=[a_fact()]
        ),
    ]
    assert blank_event(OrderHeld(shipment=None, reason="Mary moved")) == OrderHeld(
        shipment=None, reason="(erased)"
    )
    assert blank_event(ImageRendered(3, "abc")) == ImageRendered(3, "")
    for same in (OrderHeld(shipment=None, reason=None), OrderCreated(OrderStatus.COMPLETE, "A-7")):
        assert blank_event(same) == same


def test_reasons_keep_their_codes() -> None:
    stored = add_reason(None, Reason(ReasonCode.IMAGE_FAILED, 3, "https://shop.example/mary.jpg"))

    assert blank_reasons(stored) == [{"code": "image-failed", "subject": 3}]
    assert blank_reasons(None) is None


@pytest.mark.parametrize(
    ("postcode", "key"),
    [("sw1a 1aa", "SW1A1AA"), ("12345-678", "12345678"), ("", None), (None, None), (" - ", None)],
)
def test_postcodes_are_the_same_however_they_are_written(
    postcode: str | None, key: str | None
) -> None:
    assert make_postal_key(postcode) == key


@pytest.mark.parametrize(
    ("email", "key"), [(" Mary@Example.COM ", "mary@example.com"), ("", None), (None, None)]
)
def test_so_are_addresses(email: str | None, key: str | None) -> None:
    assert make_email_key(email) == key
