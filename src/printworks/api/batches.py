"""Batches of images, which are read and checked before the transaction that adds them."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from printworks.actions.images.images import CheckedImages, add_batch, check_batch
from printworks.actions.work import Work
from printworks.api.endpoints import Call
from printworks.api.orders import find_open_order
from printworks.errors import NotFound
from printworks.store.images.images import Image, NewImage
from printworks.store.orders.orders import Order, get_order

# Reads the body of a batch for an order.
ReadImages = Callable[[Work, Order], Sequence[NewImage]]


def prepare_batch(call: Call, read: ReadImages) -> CheckedImages | None:
    """Check a batch, so that the writer does not wait for what is wrong with it."""
    # The handler refuses an order that is not there.
    with suppress(NotFound):
        order = get_order(call.db, call.merchant.id, call.number("orderId"))
        return check_batch(call.work, order, read)
    return None


def add_prepared_batch(call: Call, read: ReadImages) -> list[Image]:
    """Add a batch, checked once more if its order or the catalogue has changed since."""
    order = find_open_order(call)
    checked: CheckedImages | None = call.prepared
    if checked is None or not checked.is_for(call.work, order):
        checked = check_batch(call.work, order, read)
    return add_batch(call.work, order, checked)
