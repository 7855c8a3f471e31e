"""What somebody sees of an order who has the link to follow it."""

import msgspec

from printworks.actions.work import SystemWork
from printworks.errors import NotFound
from printworks.rules.order_progress import may_follow
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.accounts.shops import Shop, get_shop
from printworks.store.images.images import Image, list_images_to_show
from printworks.store.orders.orders import Order, get_followed_order
from printworks.store.orders.shipments import Shipment, list_shipments


class TrackedOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order on its way to its recipient."""

    order: Order
    merchant: Merchant
    shop: Shop
    images: list[Image]
    # Without those that were replaced.
    shipments: list[Shipment]


def find_tracked_order(system: SystemWork, order_id: int) -> TrackedOrder | None:
    """Return an order to somebody with its link.

    None if there is none, if it was not submitted yet or has ended long ago, or if its recipient
    was erased.
    """
    try:
        order = get_followed_order(system.db, order_id)
    except NotFound:
        return None
    merchant = get_merchant(system.db, order.merchant_id)
    work = system.for_merchant(merchant)
    if not may_follow(order.status, order.updated_at, now=work.now):
        return None
    return TrackedOrder(
        order=order,
        merchant=merchant,
        shop=get_shop(work.db, merchant.id),
        images=list_images_to_show(work.db, order.id),
        shipments=list_shipments(work.db, order.id),
    )
