"""The images of an open order: add and remove them."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from printworks.actions.images.images import remove_image
from printworks.actions.images.uploads import Upload, begin_upload
from printworks.dashboard.merchant.orders.drafts import answer, answer_problem, describe_added
from printworks.dashboard.merchant.orders.form_values import FormValues
from printworks.dashboard.merchant.orders.print_fields import read_addresses, read_print
from printworks.dashboard.merchant.orders.product_choice import (
    CHOICE,
    LOOKED_FOR,
    describe_choice,
    find_chosen,
)
from printworks.dashboard.merchant.orders.refused_files import read_refused, say_refused
from printworks.dashboard.merchant.orders.running_price import describe_price
from printworks.dashboard.merchant.orders.uploads import (
    PICTURES,
    SAMPLE,
    ReceivedPictures,
    add_pictures,
    receive_pictures,
)
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.assets import address_of
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput, NotFound, ServiceError, WrongState
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Duty
from printworks.rules.sizing import Sizing
from printworks.store.images.images import NewImage, get_image_of_order, list_images_to_show
from printworks.store.orders.orders import Order, get_order, get_order_to_change

_SHOWN: Final = 24
_USUAL: Final[Mapping[str, str]] = {"copies": "1", "sizing": Sizing.CROP}
_FROM_ADDRESS: Final = frozenset({"sku", "copies", "sizing", *LOOKED_FOR})
# Where an order goes that has no country yet.
_ANYWHERE: Final = "GB"
_CLOSED: Final[Mapping[OrderStatus, str]] = {
    OrderStatus.AWAITING_PAYMENT: "The order is awaiting payment, so its images cannot be changed.",
    OrderStatus.SUBMITTED: "The order is submitted, so its images cannot be changed.",
    OrderStatus.COMPLETE: "The order is complete, so its images cannot be changed.",
    OrderStatus.CANCELLED: "The order is cancelled, so its images cannot be changed.",
}
_ONE_AT_A_TIME: Final = "Send one picture at a time."
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
        with_files=True,
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
        refused=read_refused(visit),
        **_describe_form(visit, order),
    )


def _describe_form(visit: MerchantVisit, order: Order) -> dict[str, Any]:
    country = order.destination_country or _ANYWHERE
    usual = {**_USUAL, "country": country, "shipping_method": order.shipping_method}
    values = FormValues(visit, usual, _FROM_ADDRESS, beginning_with=CHOICE)
    product = find_chosen(visit, values, country)
    return {
        "values": values,
        "choice": describe_choice(visit, values, country, product),
        "price": describe_price(visit, values, order, product),
        "room": max(0, visit.services.settings.order_images - order.image_count),
        "is_sandbox": visit.services.is_sandbox,
        "sample": address_of("sample.jpg"),
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
def add(visit: MerchantVisit) -> str:
    """Add pictures to an order; the next page says which of them cannot be printed."""
    order, wanted = _read_wanted(visit)
    addressed = read_addresses(visit, wanted)
    with receive_pictures(visit, addressed) as received:
        with visit.services.database.writing() as db:
            order = get_order_to_change(db, visit.merchant.id, order.id)
            uploads = [begin_upload(visit.work_in(db), order, wanted) for _ in received.pictures]
        refused = add_pictures(visit, order.id, uploads, received, addressed)
    return say_refused(visit, visit.path, refused)


@show_images.action("add-picture", alone=True)
def add_one(visit: MerchantVisit) -> Response:
    """Add one picture, and answer the script that sent it with what became of it."""
    try:
        order, wanted = _read_wanted(visit)
        with receive_pictures(visit, ()) as received:
            if len(received.pictures) > 1:
                raise BadInput(_ONE_AT_A_TIME)
            upload = _begin(visit, order.id, wanted)
            return _complete(visit, upload, received)
    except NotFound:
        raise
    except ServiceError as refusal:
        return answer_problem(refusal.message)


def _begin(visit: MerchantVisit, order_id: int, wanted: NewImage) -> Upload:
    with visit.services.database.writing() as db:
        order = get_order_to_change(db, visit.merchant.id, order_id)
        return begin_upload(visit.work_in(db), order, wanted)


def _complete(visit: MerchantVisit, upload: Upload, received: ReceivedPictures) -> Response:
    try:
        add_pictures(visit, upload.order_id, [upload], received, ())
    except BadInput as refusal:
        # Of the file itself: it would be refused again.
        return answer_problem(refusal.message, is_final=True)
    with visit.services.database.reading() as db:
        order = get_order(db, visit.merchant.id, upload.order_id)
        image = get_image_of_order(db, order.id, upload.image_id)
        return answer(describe_added(visit.within(db), order, image))


def _read_wanted(visit: MerchantVisit) -> tuple[Order, NewImage]:
    """Return the order, if images can be added to it, and how they should be printed."""
    with visit.services.database.reading() as db:
        order = get_order(db, visit.merchant.id, visit.number("id"))
    if why_not := _explain(order):
        raise WrongState(why_not)
    return order, read_print(visit, country=order.destination_country, payment=order.payment)


@show_images.action("remove-image", "The image was removed.")
def remove(visit: MerchantVisit) -> None:
    order = get_order_to_change(visit.db, visit.merchant.id, visit.number("id"))
    # A button inside another form says it in the address.
    image_id = visit.sent.number("image") or read_number(visit.query.get("image", "")) or 0
    remove_image(visit.work, order, image_id)


# For browsers that do not ask for it by themselves.
show_images.action("show-product-for-images", only_shows=True)(show_images)
