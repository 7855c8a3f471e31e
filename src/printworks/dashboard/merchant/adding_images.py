"""The images of an order that is still open: add some, take some away."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from printworks.actions.images.images import remove_image
from printworks.dashboard.merchant.form_values import FormValues
from printworks.dashboard.merchant.print_fields import (
    CHOICE,
    describe_prints,
    read_addresses,
    read_print,
)
from printworks.dashboard.merchant.uploading import (
    PICTURES,
    SAMPLE,
    announce,
    join,
    judge_all,
    receive_pictures,
)
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.words import ORDER_WORDS
from printworks.dashboard.site.etag import make_etag
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import WrongState
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.sizing import Sizing
from printworks.store.images.images import list_images_to_show
from printworks.store.orders.orders import Order, get_order, get_order_to_change

_SHOWN: Final = 24
_USUAL: Final[Mapping[str, str]] = {"copies": "1", "sizing": Sizing.CROP}
_FROM_ADDRESS: Final = frozenset({"sku", "copies", "sizing"})
# Where an order goes that has no country yet.
_ANYWHERE: Final = "GB"
_CLOSED: Final[Mapping[OrderStatus, str]] = {
    OrderStatus.AWAITING_PAYMENT: "The order waits for its payment, so its images stay as they are.",
    OrderStatus.SUBMITTED: "The order is submitted, so its images stay as they are.",
    OrderStatus.COMPLETE: "The order is complete, so its images stay as they are.",
    OrderStatus.CANCELLED: "The order is cancelled, so nothing will be printed.",
}
_BEING_PAID: Final = "The order is being paid for at this moment. Wait for the end of that."


def show_images(visit: MerchantVisit) -> Response:
    """Show the images of an order, newest first, and the form for more."""
    order = get_order(visit.db, visit.merchant.id, visit.number("id"))
    images = list_images_to_show(visit.db, order.id)[::-1]
    etag = make_etag(order.updated_at, [(image.id, image.updated_at) for image in images])
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    before = visit.cursor()
    below = [image for image in images if before is None or image.id < before]
    catalogue, links = visit.services.catalogue, visit.links
    return visit.render(
        "merchant/adding_images.html",
        order=order,
        words=ORDER_WORDS[order.status],
        currency=order.currency or visit.merchant.currency,
        images=[describe_image(image, order, catalogue, links) for image in below[:_SHOWN]],
        pages=visit.pages(below[_SHOWN - 1].id if len(below) > _SHOWN else None),
        is_waiting=any(image.status is ImageStatus.NOT_YET_DOWNLOADED for image in images),
        etag=etag,
        why_not=_explain(order),
        **_describe_form(visit, order),
    )


def _describe_form(visit: MerchantVisit, order: Order) -> dict[str, Any]:
    values = FormValues(visit, _USUAL, _FROM_ADDRESS, beginning_with=CHOICE)
    return {
        "values": values,
        "prints": describe_prints(
            visit.services.catalogue,
            country=order.destination_country or _ANYWHERE,
            wanted=values["sku"],
            currency=visit.merchant.currency,
        ),
        "is_sandbox": visit.services.is_sandbox,
        "wants_sample": visit.sent.text(SAMPLE) != "",
        # What a browser forgets when the form is shown once more, or what we could not keep.
        "lost_pictures": len(visit.sent.files.get(PICTURES, ())),
        "has_lost_pictures": visit.query.get("lost") == PICTURES,
    }


def _explain(order: Order) -> str:
    """Say why the images of an order cannot be changed; nothing if they can."""
    if order.status in _CLOSED:
        return _CLOSED[order.status]
    return _BEING_PAID if order.payment_request_id is not None else ""


def add(visit: MerchantVisit) -> str:
    """Add pictures to an order, all of them or none."""
    order_id = visit.number("id")
    with visit.services.database.reading() as db:
        order = get_order(db, visit.merchant.id, order_id)
    if why_not := _explain(order):
        raise WrongState(why_not)
    wanted = read_print(
        visit.sent,
        visit.services.catalogue,
        country=order.destination_country,
        payment=order.payment,
        currency=visit.merchant.currency,
    )
    addressed = read_addresses(visit.sent, wanted)
    with receive_pictures(visit, addressed) as pictures:
        with visit.services.database.writing() as db:
            order = get_order_to_change(db, visit.merchant.id, order_id)
            uploads = announce(visit.within(db), order, pictures, wanted)
        judged = judge_all(visit, uploads, pictures)
        with visit.services.database.writing() as db:
            writing = visit.within(db)
            join(writing, order_id, uploads, judged, addressed)
            added = len(uploads) + len(addressed)
            writing.note("add-images", f"order {order_id}", images=added)
    return f"/orders/{order_id}/images"


def remove(visit: MerchantVisit) -> str:
    """Take one image from an order."""
    order = get_order_to_change(visit.db, visit.merchant.id, visit.number("id"))
    image_id = visit.sent.number("image") or 0
    remove_image(
        visit.db,
        visit.merchant,
        order,
        image_id,
        catalogue=visit.services.catalogue,
        now=visit.now,
    )
    visit.note("remove-image", f"order {order.id}", image=image_id)
    return f"/orders/{order.id}/images"


PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    Page(
        path="/orders/{id}/images",
        show=show_images,
        form_actions=(
            FormAction(name="add-images", take=add, says="The images were added.", alone=True),
            FormAction(name="remove-image", take=remove, says="The image was removed."),
            # For browsers that do not ask for it by themselves.
            FormAction(name="show-product-for-images", take=show_images),
        ),
    ),
)
