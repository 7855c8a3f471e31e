"""The page of one image: what is printed of it, on what, how often; or another picture."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.responses import Response

from printworks.actions.images.editing import edit_image
from printworks.actions.images.pictures import RenderingUnavailable
from printworks.actions.images.proxies import keep_proxy, plan_proxy, render_proxy
from printworks.actions.work import Work
from printworks.dashboard.merchant.orders.cropping import describe_cropper
from printworks.dashboard.merchant.orders.form_values import FormValues
from printworks.dashboard.merchant.orders.print_fields import read_print
from printworks.dashboard.merchant.orders.product_choice import (
    CHOICE,
    LOOKED_FOR,
    describe_choice,
    find_chosen,
)
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.replaced_pictures import take_picture
from printworks.dashboard.site.file_response import StoredPicture
from printworks.dashboard.site.forms import Sent
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.errors import BadInput, WrongState
from printworks.rules.images import ImageStatus, check_editing, check_replacing
from printworks.rules.orders import check_not_being_paid
from printworks.rules.people import Duty
from printworks.rules.sizing import POSITION_RANGES, CropPosition
from printworks.store.images.images import Image, get_image_of_order
from printworks.store.images.pictures import Picture, get_picture
from printworks.store.orders.orders import Order, get_order, get_order_to_change

# Where an order goes that has no country yet.
_ANYWHERE: Final = "GB"
_FROM_ADDRESS: Final = frozenset({"sku", "copies", "sizing", *LOOKED_FOR})
_HUNDRED: Final = 100
# What is asked about a crop: percentages, and how much larger.
_POSITION_FIELDS: Final = (
    ("x", "Left to right", (0, 100)),
    ("y", "Top to bottom", (0, 100)),
    ("zoom", "Zoom", POSITION_RANGES["zoom"]),
)
_WAITING: Final = frozenset({ImageStatus.NOT_YET_DOWNLOADED, ImageStatus.OK})
_PRIVATE: Final = {
    # It changes with its address: a new picture is a new image, or a new edition of it.
    "Cache-Control": "private, max-age=86400",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}


@page_at("/orders/{id}/images/{image}")
def show_image(visit: MerchantVisit) -> Response:
    """Show an image and its proof, and the forms that change it while that is possible."""
    order, image = _find(visit)
    catalogue = visit.services.catalogue
    values = FormValues(visit, _list_values(image), _FROM_ADDRESS, beginning_with=CHOICE)
    country = order.destination_country or _ANYWHERE
    return visit.render(
        "merchant/image.html",
        order=order,
        currency=order.currency or visit.merchant.currency,
        image=describe_image(image, order, catalogue, visit.links, visit.services.sharpness),
        is_waiting=image.status in _WAITING and not image.has_proofs,
        etag=visit.etag(order.version),
        why_not=_refuse_role(visit) or _explain(order),
        why_no_other=_refuse_role(visit) or _explain_replacing(order, image),
        values=values,
        choice=describe_choice(visit, values, country, find_chosen(visit, values, country)),
        cropper=describe_cropper(image, catalogue.find_product(image.sku)),
    )


def _find(visit: MerchantVisit) -> tuple[Order, Image]:
    order = get_order(visit.db, visit.merchant.id, visit.number("id"))
    return order, get_image_of_order(visit.db, order.id, visit.number("image"))


def _list_values(image: Image) -> Mapping[str, str]:
    position = image.position or CropPosition()
    chosen = {f"{CHOICE}{name}": value for name, value in image.attributes.items()}
    return {
        **chosen,
        "sku": image.sku,
        "copies": str(image.copies),
        "sizing": image.sizing,
        "x": f"{position.x * _HUNDRED:.4g}",
        "y": f"{position.y * _HUNDRED:.4g}",
        "zoom": f"{position.zoom:.4g}",
    }


def _refuse_role(visit: MerchantVisit) -> str:
    return "" if visit.may(Duty.ORDER) else "Your role can look at this image, but not change it."


def _explain(order: Order) -> str:
    """Say why the images of an order cannot be changed; empty if they can."""
    try:
        check_editing(order.status)
        check_not_being_paid(order.payment_request_id)
    except WrongState as refusal:
        return refusal.message
    return ""


def _explain_replacing(order: Order, image: Image) -> str:
    try:
        check_replacing(order.status, image.status)
    except WrongState as refusal:
        return refusal.message
    return ""


@show_image.action("place-image", "The crop was saved.")
def place_image(visit: MerchantVisit) -> None:
    """Print another part of the picture."""
    _edit(visit, {"placement": _read_position(visit.sent)})


@show_image.action("centre-image", "The crop is in the middle again.")
def centre_image(visit: MerchantVisit) -> None:
    _edit(visit, {"placement": None})


@show_image.action("edit-image", "The image was changed.")
def change_print(visit: MerchantVisit) -> None:
    """Print the picture on another product, in another size or number."""
    order = get_order_to_change(visit.db, visit.merchant.id, visit.number("id"))
    wanted = read_print(visit, country=order.destination_country, payment=order.payment)
    names = ("sku", "copies", "sizing", "attributes")
    _edit(visit, {name: getattr(wanted, name) for name in names})


def _edit(visit: MerchantVisit, changes: Mapping[str, Any]) -> None:
    order = get_order_to_change(visit.db, visit.merchant.id, visit.number("id"))
    edit_image(visit.work, order, visit.number("image"), changes)


@show_image.action("replace-own-picture", "The picture was replaced.", alone=True)
def replace_picture(visit: MerchantVisit) -> str:
    """Give an image another picture: by address, or a file that is validated at once."""
    order_id = visit.number("id")

    def lock(db: Connection) -> tuple[Work, Order]:
        return visit.work_in(db), get_order_to_change(db, visit.merchant.id, order_id)

    image_id = take_picture(visit, visit.number("image"), lock)
    return f"/orders/{order_id}/images/{image_id}"


# For browsers that do not ask for it by themselves.
show_image.action("show-product-for-image", only_shows=True)(show_image)


def _read_position(sent: Sent) -> dict[str, float]:
    """Read where the picture is cropped: two percentages and a factor."""
    read, wrong = {}, {}
    for name, label, (least, most) in _POSITION_FIELDS:
        number = _read_decimal(sent.text(name))
        if number is None or not least <= number <= most:
            wrong[name] = f"{label} must be a number from {least} to {most}."
        else:
            read[name] = number
    if wrong:
        raise BadInput(" ".join(wrong.values()), fields=wrong)
    return CropPosition(read["x"] / _HUNDRED, read["y"] / _HUNDRED, read["zoom"]).to_members()


def _read_decimal(text: str) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if isfinite(number) else None


class OriginalPicture(StoredPicture):
    """A smaller picture of an original, rendered when it is sent if there is none yet."""

    def __init__(self, visit: MerchantVisit, image: Image, picture: Picture) -> None:
        super().__init__(visit.services, picture.proxy or "", _PRIVATE)
        self._visit = visit
        self._image = image
        self._picture = picture

    def find_key(self) -> str:
        """Return where the smaller picture is stored."""
        services = self._services
        if self._picture.proxy is not None:
            return self._picture.proxy
        services.check_room()
        with services.database.writing() as db:
            plan = plan_proxy(self._visit.system_work_in(db), self._picture, self._image.id)
        try:
            with TemporaryDirectory(prefix="printworks-") as folder:
                drawn = render_proxy(services.processor, services.files, plan, Path(folder))
        except RenderingUnavailable:
            raise HTTPException(503, headers={"Retry-After": "5"}) from None
        if drawn is None:
            raise HTTPException(404)
        with services.database.writing() as db:
            kept = keep_proxy(self._visit.system_work_in(db), plan, drawn)
        if kept is None or kept.proxy is None:
            raise HTTPException(404)
        return kept.proxy


@page_at("/orders/{id}/images/{image}/picture")
def show_original(visit: MerchantVisit) -> Response:
    """Send the whole picture of an image, upright and smaller."""
    _, image = _find(visit)
    if image.picture_id is None or image.status is not ImageStatus.OK:
        refuse_unknown()
    return OriginalPicture(visit, image, get_picture(visit.db, image.picture_id))
