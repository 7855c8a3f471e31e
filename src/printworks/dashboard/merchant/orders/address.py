"""The address and shipping of an order: a page of its own, which does not refresh."""

from starlette.responses import Response

from printworks.dashboard.shared.order_actions import OrderAction
from printworks.dashboard.shared.order_address import describe_address, take_address
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.people import Duty
from printworks.store.orders.orders import get_order_to_change
from printworks.store.orders.shipments import get_whole_order


@page_at("/orders/{id}/address", duty=Duty.ORDER)
def show_address(visit: MerchantVisit) -> Response:
    """Show where an order goes, to be changed while that is still possible."""
    whole = get_whole_order(visit.db, visit.merchant.id, visit.number("id"))
    form = describe_address(visit, whole)
    return visit.render("merchant/order_address.html", order=whole.order, form=form)


@show_address.action(OrderAction.CHANGE_SHIPPING, "The address and shipping were changed.")
def take_shipping(visit: MerchantVisit) -> str:
    """Change the address or shipping method of the order."""
    order = get_order_to_change(visit.db, visit.merchant.id, visit.number("id"))
    take_address(visit.work, order, visit.sent)
    return f"/orders/{order.id}"
