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
        data, kind = _event_data(event), _event_id(event)
        shown = CallbackWithEventData(**shared, eventData=data, eventId=kind)
    else:
        shipments = [_show_shipment(shipment, write) for shipment in _shipments_of(event)]
        shown = CallbackBody(**shared, shipments=shipments)
    return msgspec.json.encode(shown)


def _shown_status(status: OrderStatus) -> OrderStatus:
    # The contract's callbacks have no word for an order that waits for its payment.
    if status is OrderStatus.AWAITING_PAYMENT:
        return OrderStatus.NOT_YET_SUBMITTED
    return status


def _shipments_of(event: CallbackEvent) -> list[ShipmentFact]:
    return event.shipments if isinstance(event, OrderMoved | ShipmentsChanged) else []


def _show_shipment(shipment: ShipmentFact, write: Callable[[str], str]) -> CallbackShipment:
    return CallbackShipment(
        items=shipment.items,
        status=write("Shipped" if shipment.is_shipped else "InProgress"),
        trackingNumber=shipment.tracking_number,
        trackingUrl=shipment.tracking_url,
    )


def _event_data(event: CallbackEvent) -> str:
    lacks_images = isinstance(event, OrderMoved) and event.lacks_images
    if lacks_images and event.status is OrderStatus.SUBMITTED:
        return PAID_AWAITING_IMAGE_UPLOAD
    return event.status


def _event_id(event: CallbackEvent) -> EventId:
    """Return the id of what happened; a planned shipment is not shipped."""
    if isinstance(event, ShipmentsChanged) and any(
        shipment.is_shipped and shipment.id in event.changed for shipment in event.shipments
    ):
        return EventId.ITEMS_SHIPPED
    return EventId.STATUS_CHANGED
