"""Lists of orders with what belongs to them, for whoever shows all of it at once."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from printworks.rules.orders import OrderStatus
from printworks.rules.production import DROPPED
from printworks.store.images.images import list_images_of_orders
from printworks.store.labs.shipments import Shipment, WholeOrder
from printworks.store.orders.orders import ROWS_AT_ONCE, Order, list_orders
from printworks.store.tables import shipments


def list_whole_orders(
    db: Connection,
    merchant_id: int,
    *,
    limit: int | None,
    start: int,
    status: OrderStatus | None = None,
    merchant_order_id: str | None = None,
) -> list[WholeOrder]:
    """Return the orders that `list_orders` does, with their images and shipments."""
    page = list_orders(
        db,
        merchant_id,
        limit=limit,
        start=start,
        status=status,
        merchant_order_id=merchant_order_id,
    )
    whole: list[WholeOrder] = []
    for first in range(0, len(page.orders), ROWS_AT_ONCE):
        whole += _complete(db, page.orders[first : first + ROWS_AT_ONCE])
    return whole


def _complete(db: Connection, orders: Sequence[Order]) -> list[WholeOrder]:
    # What has no images has no shipments either.
    ids = [order.id for order in orders if order.image_count]
    images = list_images_of_orders(db, ids) if ids else {}
    travelling = _list_shipments(db, ids) if ids else {}
    return [
        WholeOrder(order, images.get(order.id, []), travelling.get(order.id, []))
        for order in orders
    ]


def _list_shipments(db: Connection, order_ids: Sequence[int]) -> dict[int, list[Shipment]]:
    by_order: dict[int, list[Shipment]] = {}
    wanted = (
        select(*(shipments.c[name] for name in Shipment.__struct_fields__))
        .where(shipments.c.order_id.in_(order_ids))
        .order_by(shipments.c.id)
    )
    for row in db.execute(wanted):
        shipment = Shipment(*row)
        if shipment.state not in DROPPED:
            by_order.setdefault(shipment.order_id, []).append(shipment)
    return by_order
