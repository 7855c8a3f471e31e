"""Lists of orders with their images and shipments."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from printworks.rules.production import DROPPED
from printworks.store.engine.rows import ROWS_AT_ONCE, group_by
from printworks.store.images.images import list_images_of_orders
from printworks.store.orders.filters import EVERY_ORDER, OrderFilter, list_filtered_orders
from printworks.store.orders.orders import Order
from printworks.store.orders.pages import list_orders
from printworks.store.orders.shipments import COLUMNS, Shipment, WholeOrder
from printworks.store.tables import shipments


def list_some_orders(
    db: Connection, merchant_id: int, wanted: OrderFilter, *, limit: int, start: int
) -> list[Order]:
    """Return the orders that fit, newest first, after skipping `start` of them."""
    if wanted == EVERY_ORDER:
        return list_orders(db, merchant_id, limit=limit, start=start).orders
    return list_filtered_orders(db, merchant_id, wanted, limit=limit, start=start)


def complete_orders(db: Connection, page: Sequence[Order]) -> list[WholeOrder]:
    """Return these orders, which are the merchant's, with their images and shipments."""
    whole: list[WholeOrder] = []
    for first in range(0, len(page), ROWS_AT_ONCE):
        whole += _complete(db, page[first : first + ROWS_AT_ONCE])
    return whole


def _complete(db: Connection, page: Sequence[Order]) -> list[WholeOrder]:
    # An order without images has no shipments either.
    ids = [order.id for order in page if order.image_count]
    images = list_images_of_orders(db, ids) if ids else {}
    travelling = _list_shipments(db, ids) if ids else {}
    return [
        WholeOrder(order, images.get(order.id, []), travelling.get(order.id, [])) for order in page
    ]


def _list_shipments(db: Connection, order_ids: Sequence[int]) -> dict[int, list[Shipment]]:
    wanted = select(*COLUMNS).where(shipments.c.order_id.in_(order_ids)).order_by(shipments.c.id)
    found = (Shipment(*row) for row in db.execute(wanted))
    kept = (shipment for shipment in found if shipment.state not in DROPPED)
    return group_by(kept, lambda shipment: shipment.order_id)
