"""Photos, which the rest of the code calls images, through the 2.x family."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from printworks.actions.images import images as actions
from printworks.actions.images.images import CheckedImages
from printworks.actions.images.uploads import begin_awaited_upload, begin_upload
from printworks.actions.work import Work
from printworks.api.batches import add_prepared_batch, prepare_batch
from printworks.api.endpoints import Call
from printworks.api.uploads import add_upload, fill_image, find_upload
from printworks.errors import BadInput
from printworks.rules.images import MOST_IN_BATCH, check_adding
from printworks.store.images.images import Image, NewImage, get_image_of_order, list_images_to_show
from printworks.store.orders import orders as orders_store
from printworks.store.orders.orders import Order
from printworks.wire.reading import read, read_each
from printworks.wire.v2.answers import DoneOut
from printworks.wire.v2.photos import (
    AddPhoto,
    AddPhotoByUrl,
    BatchOut,
    PhotoOut,
    find_sold_type,
    find_type,
    show_photos,
)


def get_photo(call: Call) -> PhotoOut:
    """Get one photo."""
    order = orders_store.get_order(call.db, call.merchant.id, call.number("orderId"))
    return _show(call, get_image_of_order(call.db, order.id, call.number("photoId")))


def list_photos(call: Call) -> list[PhotoOut]:
    """List the photos of an order."""
    order = orders_store.get_order(call.db, call.merchant.id, call.number("id"))
    images = list_images_to_show(call.db, order.id) if order.image_count else []
    return show_photos(images, call.work.catalogue, call.links)


def add_photo(call: Call) -> Any:
    """Add one photo: with its file, by its address, or for later.

    Once the order is submitted or awaits payment, only files of photos that lack them.
    """
    order = orders_store.get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    waiting = actions.list_waiting_images(call.db, order)
    if waiting and (filled := _complete_photo(call, order, waiting)):
        return filled
    # Before the body is read: its errors do not matter any more.
    most = call.work.quotas.order_images
    check_adding(order.status, present=order.image_count, added=0, most=most)
    wanted = read(AddPhoto, call.body)
    product = find_sold_type(wanted.type, order, call.work.catalogue)
    new = wanted.to_new_image(product, order)
    file = find_upload(call.body)
    if file is not None:
        return add_upload(call, begin_upload(call.work, order, new), file, partial(_show, call))
    [image] = actions.add_images(call.work, order, [new])
    return _show(call, image)


def _show(call: Call, image: Image) -> PhotoOut:
    return PhotoOut.of(image, call.work.catalogue, call.links)


def _complete_photo(call: Call, order: Order, waiting: Sequence[Image]) -> Any:
    """Add the file of a photo that lacks it; None if there is none of this type."""
    wanted = read(AddPhoto, call.body)
    product = find_type(wanted.type, order, call.work.catalogue)
    left = [image for image in waiting if image.sku == product.sku]
    if not left:
        return None
    new, file = wanted.to_new_image(product, order), find_upload(call.body)
    if file is None and new.url is None:
        raise BadInput("Send the `file` of the photo, or the `url` at which it is.")
    image = actions.choose_waiting_image(call.db, left)
    if file is not None:
        upload = begin_awaited_upload(call.work, image, new)
        return add_upload(call, upload, file, partial(_show, call))
    return _show(call, actions.set_image_url(call.work, image, new))


def fill_photo(call: Call) -> Any:
    """Add the file or the address of a photo that is AwaitingUrlOrData."""
    return fill_image(call, call.number("photoId"), partial(_show, call))


def prepare_photos(call: Call) -> CheckedImages | None:
    """Check several photos before they are added."""
    return prepare_batch(call, partial(_read_photos, call.body))


def add_photos(call: Call) -> BatchOut:
    """Add several photos by their addresses, all or none."""
    images = add_prepared_batch(call, partial(_read_photos, call.body))
    return BatchOut(show_photos(images, call.work.catalogue, call.links))


def _read_photos(body: object, work: Work, order: Order) -> list[NewImage]:
    wanted = read_each(AddPhotoByUrl, body, most=MOST_IN_BATCH)
    found = []
    for number, photo in enumerate(wanted, start=1):
        try:
            product = find_sold_type(photo.type, order, work.catalogue)
        except BadInput as refusal:
            raise BadInput(f"Element {number}: {refusal.message}") from refusal
        found.append(photo.to_new_image(product, order))
    return found


def delete_photo(call: Call) -> DoneOut:
    """Delete a photo of an order that is NotYetSubmitted."""
    order = orders_store.get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    actions.remove_image(call.work, order, call.number("photoId"))
    return DoneOut()
