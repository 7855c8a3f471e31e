"""Keys that are restricted to one lab."""

from printworks.actions.production.release import find_routing
from printworks.actions.production.routing import ReadyRouting, use_ready
from printworks.actions.work import Work
from printworks.rules.keys import check_labs
from printworks.rules.orders import OrderStatus
from printworks.rules.production import DROPPED
from printworks.rules.routing.model import Routed
from printworks.store.images.images import list_images
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import list_shipments


def check_lab_of_key(work: Work, order: Order, ready: ReadyRouting | None = None) -> None:
    """Refuse to act on an order with a key for one lab, unless that lab makes all of it.

    An order that is not at its labs yet is made by those that would be chosen now.
    """
    key = work.actor.key
    if key is None or key.lab is None:
        return
    if order.status in {OrderStatus.NOT_YET_SUBMITTED, OrderStatus.AWAITING_PAYMENT}:
        routing = use_ready(
            ready, work, order, lambda: find_routing(work, order, list_images(work.db, order.id))
        )
        check_labs(key, routing.plan.labs.values() if isinstance(routing, Routed) else ())
        return
    shipments = list_shipments(work.db, order.id)
    check_labs(key, [one.lab for one in shipments if one.state not in DROPPED])
