"""What operators change in an order on behalf of its merchant, by the merchant's own rules."""

from starlette.responses import Response

from printworks.dashboard.shared.order_address import describe_address, take_address
from printworks.dashboard.shared.replaced_pictures import take_picture
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import WrongState
from printworks.rules.images import check_replacing
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import get_image_of_order
from printworks.store.orders.shipments import get_whole_order
from printworks.store.views.console.orders import get_any_order


@page_at("/console/orders/{id}/address")
def show_address(visit: ConsoleVisit) -> Response:
    """Show where an order goes, to be corrected while that is still possible."""
    order = get_any_order(visit.db, visit.number("id"))
    form = describe_address(visit, get_whole_order(visit.db, order.merchant_id, order.id))
    return visit.render(
        "console/order_address.html",
        order=order,
        form=form,
        merchant=get_merchant(visit.db, order.merchant_id),
        may_support=visit.may(Duty.SUPPORT),
    )


@show_address.action("support-address", "The address and shipping were changed.", duty=Duty.SUPPORT)
def change_address(visit: ConsoleVisit) -> str:
    """Change the address or shipping method of the order."""
    work, order = visit.system_work.lock_order(visit.number("id"))
    take_address(work, order, visit.sent)
    return f"/console/orders/{order.id}"


@page_at("/console/orders/{id}/images/{image}")
def show_image(visit: ConsoleVisit) -> Response:
    """Show an image, and the form for another picture."""
    order = get_any_order(visit.db, visit.number("id"))
    image = get_image_of_order(visit.db, order.id, visit.number("image"))
    why_not = ""
    try:
        check_replacing(order.status, image.status)
    except WrongState as refusal:
        why_not = refusal.message
    return visit.render(
        "console/order_image.html",
        order=order,
        image=image,
        merchant=get_merchant(visit.db, order.merchant_id),
        why_not=why_not,
        may_support=visit.may(Duty.SUPPORT),
        proof=visit.links.proofs(image.id)[0] if image.has_proofs else "",
    )


@show_image.action("replace-picture", "The picture was replaced.", duty=Duty.SUPPORT, alone=True)
def replace_picture(visit: ConsoleVisit) -> str:
    """Give an image another picture: by address, or a file that is validated at once."""
    order_id = visit.number("id")
    take_picture(
        visit,
        visit.number("image"),
        lambda db: visit.system_work_in(db).lock_order(order_id),
    )
    return f"/console/orders/{order_id}"
