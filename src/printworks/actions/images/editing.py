"""Changes of an image that an open order has already: what it is printed on, how, and how often."""

from collections.abc import Mapping
from typing import Any, Final

from printworks.actions.images.images import normalise_image, record_image_status
from printworks.actions.images.mockups import enqueue_mockups
from printworks.actions.images.pictures import remove_files
from printworks.actions.orders.quotes import quote_order
from printworks.actions.work import Work
from printworks.catalogue.products import Product
from printworks.rules.events import ImageChanged
from printworks.rules.images import ImageStatus, check_editing
from printworks.rules.jobs import JobKind
from printworks.rules.orders import check_not_being_paid
from printworks.store.images.images import (
    Image,
    NewImage,
    find_image,
    get_image_of_order,
    update_image,
)
from printworks.store.images.pictures import proof_keys
from printworks.store.orders.orders import Order, get_order_to_change

# What can be changed; another picture is another image: see `replacing.py`.
EDITABLE: Final = ("sku", "copies", "sizing", "attributes", "placement")


def edit_image(work: Work, order: Order, image_id: int, changes: Mapping[str, Any]) -> Image:
    """Change an image of an open order, and calculate the price of the order again.

    What `changes` does not name stays; of the attributes, those that another product does not
    offer are left out. Proofs that would show something else are rendered again.
    """
    image = get_image_of_order(work.db, order.id, image_id)
    check_editing(order.status)
    check_not_being_paid(order.payment_request_id)
    new = normalise_image(work, order, _describe(work, image, changes))
    changed = {name: getattr(new, name) for name in EDITABLE}
    changed = {name: value for name, value in changed.items() if value != getattr(image, name)}
    if not changed:
        return image
    looks_different = _find_look(work, new) != _find_look(work, image)
    edition = image.edition + 1 if looks_different else image.edition
    values = {**changed, "price": new.price, "edition": edition, "updated_at": work.now}
    if looks_different:
        values["mockup"] = None
    edited = update_image(work.db, image, values)
    # The order is locked, and the image was just read.
    assert edited is not None  # noqa: S101
    [edited] = quote_order(work, order, {"updated_at": work.now}).show([edited])
    work.record(order.id, ImageChanged(image.id, sorted(changed)))
    work.audit_routine("edit-image", f"order {order.id}", image=image.id)
    if looks_different and image.status is ImageStatus.OK:
        work.enqueue(JobKind.RENDER_PROOFS, {"image": image.id}, order_id=order.id)
    return edited


def _describe(work: Work, image: Image, changes: Mapping[str, Any]) -> NewImage:
    product = work.catalogue.get_product(changes.get("sku", image.sku))
    kept = _keep_offered(product, image.attributes)
    return NewImage(
        sku=product.sku,
        url=None,
        copies=changes.get("copies", image.copies),
        sizing=changes.get("sizing", image.sizing),
        attributes={**kept, **changes.get("attributes", {})},
        placement=changes.get("placement", image.placement),
    )


def _keep_offered(product: Product, chosen: Mapping[str, str]) -> dict[str, str]:
    offered = {attribute.name: attribute for attribute in product.attributes}
    return {
        name: value
        for name, value in chosen.items()
        if name in offered and offered[name].find_value(value) is not None
    }


def _find_look(work: Work, image: Image | NewImage) -> object:
    """Return what decides how the proofs of an image look, and its mockup."""
    product = work.catalogue.find_product(image.sku)
    seen = product and (product.print_area, product.plan_mockup(image.attributes, is_turned=False))
    return seen, image.sizing, image.position


def record_proofs(work: Work, image: Image) -> None:
    """Show the proofs that were rendered of an edition of an image.

    If it has been changed since, they are rendered again; if it is gone, they are removed.
    """
    get_order_to_change(work.db, work.merchant.id, image.order_id)
    present = find_image(work.db, image.id)
    if present is not None and present.status is not ImageStatus.OK:
        # It failed, or awaits another file, whose proofs have the same names.
        return
    if present is None or present.width is None:
        remove_files(work, list(proof_keys(image.id)))
        return
    values = {"proof_edition": image.edition, "updated_at": work.now}
    shown = update_image(work.db, present, values)
    # Whoever judges it locks the order, too.
    assert shown is not None  # noqa: S101
    enqueue_mockups(work, [shown])
    if present.edition != image.edition:
        work.enqueue(JobKind.RENDER_PROOFS, {"image": image.id}, order_id=image.order_id)


def refuse_edition(work: Work, image: Image, why: str) -> None:
    """Record that no proofs can be rendered of an edition; a later one has a job of its own."""
    get_order_to_change(work.db, work.merchant.id, image.order_id)
    present = find_image(work.db, image.id)
    if present is None or present.edition != image.edition:
        return
    if present.status is ImageStatus.OK:
        record_image_status(work, present, ImageStatus.INVALID, error_message=why)
