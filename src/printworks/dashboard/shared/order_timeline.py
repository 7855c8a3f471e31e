"""The timeline of an order."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple

from printworks.dashboard.shared.labels import Tone, count, join, name_country
from printworks.dashboard.shared.money import format_money
from printworks.rules.events import (
    ImageChanged,
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
    PrintedElsewhere,
    RecipientErased,
    ShipmentsChanged,
)
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState
from printworks.rules.orders import OrderStatus
from printworks.store.orders.history import DatedEvent


class TimelineEntry(NamedTuple):
    """A line of the timeline."""

    what: str
    at: datetime
    tone: Tone = ""


class _TimelineText(NamedTuple):
    what: str
    tone: Tone = ""


_MOVES: Final[Mapping[OrderStatus, _TimelineText]] = {
    OrderStatus.NOT_YET_SUBMITTED: _TimelineText("Reopened: it was not paid for", "warn"),
    OrderStatus.AWAITING_PAYMENT: _TimelineText("Awaiting payment", "warn"),
    OrderStatus.SUBMITTED: _TimelineText("Submitted", "ok"),
    OrderStatus.COMPLETE: _TimelineText("Complete: everything was dispatched", "ok"),
    OrderStatus.CANCELLED: _TimelineText("Cancelled"),
}
_JUDGED: Final[Mapping[ImageStatus, _TimelineText]] = {
    ImageStatus.AWAITING_URL_OR_DATA: _TimelineText("has no file yet", "warn"),
    ImageStatus.NOT_YET_DOWNLOADED: _TimelineText("is on its way"),
    ImageStatus.OK: _TimelineText("arrived"),
    ImageStatus.FILE_NOT_FOUND_AT_URL: _TimelineText("was not found at its address", "error"),
    ImageStatus.INVALID: _TimelineText("cannot be printed", "error"),
}
_ISSUES: Final[Mapping[IssueState, str]] = {
    IssueState.OPEN: "was reported",
    IssueState.IN_PROGRESS: "is in progress",
    IssueState.CLOSED_RESOLVED: "was resolved",
    IssueState.CANCELLED: "was cancelled",
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
    "print_country": "the print country",
    "shipping_method": "the shipping method",
    "is_tracked": "the tracking",
    "merchant_order_id": "the reference",
    "packing_slip_url": "the packing slip",
    "payment": "who pays",
}
# How what can be changed of an image is called.
_IMAGE_FIELDS: Final[Mapping[str, str]] = {
    "attributes": "options",
    "copies": "copies",
    "placement": "crop",
    "sizing": "fit",
    "sku": "product",
}
# What is said of several in a row.
_MANY: Final[Mapping[type[OrderEvent], str]] = {
    ImagesAdded: "images added",
    ImageRemoved: "images removed",
    ImageChanged: "changes of images",
    ImageJudged: "images arrived",
    ImageRendered: "print files rendered",
}


def describe_timeline(happenings: Sequence[DatedEvent]) -> list[TimelineEntry]:
    """Describe events, newest first; those of many images in a row become one line."""
    told: list[TimelineEntry] = []
    for kind, group in groupby(happenings, key=lambda happening: _find_group(happening.event)):
        lines = list(group)
        if kind is None or len(lines) == 1:
            told += [_describe_one(line) for line in lines]
        else:
            images = sum(_count_images(line.event) for line in lines)
            told.append(TimelineEntry(f"{images} {_MANY[kind]}", lines[0].at))
    return told


def _describe_one(happening: DatedEvent) -> TimelineEntry:
    said = _describe(happening.event)
    return TimelineEntry(said.what, happening.at, said.tone)


def _find_group(event: OrderEvent) -> type[OrderEvent] | None:
    """Return the kind of an event if several in a row become one line."""
    is_bad = isinstance(event, ImageJudged) and event.status is not ImageStatus.OK
    return type(event) if type(event) in _MANY and not is_bad else None


def _count_images(event: OrderEvent) -> int:
    return len(event.images) if isinstance(event, ImagesAdded) else 1


def _describe(event: OrderEvent) -> _TimelineText:
    match event:
        case ImagesAdded() | ImageRemoved() | ImageChanged() | ImageJudged() | ImageRendered():
            return _describe_images(event)
        case OrderCharged() | OrderRefunded() | OrderCompensated() | OrderReprints() | IssueMoved():
            return _describe_money(event)
        case OrderHeld() | OrderReleased():
            return _describe_hold(event)
        case PackingSlipJudged():
            judged = _JUDGED[event.status]
            return _TimelineText(f"The packing slip {judged.what}", judged.tone)
        case ShipmentsChanged() | PrintedElsewhere():
            return _describe_shipments(event)
        case OrderCreated() | OrderMoved() | OrderChanged() | RecipientErased():
            return _describe_order(event)


def _describe_order(
    event: OrderCreated | OrderMoved | OrderChanged | RecipientErased,
) -> _TimelineText:
    match event:
        case RecipientErased():
            return _TimelineText("The recipient's data was erased")
        case OrderCreated():
            return _TimelineText("Created")
        case OrderMoved():
            return _MOVES[event.status]
        case OrderChanged():
            named = [_FIELDS.get(name, name.replace("_", " ")) for name in event.fields]
            return _TimelineText(f"Changed {join(list(dict.fromkeys(named)))}")


def _describe_hold(event: OrderHeld | OrderReleased) -> _TimelineText:
    match event:
        case OrderHeld(shipment=None, reason=reason):
            return _TimelineText(f"Put on hold: {reason}" if reason else "Put on hold", "warn")
        case OrderHeld():
            return _TimelineText(f"Shipment {event.shipment} is held: {event.reason}", "warn")
        case OrderReleased():
            return _TimelineText("Released from hold")


def _describe_images(
    event: ImagesAdded | ImageRemoved | ImageChanged | ImageJudged | ImageRendered,
) -> _TimelineText:
    match event:
        case ImagesAdded():
            return _TimelineText(f"{count(len(event.images), 'image')} added")
        case ImageRemoved():
            return _TimelineText(f"Image {event.image} removed")
        case ImageChanged():
            named = [_IMAGE_FIELDS[name] for name in event.fields]
            return _TimelineText(f"Image {event.image}: {join(named)} changed")
        case ImageJudged():
            return _TimelineText(
                f"Image {event.image} {_JUDGED[event.status].what}", _JUDGED[event.status].tone
            )
        case ImageRendered():
            return _TimelineText(f"The print file of image {event.image} was rendered")


def _describe_money(
    event: OrderCharged | OrderRefunded | OrderCompensated | OrderReprints | IssueMoved,
) -> _TimelineText:
    match event:
        case OrderCharged():
            return _TimelineText(f"{format_money(event.amount, event.currency)} charged")
        case OrderRefunded():
            return _TimelineText(f"{format_money(event.amount, event.currency)} refunded")
        case OrderCompensated(refund=int() as refund, currency=str() as currency):
            return _TimelineText(
                f"{format_money(refund, currency)} refunded for issue {event.issue}", "ok"
            )
        case OrderCompensated():
            again = f": order {event.reprint}" if event.reprint else ""
            return _TimelineText(f"Reprinted for issue {event.issue}{again}", "ok")
        case OrderReprints():
            return _TimelineText(f"Free reprint of order {event.order}")
        case IssueMoved():
            return _TimelineText(f"Issue {event.issue} {_ISSUES[event.state]}", "warn")


def _describe_shipments(event: ShipmentsChanged | PrintedElsewhere) -> _TimelineText:
    if isinstance(event, PrintedElsewhere):
        what = f"{count(len(event.images), 'image')} printed in {_name_countries(event.countries)}"
        return _TimelineText(f"{what}: no lab in {name_country(event.wanted)} is in time", "warn")
    known = {shipment.id: shipment for shipment in event.shipments}
    sent = [one for one in event.changed if one in known and known[one].is_shipped]
    if sent:
        return _TimelineText(f"{_name(sent)} dispatched", "ok")
    # It may have been refused or spoiled, too: how it stands now is said beside the shipment.
    return _TimelineText(f"Update from the lab about {_name(event.changed).lower()}")


def _name(shipments: Iterable[int]) -> str:
    named = [str(one) for one in shipments]
    return f"Shipment {named[0]}" if len(named) == 1 else f"Shipments {join(named)}"


def _name_countries(codes: Sequence[str]) -> str:
    return join([name_country(code) for code in codes])
