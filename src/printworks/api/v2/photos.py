"""Photos, which the core calls images, through the 2.x family."""

from collections.abc import Mapping, Sequence
from typing import Any

from printworks.actions.images import images as actions
from printworks.api.bodies import UploadedFile
from printworks.api.endpoints import Call
from printworks.api.v2.uploads import add_upload
from printworks.errors import BadInput
from printworks.rules.images import MOST_IN_BATCH, check_adding
from printworks.store.images.images import (
    Image,
    NewImage,
    get_image_of_order,
    list_images_to_show,
)
from printworks.store.orders import orders as orders_store
from printworks.store.orders.orders import Order
from printworks.wire.reading import read, read_each
from printworks.wire.v2.answers import DoneOut
from printworks.wire.v2.photos import (
    AddPhoto,
    AddPhotoByUrl,
    BatchOut,
    PhotoOut,
    find_type,
    show_photos,
)


def get_photo(call: Call) -> PhotoOut:
    """Show one photo."""
    order = orders_store.get_order(call.db, call.merchant.id, call.number("orderId"))
    image = get_image_of_order(call.db, order.id, call.number("photoId"))
    return PhotoOut.of(image, call.catalogue, call.links)


def list_photos(call: Call) -> list[PhotoOut]:
    """Show the photos of an order."""
    order = orders_store.get_order(call.db, call.merchant.id, call.number("id"))
    images = list_images_to_show(call.db, order.id) if order.image_count else []
    return show_photos(images, call.catalogue, call.links)


def add_photo(call: Call) -> Any:
    """Add one photo to an order: with its file, by its address, or for later.

    Once the order is submitted or waits for its payment, only a photo that was left for later.
    """
    order = orders_store.get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    waiting = actions.list_waiting_images(call.db, order)
    if waiting and (filled := _fill_photo(call, order, waiting)):
        return filled
    # Before the body is looked at: whatever it says, it comes too late.
    check_adding(order.status, present=order.image_count, added=0)
    wanted = read(AddPhoto, call.body)
    product = find_type(wanted.type, order, call.catalogue)
    new = wanted.to_new_image(product, order)
    upload = _find_upload(call.body)
    if upload is not None:
        return add_upload(call, order, new, upload)
    [image] = _add(call, order, [new], is_batch=False)
    return PhotoOut.of(image, call.catalogue, call.links)


def _fill_photo(call: Call, order: Order, waiting: Sequence[Image]) -> Any:
    """Give a photo that was left for later its file; None if none of this type was."""
    wanted = read(AddPhoto, call.body)
    product = find_type(wanted.type, order, call.catalogue)
    left = [image for image in waiting if image.sku == product.sku]
    if not left:
        return None
    new, upload = wanted.to_new_image(product, order), _find_upload(call.body)
    if upload is not None:
        return add_upload(call, order, new, upload, left[0])
    if new.url is None:
        raise BadInput("Send the `file` of the photo, or the `url` at which it is.")
    image = actions.fill_image(
        call.db, call.merchant, left[0], new, now=call.now, request_id=call.request_id
    )
    return PhotoOut.of(image, call.catalogue, call.links)


def add_photos(call: Call) -> BatchOut:
    """Add several photos to an order, all or none."""
    order = _find_open_order(call)
    wanted = read_each(AddPhotoByUrl, call.body, most=MOST_IN_BATCH)
    images = _add(call, order, _find_types(call, order, wanted), is_batch=True)
    return BatchOut(show_photos(images, call.catalogue, call.links))


def _find_types(call: Call, order: Order, wanted: Sequence[AddPhoto]) -> list[NewImage]:
    found = []
    for number, photo in enumerate(wanted, start=1):
        try:
            product = find_type(photo.type, order, call.catalogue)
        except BadInput as refusal:
            raise BadInput(f"Element {number}: {refusal.message}") from refusal
        found.append(photo.to_new_image(product, order))
    return found


def delete_photo(call: Call) -> DoneOut:
    """Take a photo from an order that is NotYetSubmitted."""
    order = orders_store.get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    actions.remove_image(
        call.db,
        call.merchant,
        order,
        call.number("photoId"),
        catalogue=call.catalogue,
        now=call.now,
    )
    return DoneOut()


def _find_upload(body: object) -> UploadedFile | None:
    parts = body.values() if isinstance(body, Mapping) else ()
    files = (part for part in parts if isinstance(part, UploadedFile))
    # A browser sends a file without a name where none was chosen.
    return next((file for file in files if file.name), None)


def _find_open_order(call: Call) -> Order:
    order = orders_store.get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    # Before the body is looked at: whatever it says, it comes too late.
    check_adding(order.status, present=order.image_count, added=0)
    return order


def _add(call: Call, order: Order, new: Sequence[NewImage], *, is_batch: bool) -> list[Image]:
    return actions.add_images(
        call.db,
        call.merchant,
        order,
        new,
        catalogue=call.catalogue,
        now=call.now,
        request_id=call.request_id,
        is_batch=is_batch,
    )
