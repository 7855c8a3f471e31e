"""The bodies of callbacks, in the format of each version.

Rendered from the event, not the order: the order may have changed by the time it is sent, and the
merchant must be notified of each step in turn.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec

from printworks.rules.callbacks import CallbackEvent, CallbackFormat
from printworks.rules.events import OrderMoved, ShipmentFact, ShipmentsChanged
from printworks.rules.orders import OrderStatus
from printworks.wire.timestamps import show_timestamp


class CallbackShipment(msgspec.Struct, frozen=True):
    """A parcel, and how far it is."""

    items: list[int]
    status: str
    trackingNumber: str | None
    trackingUrl: str | None


class CallbackBody(msgspec.Struct, frozen=True, kw_only=True):
    """What 2.5 and all later versions send; clients read the order's id in either place."""

    orderId: int
    environment: str
    timestamp: str
    status: str
    shipments: list[CallbackShipment]
    id: int
    merchantOrderId: str | None


class EventId(StrEnum):
    """What happened, as 2.3 calls it."""

    STATUS_CHANGED = "orderStatusChanged"
    ITEMS_SHIPPED = "itemsShipped"


class CallbackWithEventData(msgspec.Struct, frozen=True, kw_only=True):
    """What 2.3 sends, which knows no shipments."""

    orderId: int
    environment: str
    timestamp: str
    status: str
    eventData: str
    eventId: EventId
    id: int
    merchantOrderId: str | None


# The status of an order that is paid for and has no picture to print yet, in `eventData` alone.
PAID_AWAITING_IMAGE_UPLOAD: Final = "PaidAwaitingImageUpload"

# The event of a test callback: an order that does not exist.
SAMPLE: Final = OrderMoved(OrderStatus.NOT_YET_SUBMITTED, OrderStatus.SUBMITTED, "test")
SAMPLE_ORDER: Final = 0

_WITH_SHIPMENTS: Final = (OrderMoved, ShipmentsChanged)

# How each version spells statuses.
_SPELL: Final[Mapping[CallbackFormat, Callable[[str], str]]] = {
    CallbackFormat.V3_0: str,
    CallbackFormat.V2_6: str.lower,
    CallbackFormat.V2_5: str.lower,
    CallbackFormat.V2_3: str.lower,
}


def message_id(callback_id: int) -> str:
    """Return the id of a callback, which is the same at every attempt."""
    return f"msg_{callback_id}"


class ChallengeBody(msgspec.Struct, frozen=True):
    """What a new address is sent; its owner sends the challenge back, and nothing else."""

    challenge: str
    environment: str
    event: str = "callback-challenge"


def write_challenge(token: str, *, environment: str) -> bytes:
    """Return the body of the challenge of a new address."""
    return msgspec.json.encode(ChallengeBody(token, environment.upper()))


def render_callback(
    event: CallbackEvent,
    *,
    order_id: int,
    environment: str,
    at: datetime,
    format: CallbackFormat,  # noqa: A002  (its name everywhere)
) -> bytes:
    """Return the body of the callback for an event, the same bytes every time."""
    write = _SPELL[format]
    shared: dict[str, Any] = {
        "orderId": order_id,
        "environment": environment.upper(),
        "timestamp": show_timestamp(at),
        "status": write(_shown_status(event.status)),
        "id": order_id,
        "merchantOrderId": event.merchant_order_id,
    }
    shown: CallbackBody | CallbackWithEventData
    if format is CallbackFormat.V2_3:
        dispatched = _dispatched(event)
        shown = CallbackWithEventData(
            **shared,
            eventData=dispatched or _status_data(event),
            eventId=EventId.ITEMS_SHIPPED if dispatched else EventId.STATUS_CHANGED,
        )
    else:
        shipments = [_show_shipment(shipment, write) for shipment in _shipments_of(event)]
        shown = CallbackBody(**shared, shipments=shipments)
    return msgspec.json.encode(shown)


def carries_news(
    event: CallbackEvent,
    before: CallbackEvent,
    *,
    format: CallbackFormat,  # noqa: A002
) -> bool:
    """Whether the callback of an event tells more than that of the event before it in the order.

    It does not if both bodies are equal but for their timestamps. 2.3 names what happened: a change
    of status, or that something was shipped.
    """
    if format is CallbackFormat.V2_3:
        return bool(_dispatched(event)) or _status_data(event) != _status_data(before)
    return _describe(event) != _describe(before)


def _describe(event: CallbackEvent) -> tuple[object, ...]:
    shipments = [_show_shipment(shipment, str) for shipment in _shipments_of(event)]
    return _shown_status(event.status), event.merchant_order_id, shipments


def _shown_status(status: OrderStatus) -> OrderStatus:
    # The contract's callbacks have no word for an order that waits for its payment.
    if status is OrderStatus.AWAITING_PAYMENT:
        return OrderStatus.NOT_YET_SUBMITTED
    return status


def _shipments_of(event: CallbackEvent) -> list[ShipmentFact]:
    return event.shipments if isinstance(event, _WITH_SHIPMENTS) else []


def _show_shipment(shipment: ShipmentFact, write: Callable[[str], str]) -> CallbackShipment:
    return CallbackShipment(
        items=shipment.items,
        status=write("Shipped" if shipment.is_shipped else "InProgress"),
        trackingNumber=shipment.tracking_number,
        trackingUrl=shipment.tracking_url,
    )


def _status_data(event: CallbackEvent) -> str:
    lacks_images = isinstance(event, _WITH_SHIPMENTS) and event.lacks_images
    if lacks_images and event.status is OrderStatus.SUBMITTED:
        return PAID_AWAITING_IMAGE_UPLOAD
    return event.status


def _dispatched(event: CallbackEvent) -> str:
    """Return the id of the shipment that was dispatched; of several, with commas."""
    changed = event.changed if isinstance(event, ShipmentsChanged) else ()
    shipped = [one.id for one in _shipments_of(event) if one.is_shipped and one.id in changed]
    return ",".join(map(str, shipped))
