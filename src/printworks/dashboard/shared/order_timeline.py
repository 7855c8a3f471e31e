"""The timeline of an order."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple

from printworks.catalogue.country_names import name_country
from printworks.dashboard.shared.labels import Tone, count, join
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
    ShipmentsDelivered,
)
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.store.orders.history import DatedEvent


class TimelineEntry(NamedTuple):
    """A line of the timeline."""

    what: str
    at: datetime
    tone: Tone = ""
    # Another order that it tells of.
    order: int | None = None
    # The lines that it stands for, newest first; how many more there are.
    details: tuple["TimelineEntry", ...] = ()
    more: int = 0


class _TimelineText(NamedTuple):
    what: str
    tone: Tone = ""
    order: int | None = None


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
# What a lab did.
_AT_LABS: Final[Mapping[LabState, _TimelineText]] = {
    LabState.OFFERED: _TimelineText("Offered to a lab"),
    LabState.ACCEPTED: _TimelineText("Accepted by the lab"),
    LabState.IN_PRODUCTION: _TimelineText("Printing"),
    LabState.DISPATCHED: _TimelineText("Dispatched", "ok"),
    LabState.DELIVERED: _TimelineText("Delivered", "ok"),
    LabState.REJECTED: _TimelineText("Declined by the lab", "warn"),
    LabState.CANCELLED: _TimelineText("Cancelled at the lab"),
    LabState.FAILED: _TimelineText("The lab could not make it", "error"),
}
# What is said of several images in a row.
_MANY: Final[Mapping[type[OrderEvent], str]] = {
    ImagesAdded: "images added",
    ImageRemoved: "images removed",
    ImageChanged: "changes of images",
    ImageJudged: "images arrived",
    ImageRendered: "print files rendered",
}
# So many lines are behind one line at most.
_MOST_DETAILS: Final = 40


def describe_timeline(happenings: Sequence[DatedEvent]) -> list[TimelineEntry]:
    """Describe events, newest first.

    What happens to many images in a row becomes a line of each kind, and equal lines in a row
    become one; what they stand for is in their details.
    """
    has_several = any(_count_shipments(one.event) > 1 for one in happenings)
    told: list[TimelineEntry] = []
    for is_of_images, group in groupby(happenings, key=lambda one: _is_groupable(one.event)):
        if is_of_images:
            told += _describe_many(list(group))
        else:
            told += [_describe_one(one, has_several=has_several) for one in group]
    return _join_equal(told)


def _is_groupable(event: OrderEvent) -> bool:
    """Whether several of these in a row, of whichever images, become one line of each kind."""
    is_bad = isinstance(event, ImageJudged) and event.status is not ImageStatus.OK
    return type(event) in _MANY and not is_bad


def _describe_many(happenings: Sequence[DatedEvent]) -> list[TimelineEntry]:
    """Describe events of images in a row: a line of each kind, in the order of the latest ones."""
    by_kind: dict[type[OrderEvent], list[DatedEvent]] = {}
    for one in happenings:
        by_kind.setdefault(type(one.event), []).append(one)
    told = []
    for kind, events in by_kind.items():
        details = [_describe_one(one, has_several=False) for one in events]
        if len(details) == 1:
            told += details
        else:
            images = sum(_count_images(one.event) for one in events)
            told.append(_stand_for(f"{images:,} {_MANY[kind]}", details))
    return told


def _join_equal(entries: Sequence[TimelineEntry]) -> list[TimelineEntry]:
    """Let one line stand for equal ones in a row."""
    joined = []
    for (what, _), group in groupby(entries, key=lambda entry: (entry.what, entry.details)):
        equal = list(group)
        joined.append(
            equal[0] if len(equal) == 1 else _stand_for(f"{what}, {len(equal)} times", equal)
        )
    return joined


def _stand_for(what: str, details: Sequence[TimelineEntry]) -> TimelineEntry:
    newest = details[0]
    shown = tuple(details[:_MOST_DETAILS])
    return newest._replace(what=what, details=shown, more=len(details) - len(shown))


def _describe_one(happening: DatedEvent, *, has_several: bool) -> TimelineEntry:
    said = _describe(happening.event, has_several=has_several)
    return TimelineEntry(said.what, happening.at, said.tone, said.order)


def _count_images(event: OrderEvent) -> int:
    return len(event.images) if isinstance(event, ImagesAdded) else 1


def _count_shipments(event: OrderEvent) -> int:
    return len(event.shipments) if isinstance(event, OrderMoved | ShipmentsChanged) else 0


def _describe(event: OrderEvent, *, has_several: bool) -> _TimelineText:
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
        case ShipmentsChanged() | ShipmentsDelivered() | PrintedElsewhere():
            return _describe_shipments(event, has_several=has_several)
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
            return _TimelineText(f"Reprinted for issue {event.issue}{again}", "ok", event.reprint)
        case OrderReprints():
            return _TimelineText(f"Free reprint of order {event.order}", "", event.order)
        case IssueMoved():
            return _TimelineText(f"Issue {event.issue} {_ISSUES[event.state]}", "warn")


def _describe_shipments(
    event: ShipmentsChanged | ShipmentsDelivered | PrintedElsewhere, *, has_several: bool
) -> _TimelineText:
    match event:
        case ShipmentsChanged():
            return _describe_at_labs(_find_state(event), event.changed, has_several=has_several)
        case ShipmentsDelivered():
            return _describe_at_labs(LabState.DELIVERED, event.shipments, has_several=has_several)
        case PrintedElsewhere():
            printed = f"{count(len(event.images), 'image')} printed in"
            countries = join([name_country(code) for code in event.countries])
            why = f"no lab in {name_country(event.wanted)} is in time"
            return _TimelineText(f"{printed} {countries}: {why}", "warn")


def _find_state(event: ShipmentsChanged) -> LabState:
    """Return what has become of the shipments that changed."""
    if event.state is not None:
        return event.state
    known = {shipment.id: shipment for shipment in event.shipments}
    are_sent = any(one in known and known[one].is_shipped for one in event.changed)
    return LabState.DISPATCHED if are_sent else LabState.OFFERED


def _describe_at_labs(
    state: LabState, shipments: Sequence[int], *, has_several: bool
) -> _TimelineText:
    """Say what became of shipments; which they are only where there are others."""
    said = _AT_LABS[state]
    if not has_several:
        return said
    what = f"{_name(shipments)}: {said.what[:1].lower()}{said.what[1:]}"
    return said._replace(what=what)


def _name(shipments: Iterable[int]) -> str:
    named = [str(one) for one in shipments]
    return f"Shipment {named[0]}" if len(named) == 1 else f"Shipments {join(named)}"
