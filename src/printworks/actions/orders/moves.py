"""The one function that moves an order, and what it says of its shipments."""

from datetime import datetime

from sqlalchemy import Connection

from printworks.errors import WrongState
from printworks.rules.events import OrderMoved, ShipmentFact
from printworks.rules.orders import OrderStatus, check_move
from printworks.rules.production import DROPPED, LabState
from printworks.store.labs.shipments import Shipments
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, update_order

CHANGED_MEANWHILE = "The order has just changed. Read it again before you retry."


def move_order(
    db: Connection,
    order: Order,
    wanted: OrderStatus,
    shipments: Shipments = (),
    *,
    now: datetime,
    lacks_images: bool = False,
    **values: object,
) -> Order:
    """Change the status and remember that it happened: all or nothing."""
    check_move(order.status, wanted)
    moved = update_order(db, order, {"status": wanted, "updated_at": now, **values})
    if moved is None:
        raise WrongState(CHANGED_MEANWHILE)
    happened = OrderMoved(
        order.status,
        wanted,
        order.merchant_order_id,
        show_shipments(shipments),
        lacks_images=lacks_images,
    )
    record_event(db, order.id, happened, now=now)
    return moved


def show_shipments(shipments: Shipments) -> list[ShipmentFact]:
    """Say what is true of shipments now, for whoever tells of it later."""
    return [
        ShipmentFact(
            id=shipment.id,
            items=shipment.image_ids,
            is_shipped=shipment.state is LabState.DISPATCHED,
            carrier=shipment.carrier,
            tracking_number=shipment.tracking_number,
            tracking_url=shipment.tracking_url,
        )
        for shipment in shipments
        if shipment.state is not None and shipment.state not in DROPPED
    ]
