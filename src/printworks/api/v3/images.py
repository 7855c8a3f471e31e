"""Images through 3.0."""

from typing import Any

from printworks.actions.images import images as actions
from printworks.actions.images.editing import edit_image
from printworks.api.endpoints import Call
from printworks.api.orders import find_open_order
from printworks.api.uploads import fill_image as fill
from printworks.rules.images import MOST_IN_BATCH
from printworks.store.orders.orders import get_order_to_change
from printworks.wire.reading import read, read_each
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.images import AddImage, BatchOut, ImageOut, read_changes


def add_image(call: Call) -> Envelope[ImageOut]:
    """Add one image."""
    order = find_open_order(call)
    new = read(AddImage, call.body).to_new_image()
    [image] = actions.add_images(call.work, order, [new])
    return Envelope(ImageOut.of(image, call.links))


def add_images(call: Call) -> BatchOut:
    """Add several images, all or none."""
    order = find_open_order(call)
    elements = read_each(AddImage, call.body, most=MOST_IN_BATCH)
    new = [element.to_new_image() for element in elements]
    images = actions.add_images(call.work, order, new, is_batch=True)
    return BatchOut.of(images, call.links)


def change_image(call: Call) -> Envelope[ImageOut]:
    """Change how an image is printed, of an order that is NotYetSubmitted."""
    order = get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    changes = read_changes(call.body)
    image = edit_image(call.work, order, call.number("imageId"), changes)
    return Envelope(ImageOut.of(image, call.links))


def fill_image(call: Call) -> Any:
    """Add the file or the address of an image that is AwaitingUrlOrData."""
    return fill(
        call, call.number("imageId"), lambda image: Envelope(ImageOut.of(image, call.links))
    )
