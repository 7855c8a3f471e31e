"""Changes of an order's status, with an event that describes its shipments."""

from printworks.actions.work import Work
from printworks.rules.events import OrderMoved, ShipmentFact
from printworks.rules.orders import OrderStatus, check_move
from printworks.rules.production import DROPPED, SENT
from printworks.store.orders.orders import Order, update_order
from printworks.store.orders.shipments import Shipments


def move_order(
    work: Work,
    order: Order,
    wanted: OrderStatus,
    shipments: Shipments = (),
    *,
    lacks_images: bool = False,
    **values: object,
) -> Order:
    """Change the status of an order and record the event."""
    check_move(order.status, wanted)
    moved = update_order(work.db, order, {"status": wanted, "updated_at": work.now, **values})
    happened = OrderMoved(
        order.status,
        wanted,
        order.merchant_order_id,
        show_shipments(shipments),
        lacks_images=lacks_images,
    )
    work.record(order.id, happened)
    return moved


def show_shipments(shipments: Shipments) -> list[ShipmentFact]:
    """Return the present state of shipments, for an event."""
    return [
        ShipmentFact(
            id=shipment.id,
            items=shipment.image_ids,
            is_shipped=shipment.state in SENT,
            carrier=shipment.carrier if shipment.state in SENT else None,
            tracking_number=shipment.tracking_number,
            tracking_url=shipment.tracking_url,
        )
        for shipment in shipments
        if shipment.state is not None and shipment.state not in DROPPED
    ]
