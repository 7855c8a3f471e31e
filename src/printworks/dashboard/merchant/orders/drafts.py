"""An order that exists before it is complete, so that its pictures can come one by one."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import JSONResponse, Response

from printworks.actions.orders.orders import create_order
from printworks.catalogue.country_names import name_country
from printworks.dashboard.shared.labels import join
from printworks.dashboard.shared.order_images import ImageView, describe_image
from printworks.dashboard.shared.recipient_fields import read_method
from printworks.dashboard.site.forms import read_choice, read_number
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput, ServiceError
from printworks.rules.orders import Payment
from printworks.store.images.images import Image, list_images_to_show, sum_items
from printworks.store.orders.orders import NewOrder, Order, get_order

# The tiles of more pictures would make the page long; the page of the images has them all.
_SHOWN: Final = 48
_NOT_KEPT: Final = {"Cache-Control": "no-store"}
# Fields of the form, by the names of the order.
_FIELDS: Final[Mapping[str, str]] = {
    "country": "destination_country",
    "reference": "merchant_order_id",
    **{
        name: name
        for name in (
            *("recipient_name", "address1", "address2", "town_or_city", "state_or_county"),
            *("postal_code", "telephone", "email", "shipping_method", "payment"),
        )
    },
}


def find_draft(visit: MerchantVisit) -> Order | None:
    """Return the order that the page continues, if it names one; somebody else's is not found."""
    number = visit.sent.number("order") or read_number(visit.query.get("order", ""))
    return None if number is None else get_order(visit.db, visit.merchant.id, number)


def values_of(draft: Order | None) -> dict[str, str]:
    """Return what a draft knows already, by the fields of the form."""
    if draft is None:
        return {}
    known = {field: getattr(draft, name) for field, name in _FIELDS.items()}
    return {field: str(value) for field, value in known.items() if value is not None}


def check_sold(visit: MerchantVisit, draft: Order | None, country: str) -> None:
    """Refuse a country to which one of the pictures cannot be sent as it is."""
    if draft is None:
        return
    catalogue = visit.services.catalogue
    found = [catalogue.find_product(item.sku) for item in sum_items(visit.db, draft.id)]
    unsold = [one for one in found if one is not None and not one.is_sold_to(country)]
    if unsold:
        names = join(list(dict.fromkeys(product.description for product in unsold)))
        raise BadInput(
            f"{names} cannot be sent to {name_country(country)}. Remove these pictures, or choose "
            "another country."
        )


def begin_draft(visit: MerchantVisit) -> Response:
    """Create an order that has nothing yet; answer the script with its number.

    Its country comes with its address: until then, pictures of every product may be added.
    """
    sent = visit.sent
    try:
        new = NewOrder(
            recipient_name=None,
            destination_country=None,
            shipping_method=read_method(sent),
            payment=read_choice(Payment, sent.text("payment"), "Choose who pays."),
        )
    except ServiceError as refusal:
        return answer_problem(refusal.message)
    order = create_order(visit.work, new)
    return answer({"order": order.id})


def describe_draft(visit: MerchantVisit, draft: Order | None) -> dict[str, Any]:
    """Return the pictures of a draft, and how many more it takes."""
    most = visit.services.settings.order_images
    if draft is None:
        return {"order_id": "", "images": [], "more_images": 0, "room": most}
    images = list_images_to_show(visit.db, draft.id)
    return {
        "order_id": draft.id,
        "images": [_describe(visit, draft, image) for image in images[:_SHOWN]],
        "more_images": max(0, len(images) - _SHOWN),
        "room": max(0, most - len(images)),
    }


def describe_added(visit: MerchantVisit, order: Order, image: Image) -> dict[str, object]:
    """Return what the script shows of an image that was just added."""
    view = _describe(visit, order, image)
    return {
        "image": view.id,
        "thumbnail": view.thumbnail,
        "title": view.title,
        "copies": view.copies,
        "warnings": view.warnings,
    }


def _describe(visit: MerchantVisit, order: Order, image: Image) -> ImageView:
    services = visit.services
    return describe_image(image, order, services.catalogue, visit.links, services.sharpness)


def answer(content: Mapping[str, object]) -> Response:
    """Answer the script of a page."""
    return JSONResponse(content, headers=_NOT_KEPT)


def answer_problem(sentence: str, *, is_final: bool = False) -> Response:
    """Answer the script of a page with a refusal, to be shown as it is; `is_final` if for good."""
    content = {"problem": sentence, "isFinal": is_final}
    return JSONResponse(content, status_code=400, headers=_NOT_KEPT)
