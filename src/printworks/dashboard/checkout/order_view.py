"""An order as its recipient sees it: what was ordered, how far it is, and where its parcels are."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from printworks.catalogue.services import CARRIER_NAMES
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.checkout.readers import ShopView
from printworks.dashboard.shared.labels import name_attribute
from printworks.dashboard.shared.logos import address_of_logo
from printworks.language.words import Words, mark
from printworks.rules.order_progress import (
    Stage,
    count_sent_shipments,
    find_stage,
    is_delivered,
    is_sent,
)
from printworks.rules.orders import ShippingMethod
from printworks.store.accounts.shops import Shop
from printworks.store.images.images import Image
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment
from printworks.wire.links import Links

# What some write where there is no postcode.
_NO_POSTCODE: Final = "-"
METHODS: Final[Mapping[ShippingMethod, str]] = {
    ShippingMethod.BUDGET: mark("Budget shipping"),
    ShippingMethod.STANDARD: mark("Standard shipping"),
    ShippingMethod.EXPRESS: mark("Express shipping"),
    ShippingMethod.OVERNIGHT: mark("Overnight shipping"),
}


class Item(NamedTuple):
    """A picture, and on what it is printed."""

    # In the language of the catalogue, which is English.
    description: str
    choices: tuple[str, ...]
    copies: int
    thumbnail: str
    # What it will look like; empty until that is drawn.
    mockup: str = ""


class OrderStep(NamedTuple):
    """A step on the way of an order."""

    text: str
    # What is known about it: when it was, or is expected.
    more: str
    is_done: bool
    is_now: bool


class TrackedShipment(NamedTuple):
    """A shipment of an order, which recipients know as a parcel."""

    number: int
    items: tuple[str, ...]
    is_sent: bool
    is_delivered: bool
    # When it was sent or will be, and when it arrives.
    dispatch: str
    arrival: str
    carrier: str
    tracking_number: str
    tracking_url: str


class OrderProgress(NamedTuple):
    """How far an order is."""

    stage: Stage
    steps: tuple[OrderStep, ...]
    shipments: tuple[TrackedShipment, ...]
    sent: int


class OrderMaking(NamedTuple):
    """What is known of how an order is made."""

    order: Order
    images: Sequence[Image]
    shipments: Sequence[Shipment]
    catalogue: Catalogue
    time_zone: str


def view_shop(shop: Shop) -> ShopView:
    """Return what a recipient sees of a shop."""
    profile, logo = shop.profile, shop.logo
    return ShopView(
        name=shop.name,
        logo=address_of_logo(logo) if logo else "",
        logo_width=logo.width if logo else 0,
        logo_height=logo.height if logo else 0,
        email=profile.email,
        telephone=profile.telephone,
        website=profile.website,
        return_address=tuple(profile.return_address.split("\n")) if profile.return_address else (),
    )


def view_item(image: Image, catalogue: Catalogue, links: Links) -> Item:
    """Return what a recipient sees of an image."""
    product = catalogue.find_product(image.sku)
    _, thumbnail = links.proofs(image.id, image.edition)
    return Item(
        description=product.description if product else image.sku,
        choices=tuple(
            f"{name_attribute(name)}: {value}" for name, value in image.attributes.items()
        ),
        copies=image.copies,
        thumbnail=thumbnail if image.has_proofs else "",
        mockup=links.mockup(image.id, image.edition) if image.mockup else "",
    )


def write_address(order: Order, country: str) -> tuple[str, ...]:
    """Return where an order goes, line by line."""
    postcode = "" if order.postal_code == _NO_POSTCODE else order.postal_code
    place = ", ".join(
        part for part in (order.town_or_city, order.state_or_county, postcode) if part
    )
    lines = (order.recipient_name, order.address1, order.address2, place, country)
    return tuple(line for line in lines if line)


def describe_progress(
    making: OrderMaking, words: Words, *, begun_as: str, begun_at: datetime
) -> OrderProgress:
    """Return how far an order is; `begun_as` is what its first step is called."""
    states = [shipment.state for shipment in making.shipments]
    stage = find_stage(making.order.status, states)
    sent, everything = count_sent_shipments(states)
    say = words.say
    tracked = tuple(
        _describe_shipment(making, shipment, words, number)
        for number, shipment in enumerate(making.shipments, 1)
    )
    partly = (
        words.count(
            "{sent} of {count} parcel sent",
            "{sent} of {count} parcels sent",
            everything,
            sent=words.number(sent),
        )
        if everything > 1 and sent
        else ""
    )
    texts = (
        (begun_as, words.date(_local(begun_at, making))),
        (say("In production"), ""),
        (say("Sent"), partly),
        (say("Delivered"), "" if stage is Stage.DELIVERED else _write_arrival(making, words)),
    )
    reached = list(Stage).index(stage)
    steps = tuple(
        OrderStep(text, more, is_done=place <= reached, is_now=place == reached)
        for place, (text, more) in enumerate(texts)
    )
    return OrderProgress(stage, steps, tracked, sent)


def _local(at: datetime, making: OrderMaking) -> date:
    return at.astimezone(ZoneInfo(making.time_zone)).date()


def _write_arrival(making: OrderMaking, words: Words) -> str:
    """Write when the last parcel is expected."""
    if not making.shipments:
        return ""
    first = min(shipment.earliest_arrival for shipment in making.shipments)
    last = max(shipment.latest_arrival for shipment in making.shipments)
    return words.say("Expected {days}", days=_write_span(first, last, words))


def _write_span(first: str, last: str, words: Words) -> str:
    """Write days that are given as ISO 8601."""
    days = [words.day(date.fromisoformat(day)) for day in dict.fromkeys((first, last))]
    return " \N{EN DASH} ".join(days)


def _describe_shipment(
    making: OrderMaking, shipment: Shipment, words: Words, number: int
) -> TrackedShipment:
    theirs = [image for image in making.images if image.id in shipment.image_ids]
    url = shipment.tracking_url or ""
    sent, say = is_sent(shipment.state), words.say
    return TrackedShipment(
        number=number,
        items=tuple(
            f"{image.copies} \N{MULTIPLICATION SIGN} {_name_product(image, making.catalogue)}"
            for image in theirs
        ),
        is_sent=sent,
        is_delivered=is_delivered(shipment.state),
        dispatch=_write_dispatch(making, shipment, theirs, words),
        arrival=say(
            "Expected {days}",
            days=_write_span(shipment.earliest_arrival, shipment.latest_arrival, words),
        ),
        carrier=CARRIER_NAMES.get(shipment.carrier, "") if sent else "",
        tracking_number=shipment.tracking_number or "",
        # Labs write these: nothing but an address of the web may become a link.
        tracking_url=url if url.lower().startswith(("https://", "http://")) else "",
    )


def _name_product(image: Image, catalogue: Catalogue) -> str:
    product = catalogue.find_product(image.sku)
    return product.description if product else image.sku


def _write_dispatch(
    making: OrderMaking, shipment: Shipment, images: Sequence[Image], words: Words
) -> str:
    if shipment.shipped_at is not None:
        return words.say("Sent on {day}", day=words.day(_local(shipment.shipped_at, making)))
    lab = making.catalogue.find_lab(shipment.lab)
    if lab is None:
        return ""
    skus = {image.sku for image in images}
    day = lab.find_dispatch(skus, ordered_at=shipment.created_at).latest
    return words.say("Leaves the lab by {day}", day=words.day(day))
