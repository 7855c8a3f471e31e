"""What the page of an order says: every event, every lab's verdict, every way to lay a picture."""

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import msgspec
import pytest

from printworks.catalogue.country_names import name_country
from printworks.catalogue.opening import open_catalogue
from printworks.dashboard.shared.order_images import make_crop, write_percent
from printworks.dashboard.shared.order_routing import describe_choices
from printworks.dashboard.shared.order_timeline import describe_timeline
from printworks.rules import events
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState
from printworks.rules.orders import OrderStatus, ShippingMethod
from printworks.rules.production import LabState
from printworks.rules.routing.calendars import Window
from printworks.rules.routing.model import (
    LabFinding,
    LabVerdict,
    Plan,
    PlannedShipment,
    Routed,
    Unroutable,
)
from printworks.rules.sizing import Pixels, PrintArea, Sizing, Units, place
from printworks.store.orders.history import DatedEvent
from printworks.store.orders.shipments import Decision
from tests.factories import NOON

CATALOGUE = open_catalogue(None)
SENT = events.ShipmentFact(
    id=8, items=[1], is_shipped=True, carrier="DHL", tracking_number=None, tracking_url=None
)
MONEY: dict[str, Any] = {"amount": 1250, "currency": "GBP", "provider": "account", "reference": "x"}
SENTENCES: list[tuple[events.OrderEvent, str]] = [
    (events.OrderCreated(OrderStatus.NOT_YET_SUBMITTED, None), "Created"),
    (
        events.OrderMoved(OrderStatus.AWAITING_PAYMENT, OrderStatus.NOT_YET_SUBMITTED, None),
        "Reopened: it was not paid for",
    ),
    (
        events.OrderChanged(["address1", "postal_code", "shipping_method"]),
        "Changed the address and the shipping method",
    ),
    (events.ImagesAdded([1, 2]), "2 images added"),
    (events.ImageRemoved(2), "Image 2 removed"),
    (events.ImageChanged(2, ["copies", "sku"]), "Image 2: copies and product changed"),
    (events.ImageJudged(2, ImageStatus.INVALID), "Image 2 cannot be printed"),
    (events.ImageRendered(2, "0"), "The print file of image 2 was rendered"),
    (
        events.PackingSlipJudged(ImageStatus.FILE_NOT_FOUND_AT_URL),
        "The packing slip was not found at its address",
    ),
    (
        events.ShipmentsChanged(
            status=OrderStatus.SUBMITTED, merchant_order_id=None, changed=[8], shipments=[SENT]
        ),
        "Dispatched",
    ),
    (events.ShipmentsDelivered([8]), "Delivered"),
    *(
        (
            events.ShipmentsChanged(
                status=OrderStatus.SUBMITTED,
                merchant_order_id=None,
                changed=[8],
                shipments=[],
                state=state,
            ),
            sentence,
        )
        for state, sentence in (
            (LabState.ACCEPTED, "Accepted by the lab"),
            (LabState.IN_PRODUCTION, "Printing"),
            (LabState.FAILED, "The lab could not make it"),
        )
    ),
    (
        events.PrintedElsewhere(wanted="ES", images=[1, 2], countries=["DE", "FR"]),
        "2 images printed in Germany and France: no lab in Spain is in time",
    ),
    (
        events.ShipmentsChanged(
            status=OrderStatus.SUBMITTED, merchant_order_id=None, changed=[8, 9], shipments=[]
        ),
        "Offered to a lab",
    ),
    (events.OrderHeld(shipment=None, reason=None), "Put on hold"),
    (events.OrderHeld(shipment=8, reason="Torn."), "Shipment 8 is held: Torn."),
    (events.OrderReleased(), "Released from hold"),
    (events.OrderCharged(**MONEY), "£12.50 charged"),
    (events.OrderRefunded(**MONEY), "£12.50 refunded"),
    (events.IssueMoved(issue=3, was=None, state=IssueState.OPEN), "Issue 3 was reported"),
    (
        events.OrderCompensated(issue=3, refund=500, currency="GBP", reprint=None),
        "£5.00 refunded for issue 3",
    ),
    (
        events.OrderCompensated(issue=3, refund=None, currency=None, reprint=12),
        "Reprinted for issue 3: order 12",
    ),
    (events.RecipientErased(), "The recipient's data was erased"),
    (
        events.OrderReprints(order=7, issue=3),
        "Free reprint of order 7",
    ),
]


@pytest.mark.parametrize(("event", "sentence"), SENTENCES)
def test_everything_that_can_happen_is_a_sentence(event: events.OrderEvent, sentence: str) -> None:
    assert [timestamp.what for timestamp in describe_timeline([DatedEvent(NOON, event)])] == [
        sentence
    ]


def test_no_kind_of_event_is_left_out() -> None:
    assert {type(event) for event, _ in SENTENCES} == {*events.OrderEvent.__args__}


def test_what_happens_to_many_images_in_a_row_is_one_line() -> None:
    happened: list[events.OrderEvent] = [
        events.ImageJudged(4, ImageStatus.OK),
        events.ImageJudged(3, ImageStatus.INVALID),
        events.ImageJudged(2, ImageStatus.OK),
        events.ImageJudged(1, ImageStatus.OK),
        events.ImagesAdded([4]),
        events.ImagesAdded([1, 2, 3]),
    ]
    said = [
        (timestamp.what, timestamp.at)
        for timestamp in describe_timeline(
            [DatedEvent(NOON - timedelta(hours=n), event) for n, event in enumerate(happened)]
        )
    ]
    assert said == [
        ("Image 4 arrived", NOON),
        ("Image 3 cannot be printed", NOON - timedelta(hours=1)),
        ("2 images arrived", NOON - timedelta(hours=2)),
        ("4 images added", NOON - timedelta(hours=4)),
    ]


def the_lines(*happened: events.OrderEvent) -> list[tuple[str, list[str]]]:
    """Describe events, newest first: each line, and what it stands for."""
    dated = [DatedEvent(NOON, event) for event in happened]
    return [(entry.what, [one.what for one in entry.details]) for entry in describe_timeline(dated)]


def test_images_that_come_one_by_one_are_one_line_of_each_kind() -> None:
    happened: list[events.OrderEvent] = [
        event
        for image in range(40, 0, -1)
        for event in (events.ImageJudged(image, ImageStatus.OK), events.ImagesAdded([image]))
    ]

    arrived, added = the_lines(*happened)

    assert (arrived[0], added[0]) == ("40 images arrived", "40 images added")
    assert arrived[1][0] == "Image 40 arrived"


def test_no_more_than_forty_lines_are_behind_one() -> None:
    happened = [DatedEvent(NOON, events.ImageRemoved(image)) for image in range(1000)]

    [entry] = describe_timeline(happened)

    assert (entry.what, len(entry.details), entry.more) == ("1,000 images removed", 40, 960)


def test_equal_lines_in_a_row_are_one() -> None:
    changed = events.OrderChanged(["email"])

    assert the_lines(changed, changed, events.OrderReleased(), changed) == [
        ("Changed the contact details, 2 times", ["Changed the contact details"] * 2),
        ("Released from hold", []),
        ("Changed the contact details", []),
    ]


def test_a_shipment_is_named_where_there_are_several() -> None:
    waiting = msgspec.structs.replace(SENT, id=9, is_shipped=False)
    sent = events.ShipmentsChanged(
        status=OrderStatus.SUBMITTED,
        merchant_order_id=None,
        changed=[8],
        shipments=[SENT, waiting],
        state=LabState.DISPATCHED,
    )

    assert the_lines(events.ShipmentsDelivered([8]), sent) == [
        ("Shipment 8: delivered", []),
        ("Shipment 8: dispatched", []),
    ]


def a_package(lab: str) -> PlannedShipment:
    """Say what makes a package of image 1."""
    days = Window(date(2026, 11, 18), date(2026, 11, 20))
    return PlannedShipment(
        lab=lab,
        band="prints",
        items=(1,),
        copies=2,
        service="x",
        method=ShippingMethod.STANDARD,
        is_tracked=False,
        items_cost=987_654,
        shipping_cost=123_456,
        dispatch=days,
        arrival=days,
    )


def test_every_verdict_is_a_sentence_without_what_labs_cost() -> None:
    verdicts = (
        LabVerdict(lab="gb-leeds", items=(1,), finding=LabFinding.CHOSEN),
        LabVerdict(lab="gb-bristol", items=(1,), finding=LabFinding.DEARER, extra_cost=987_654),
        LabVerdict(lab="gone", items=(1,), finding=LabFinding.DEARER, extra_cost=0),
        LabVerdict(lab="a", items=(1,), finding=LabFinding.CANNOT_MAKE, reason="no mugs"),
        LabVerdict(lab="b", items=(1,), finding=LabFinding.LEFT_OUT),
        LabVerdict(lab="c", items=(1,), finding=LabFinding.PAUSED, reason="holidays"),
        LabVerdict(lab="d", items=(1,), finding=LabFinding.NO_SERVICE),
        LabVerdict(lab="e", items=(1,), finding=LabFinding.TOO_LATE, arrives_by=date(2026, 12, 1)),
        LabVerdict(lab="f", items=(1,), finding=LabFinding.ABROAD),
    )
    plan = Plan(
        shipments=(a_package("gb-leeds"),),
        items_cost=987_654,
        shipping_cost=123_456,
        promise=date(2026, 11, 19),
        method=ShippingMethod.STANDARD,
        meets_promise=False,
        is_exact=True,
        print_country="ES",
        printed_elsewhere=(1,),
    )
    [choice] = describe_choices([Decision(Routed(plan, verdicts), ["b"], NOON)], CATALOGUE)

    assert choice.heading == "After b had declined"
    assert choice.chosen == (
        "Leeds (United Kingdom) prints image 1: 2 copies, sent by Fri, 20 Nov 2026, to arrive by "
        "Fri, 20 Nov 2026.",
        "Standard shipping promises Thu, 19 Nov 2026. No lab can meet that; this is the earliest "
        "possible.",
        "No lab in Spain can make and send image 1 in time.",
    )
    assert choice.others == (
        "Bristol (United Kingdom) would have cost more.",
        "gone would have cost the same.",
        "a does not make this: no mugs.",
        "b was asked before and declined.",
        "c is paused: holidays.",
        "d has no matching shipping service to that country.",
        "e would be too late: it would arrive by Tue, 1 Dec 2026.",
        "f is not in the country where the order should be printed.",
    )


def test_an_order_of_many_products_is_explained_in_a_few_lines() -> None:
    verdicts = tuple(
        LabVerdict(lab="a", items=(number,), finding=LabFinding.NO_SERVICE) for number in range(100)
    )
    [choice] = describe_choices([Decision(Unroutable((1,), verdicts), [], NOON)], CATALOGUE)

    assert choice.chosen == ("No lab could make and ship it.",)
    assert choice.others[0] == "For image 0: a has no matching shipping service to that country."
    assert len(choice.others) == 25
    assert choice.others[-1] == "And 76 more like these."


@pytest.mark.parametrize(
    ("picture", "drawing"),
    [
        (Pixels(1000, 3000), (33.3, 100.0, 0.0, 25.0, 33.3, 50.0)),
        (Pixels(3000, 1000), (100.0, 33.3, 25.0, 0.0, 50.0, 33.3)),
        (Pixels(2000, 2000), (100.0, 100.0, 16.6, 0.0, 66.7, 100.0)),
        # Of the same shape, to within a hundredth.
        (Pixels(2000, 3010), None),
    ],
)
def test_what_is_cut_off_is_drawn_to_scale(
    picture: Pixels, drawing: tuple[float, ...] | None
) -> None:
    area = PrintArea.of(4, 6, Units.INCHES)
    assert make_crop(place(picture, area, Sizing.CROP)) == drawing
    assert make_crop(place(picture, area, Sizing.SHRINK_TO_FIT)) is None


def test_something_is_never_nothing() -> None:
    assert write_percent(Fraction(1, 3)) == "Less than 1 %"
    assert write_percent(Fraction(23, 2)) == "12 %"


@pytest.mark.parametrize(
    ("code", "name"), [("IM", "Isle of Man"), ("CW", "Curaçao"), ("AN", "AN"), ("", "")]
)
def test_a_country_has_its_name_and_one_that_is_gone_its_code(code: str, name: str) -> None:
    assert name_country(code) == name
