"""Images through 3.0."""

from functools import partial
from typing import Any

from printworks.actions.images import images as actions
from printworks.actions.images.editing import edit_image
from printworks.actions.images.images import CheckedImages
from printworks.actions.work import Work
from printworks.api.batches import add_prepared_batch, prepare_batch
from printworks.api.endpoints import Call
from printworks.api.orders import find_open_order
from printworks.api.uploads import fill_image as fill
from printworks.rules.images import MOST_IN_BATCH
from printworks.store.images.images import NewImage
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.wire.reading import read, read_each
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.images import AddImage, BatchOut, ImageOut, read_changes


def add_image(call: Call) -> Envelope[ImageOut]:
    """Add one image."""
    order = find_open_order(call)
    new = read(AddImage, call.body).to_new_image()
    [image] = actions.add_images(call.work, order, [new])
    return Envelope(ImageOut.of(image, call.links))


def prepare_images(call: Call) -> CheckedImages | None:
    """Check several images before they are added."""
    return prepare_batch(call, partial(_read_images, call.body))


def add_images(call: Call) -> BatchOut:
    """Add several images, all or none."""
    images = add_prepared_batch(call, partial(_read_images, call.body))
    return BatchOut.of(images, call.links)


def _read_images(body: object, _work: Work, _order: Order) -> list[NewImage]:
    elements = read_each(AddImage, body, most=MOST_IN_BATCH)
    return [element.to_new_image() for element in elements]


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
