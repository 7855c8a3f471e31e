"""Images through 3.0."""

from collections.abc import Sequence

from printworks.actions.images import images as actions
from printworks.api.endpoints import Call
from printworks.rules.images import MOST_IN_BATCH, check_adding
from printworks.store.images.images import Image, NewImage
from printworks.store.orders import orders as orders_store
from printworks.store.orders.orders import Order
from printworks.wire.reading import read, read_each
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.images import AddImage, BatchOut, ImageOut


def add_image(call: Call) -> Envelope[ImageOut]:
    """Add one image to an order."""
    order = _find_open_order(call)
    new = read(AddImage, call.body).to_new_image()
    [image] = _add(call, order, [new], is_batch=False)
    return Envelope(ImageOut.of(image, call.links))


def add_images(call: Call) -> BatchOut:
    """Add several images to an order, all or none."""
    order = _find_open_order(call)
    elements = read_each(AddImage, call.body, most=MOST_IN_BATCH)
    new = [element.to_new_image() for element in elements]
    images = _add(call, order, new, is_batch=True)
    return BatchOut.of(images, call.links)


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
