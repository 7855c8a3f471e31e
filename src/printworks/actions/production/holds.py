"""Holding an order back, and letting it continue."""

from printworks.actions.production.lab_limits import check_lab_of_key
from printworks.actions.production.release import enqueue_sending, permissions_of
from printworks.actions.work import Work
from printworks.errors import WrongState
from printworks.rules.events import OrderHeld, OrderReleased
from printworks.store.images.images import list_images
from printworks.store.orders.orders import Order, update_order
from printworks.store.orders.shipments import list_shipments


def hold_order(work: Work, order: Order, *, reason: str | None = None) -> Order:
    """Keep an order from being sent to its labs, if all of them allow that.

    A merchant need not give a reason.
    """
    check_lab_of_key(work, order)
    permissions = permissions_of(order, list_shipments(work.db, order.id), work.catalogue)
    if not permissions.hold:
        raise WrongState(f"An order that is {order.status} cannot be held now.")
    held = update_order(work.db, order, {"held_at": work.now, "updated_at": work.now})
    work.record(order.id, OrderHeld(shipment=None, reason=reason))
    # Without the reason, which may tell of the recipient and is in the event.
    work.audit("hold-order", f"order {order.id}")
    return held


def release_order(work: Work, order: Order) -> Order:
    """Let a held order continue."""
    if order.held_at is None:
        raise WrongState("The order is not held.")
    released = update_order(work.db, order, {"held_at": None, "updated_at": work.now})
    work.record(order.id, OrderReleased())
    work.audit("release-order", f"order {order.id}")
    shipments, images = list_shipments(work.db, order.id), list_images(work.db, order.id)
    enqueue_sending(work, released, shipments, images)
    return released
