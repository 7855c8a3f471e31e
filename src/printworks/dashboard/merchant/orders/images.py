"""The images of an open order: add and remove them."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from printworks.actions.images.images import remove_image
from printworks.actions.images.uploads import begin_upload
from printworks.dashboard.merchant.orders.form_values import FormValues
from printworks.dashboard.merchant.orders.print_fields import (
    CHOICE,
    describe_prints,
    read_addresses,
    read_print,
)
from printworks.dashboard.merchant.orders.uploads import (
    PICTURES,
    SAMPLE,
    add_pictures,
    receive_pictures,
)
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import WrongState
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Duty
from printworks.rules.sizing import Sizing
from printworks.store.images.images import list_images_to_show
from printworks.store.orders.orders import Order, get_order, get_order_to_change

_SHOWN: Final = 24
_USUAL: Final[Mapping[str, str]] = {"copies": "1", "sizing": Sizing.CROP}
_FROM_ADDRESS: Final = frozenset({"sku", "copies", "sizing"})
# Where an order goes that has no country yet.
_ANYWHERE: Final = "GB"
_CLOSED: Final[Mapping[OrderStatus, str]] = {
    OrderStatus.AWAITING_PAYMENT: "The order is awaiting payment, so its images cannot be changed.",
    OrderStatus.SUBMITTED: "The order is submitted, so its images cannot be changed.",
    OrderStatus.COMPLETE: "The order is complete, so its images cannot be changed.",
    OrderStatus.CANCELLED: "The order is cancelled, so its images cannot be changed.",
}
_BEING_PAID: Final = "The order is being paid for. Wait until that is done."


@page_at("/orders/{id}/images", duty=Duty.ORDER)
def show_images(visit: MerchantVisit) -> Response:
    """Show the images of an order, newest first, and the form for more."""
    order = get_order(visit.db, visit.merchant.id, visit.number("id"))
    images = list_images_to_show(visit.db, order.id)[::-1]
    etag = visit.etag(order.updated_at, [(image.id, image.updated_at) for image in images])
    before = visit.cursor()
    shown, last = cut([one for one in images if before is None or one.id < before], _SHOWN)
    services, links = visit.services, visit.links
    return visit.render(
        "merchant/adding_images.html",
        order=order,
        currency=order.currency or visit.merchant.currency,
        images=[
            describe_image(image, order, services.catalogue, links, services.sharpness)
            for image in shown
        ],
        pages=visit.pages(last.id if last else None),
        is_waiting=any(image.status is ImageStatus.NOT_YET_DOWNLOADED for image in images),
        etag=etag,
        why_not=_explain(order),
        **_describe_form(visit, order),
    )


def _describe_form(visit: MerchantVisit, order: Order) -> dict[str, Any]:
    values = FormValues(visit, _USUAL, _FROM_ADDRESS, beginning_with=CHOICE)
    return {
        "values": values,
        "prints": describe_prints(visit, values["sku"], order.destination_country or _ANYWHERE),
        "is_sandbox": visit.services.is_sandbox,
        "wants_sample": visit.sent.text(SAMPLE) != "",
        # Files that the browser does not send again, or that could not be stored.
        "lost_pictures": len(visit.sent.files.get(PICTURES, ())),
        "has_lost_pictures": visit.query.get("lost") == PICTURES,
    }


def _explain(order: Order) -> str:
    """Say why the images of an order cannot be changed; empty if they can."""
    if order.status in _CLOSED:
        return _CLOSED[order.status]
    return _BEING_PAID if order.payment_request_id is not None else ""


@show_images.action("add-images", "The images were added.", alone=True)
def add(visit: MerchantVisit) -> None:
    """Add pictures to an order, all or none."""
    order_id = visit.number("id")
    with visit.services.database.reading() as db:
        order = get_order(db, visit.merchant.id, order_id)
    if why_not := _explain(order):
        raise WrongState(why_not)
    wanted = read_print(visit, country=order.destination_country, payment=order.payment)
    addressed = read_addresses(visit, wanted)
    with receive_pictures(visit, addressed) as pictures:
        with visit.services.database.writing() as db:
            order = get_order_to_change(db, visit.merchant.id, order_id)
            uploads = [begin_upload(visit.work_in(db), order, wanted) for _ in pictures]
        add_pictures(visit, order_id, uploads, pictures, addressed)


@show_images.action("remove-image", "The image was removed.")
def remove(visit: MerchantVisit) -> None:
    order = get_order_to_change(visit.db, visit.merchant.id, visit.number("id"))
    remove_image(visit.work, order, visit.sent.number("image") or 0)


# For browsers that do not ask for it by themselves.
show_images.action("show-product-for-images", only_shows=True)(show_images)
