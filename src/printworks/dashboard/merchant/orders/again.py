"""The page on which an order is ordered again."""

from starlette.responses import Response

from printworks.actions.orders.again import (
    copy_proofs_again,
    list_again,
    order_again,
    plan_again,
)
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.paging import choose_page
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import ServiceUnavailable
from printworks.files.errors import FilesUnavailable
from printworks.rules.people import Duty
from printworks.store.orders.orders import get_order

_SHOWN = 24


@page_at("/orders/{id}/again", duty=Duty.ORDER)
def show_again(visit: MerchantVisit) -> Response:
    """Show what would be in the new order, and what could not."""
    order = get_order(visit.db, visit.merchant.id, visit.number("id"))
    items = list_again(visit.work, order.id)
    page = choose_page(visit, items, _SHOWN)
    catalogue, links = visit.services.catalogue, visit.links
    return visit.render(
        "merchant/again.html",
        order=order,
        items=[
            (item, describe_image(item.image, order, catalogue, links, visit.services.sharpness))
            for item in page.shown
        ],
        count=len(items),
        fetched=sum(not item.is_stored for item in items if not item.why_not),
        left_out=sum(bool(item.why_not) for item in items),
        pages=page.links,
    )


@show_again.action("order-again", "The draft was created. Check it, then submit it.", alone=True)
def again(visit: MerchantVisit) -> str:
    """Create the draft; proofs are copied between two transactions."""
    order_id, database = visit.number("id"), visit.services.database
    with database.writing() as db:
        plan = plan_again(visit.work_in(db), order_id)
    try:
        copy_proofs_again(visit.services.files, plan)
    except FilesUnavailable as error:
        message = "Files are temporarily unavailable. Try again in a few minutes."
        raise ServiceUnavailable(message) from error
    with database.writing() as db:
        created = order_again(visit.work_in(db), order_id, plan)
        visit.remember(db, f"/orders/{created.id}")
    return f"/orders/{created.id}"
