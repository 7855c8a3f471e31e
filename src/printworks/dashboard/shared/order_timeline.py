"""What happened to an order, in sentences."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple

from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.words import count, join
from printworks.dashboard.site.rendering import Tone
from printworks.rules.events import (
    ImageJudged,
    ImageRemoved,
    ImageRendered,
    ImagesAdded,
    IssueMoved,
    OrderChanged,
    OrderCharged,
    OrderCompensated,
    OrderCreated,
    OrderEvent,
    OrderHeld,
    OrderMoved,
    OrderRefunded,
    OrderReleased,
    OrderReprints,
    PackingSlipJudged,
    ShipmentsChanged,
)
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState
from printworks.rules.orders import OrderStatus
from printworks.store.orders.history import Happening


class TimelineEntry(NamedTuple):
    """A line of the timeline."""

    what: str
    at: datetime
    tone: Tone = ""


class _Said(NamedTuple):
    what: str
    tone: Tone = ""


_MOVES: Final[Mapping[OrderStatus, _Said]] = {
    OrderStatus.NOT_YET_SUBMITTED: _Said("Open again: it was not paid for", "warn"),
    OrderStatus.AWAITING_PAYMENT: _Said("Waiting for the payment", "warn"),
    OrderStatus.SUBMITTED: _Said("Submitted", "ok"),
    OrderStatus.COMPLETE: _Said("Complete: everything is on its way", "ok"),
    OrderStatus.CANCELLED: _Said("Cancelled"),
}
_JUDGED: Final[Mapping[ImageStatus, _Said]] = {
    ImageStatus.AWAITING_URL_OR_DATA: _Said("has no file yet", "warn"),
    ImageStatus.NOT_YET_DOWNLOADED: _Said("is on its way"),
    ImageStatus.OK: _Said("arrived"),
    ImageStatus.FILE_NOT_FOUND_AT_URL: _Said("was not found at its address", "error"),
    ImageStatus.INVALID: _Said("cannot be printed", "error"),
}
_ISSUES: Final[Mapping[IssueState, str]] = {
    IssueState.OPEN: "was reported",
    IssueState.IN_PROGRESS: "is being looked into",
    IssueState.CLOSED_RESOLVED: "was resolved",
    IssueState.CANCELLED: "was withdrawn",
}
# How people call the fields of an order; several are one thing to them.
_FIELDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("address1", "address2", "town_or_city", "state_or_county", "postal_code"), "the address"
    ),
    **dict.fromkeys(("mobile_telephone", "telephone", "email"), "the contact details"),
    **dict.fromkeys(("invoice_amount_net", "invoice_tax", "invoice_currency"), "the invoice"),
    "recipient_name": "the recipient",
    "destination_country": "the country",
    "shipping_method": "the shipping method",
    "is_tracked": "the tracking",
    "merchant_order_id": "the reference",
    "packing_slip_url": "the packing slip",
    "payment": "who pays",
}
# What is said of several in a row.
_MANY: Final[Mapping[type[OrderEvent], str]] = {
    ImagesAdded: "images added",
    ImageRemoved: "images removed",
    ImageJudged: "images arrived",
    ImageRendered: "print files were made",
}
# Written by the action behind the button of the merchant.
_ASKED_FOR: Final = "The merchant asked for it."


def tell(happenings: Sequence[Happening]) -> list[TimelineEntry]:
    """Say what happened, newest first; what happened to many images in a row is one line."""
    told: list[TimelineEntry] = []
    for kind, group in groupby(happenings, key=lambda happening: _kind_of_many(happening.event)):
        lines = list(group)
        if kind is None or len(lines) == 1:
            told += [_tell_one(line) for line in lines]
        else:
            images = sum(_count_images(line.event) for line in lines)
            told.append(TimelineEntry(f"{images} {_MANY[kind]}", lines[0].at))
    return told


def _tell_one(happening: Happening) -> TimelineEntry:
    said = _say(happening.event)
    return TimelineEntry(said.what, happening.at, said.tone)


def _kind_of_many(event: OrderEvent) -> type[OrderEvent] | None:
    """Return what kind of event this is if several in a row are told as one."""
    is_bad = isinstance(event, ImageJudged) and event.status is not ImageStatus.OK
    return type(event) if type(event) in _MANY and not is_bad else None


def _count_images(event: OrderEvent) -> int:
    return len(event.images) if isinstance(event, ImagesAdded) else 1


def _say(event: OrderEvent) -> _Said:
    match event:
        case ImagesAdded() | ImageRemoved() | ImageJudged() | ImageRendered():
            return _say_of_images(event)
        case OrderCharged() | OrderRefunded() | OrderCompensated() | OrderReprints() | IssueMoved():
            return _say_of_money(event)
        case OrderHeld() | OrderReleased():
            return _say_of_hold(event)
        case PackingSlipJudged():
            judged = _JUDGED[event.status]
            return _Said(f"The packing slip {judged.what}", judged.tone)
        case ShipmentsChanged():
            return _say_of_shipments(event)
        case OrderCreated() | OrderMoved() | OrderChanged():
            return _say_of_order(event)


def _say_of_order(event: OrderCreated | OrderMoved | OrderChanged) -> _Said:
    match event:
        case OrderCreated():
            return _Said("Created")
        case OrderMoved():
            return _MOVES[event.status]
        case OrderChanged():
            named = [_FIELDS.get(name, name.replace("_", " ")) for name in event.fields]
            return _Said(f"Changed {join(list(dict.fromkeys(named)))}")


def _say_of_hold(event: OrderHeld | OrderReleased) -> _Said:
    match event:
        case OrderHeld(shipment=None, reason=reason):
            return _Said(
                "Put on hold" if reason == _ASKED_FOR else f"Put on hold: {reason}", "warn"
            )
        case OrderHeld():
            return _Said(f"Shipment {event.shipment} is held: {event.reason}", "warn")
        case OrderReleased():
            return _Said("Goes on after a hold")


def _say_of_images(event: ImagesAdded | ImageRemoved | ImageJudged | ImageRendered) -> _Said:
    match event:
        case ImagesAdded():
            return _Said(f"{count(len(event.images), 'image')} added")
        case ImageRemoved():
            return _Said(f"Image {event.image} removed")
        case ImageJudged():
            return _Said(
                f"Image {event.image} {_JUDGED[event.status].what}", _JUDGED[event.status].tone
            )
        case ImageRendered():
            return _Said(f"The print file of image {event.image} was made")


def _say_of_money(
    event: OrderCharged | OrderRefunded | OrderCompensated | OrderReprints | IssueMoved,
) -> _Said:
    match event:
        case OrderCharged():
            return _Said(f"{format_money(event.amount, event.currency)} charged")
        case OrderRefunded():
            return _Said(f"{format_money(event.amount, event.currency)} given back")
        case OrderCompensated(refund=int() as refund, currency=str() as currency):
            return _Said(
                f"{format_money(refund, currency)} given back for issue {event.issue}", "ok"
            )
        case OrderCompensated():
            again = f": order {event.reprint}" if event.reprint else ""
            return _Said(f"Printed again for issue {event.issue}{again}", "ok")
        case OrderReprints():
            return _Said(f"Prints again what order {event.order} did not get right, at no charge")
        case IssueMoved():
            return _Said(f"Issue {event.issue} {_ISSUES[event.state]}", "warn")


def _say_of_shipments(event: ShipmentsChanged) -> _Said:
    known = {shipment.id: shipment for shipment in event.shipments}
    sent = [one for one in event.changed if one in known and known[one].is_shipped]
    if sent:
        return _Said(f"{_name(sent)} dispatched", "ok")
    # It may have been refused or spoiled, too: how it stands now is said beside the shipment.
    return _Said(f"News from the lab of {_name(event.changed).lower()}")


def _name(shipments: Iterable[int]) -> str:
    named = [str(one) for one in shipments]
    return f"Shipment {named[0]}" if len(named) == 1 else f"Shipments {join(named)}"
