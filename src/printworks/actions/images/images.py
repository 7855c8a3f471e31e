"""What can be done with the images of an order, each in the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection

from printworks.actions.orders.moves import CHANGED_MEANWHILE
from printworks.actions.orders.quotes import find_price, quote_order
from printworks.actions.production.production import enqueue_sending
from printworks.catalogue.products import choose_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.events import ImageJudged, ImageRemoved, ImageRendered, ImagesAdded
from printworks.rules.images import IMAGE_MOVES, ImageStatus, check_adding, check_removing
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, Payment, check_not_being_paid
from printworks.store.accounts.merchants import Merchant
from printworks.store.images import images as store
from printworks.store.images.images import Image, NewImage
from printworks.store.images.pictures import print_key, proof_keys
from printworks.store.labs.shipments import list_shipments
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, get_order_to_change, update_order
from printworks.store.queue.jobs import enqueue, enqueue_each
from printworks.store.queue.promises import is_enqueued

JUST_FILLED: Final = "The file of this image comes already, by another request."

FAILED: Final = frozenset({ImageStatus.FILE_NOT_FOUND_AT_URL, ImageStatus.INVALID})


def add_images(
    db: Connection,
    merchant: Merchant,
    order: Order,
    added: Sequence[NewImage],
    *,
    catalogue: Catalogue,
    now: datetime,
    request_id: str | None = None,
    is_batch: bool = False,
) -> list[Image]:
    """Add images to an open order, all or none, and promise to download them.

    The refusal of a batch says which of its elements is wrong, even if there is only one.
    """
    check_adding(order.status, present=order.image_count, added=len(added))
    check_not_being_paid(order.payment_request_id)
    fitting = (
        _fit_each(merchant, order, added, catalogue)
        if is_batch
        else [fit_image(merchant, order, new, catalogue) for new in added]
    )
    images = store.insert_images(db, order.id, fitting, now=now)
    if not images:
        return []
    join_order(db, merchant, order, images, catalogue=catalogue, now=now)
    waiting = [image for image in images if image.status is ImageStatus.NOT_YET_DOWNLOADED]
    enqueue_each(
        db,
        JobKind.FETCH_IMAGE,
        [{"image": image.id} for image in waiting],
        merchant=merchant,
        now=now,
        request_id=request_id,
    )
    return images


def join_order(
    db: Connection,
    merchant: Merchant,
    order: Order,
    images: Sequence[Image],
    *,
    catalogue: Catalogue,
    now: datetime,
) -> Order:
    """Count images that were added to an order, and reckon anew what it costs."""
    values = {"image_count": order.image_count + len(images), "updated_at": now}
    updated = update_order(db, order, values) or order
    quoted = quote_order(db, merchant, updated, catalogue, now=now)
    record_event(db, order.id, ImagesAdded([image.id for image in images]), now=now)
    return quoted


def _fit_each(
    merchant: Merchant, order: Order, added: Sequence[NewImage], catalogue: Catalogue
) -> list[NewImage]:
    fitting = []
    for number, new in enumerate(added, start=1):
        try:
            fitting.append(fit_image(merchant, order, new, catalogue))
        except BadInput as refusal:
            raise BadInput(f"Element {number}: {refusal.message}") from refusal
    return fitting


def fit_image(merchant: Merchant, order: Order, new: NewImage, catalogue: Catalogue) -> NewImage:
    """Check an image against what is sold, and spell it as the catalogue does."""
    product = catalogue.get_product(new.sku)
    country = order.destination_country
    if country is not None and not product.is_sold_to(country):
        raise BadInput(f"The sku {product.sku} is not sold to {country}.")
    if new.price_to_user is not None and order.payment is not Payment.INVOICE_RECIPIENT:
        message = "`priceToUser` is only allowed when the order's payment is InvoiceRecipient."
        raise BadInput(message)
    attributes = choose_attributes(product, new.attributes)
    price = find_price(product.sku, merchant, order, catalogue)
    return msgspec.structs.replace(new, sku=product.sku, attributes=attributes, price=price)


def remove_image(
    db: Connection,
    merchant: Merchant,
    order: Order,
    image_id: int,
    *,
    catalogue: Catalogue,
    now: datetime,
) -> Order:
    """Take an image from an open order, and reckon anew what the others cost.

    What was received is forgotten with other pictures that no image needs.
    """
    image = store.get_image_of_order(db, order.id, image_id)
    check_removing(order.status)
    check_not_being_paid(order.payment_request_id)
    store.delete_image(db, image)
    values = {"image_count": order.image_count - 1, "updated_at": now}
    updated = update_order(db, order, values)
    if updated is None:
        raise WrongState(CHANGED_MEANWHILE)
    quoted = quote_order(db, merchant, updated, catalogue, now=now)
    record_event(db, order.id, ImageRemoved(image.id), now=now)
    files = list(proof_keys(image.id))
    if image.manifest is not None:
        files.append(print_key(image.id))
    enqueue(db, JobKind.REMOVE_FILES, {"files": files}, merchant=merchant, now=now)
    return quoted


def filling_key(image_id: int) -> str:
    """Return what only one upload for an image that waits can have."""
    return f"fill-image:{image_id}"


def list_waiting_images(db: Connection, order: Order) -> list[Image]:
    """Return the images for whose files an order waits that cannot be changed otherwise."""
    if order.status not in {OrderStatus.AWAITING_PAYMENT, OrderStatus.SUBMITTED}:
        return []
    return [
        image
        for image in store.list_images(db, order.id)
        if image.status is ImageStatus.AWAITING_URL_OR_DATA
    ]


def fill_image(
    db: Connection,
    merchant: Merchant,
    image: Image,
    new: NewImage,
    *,
    now: datetime,
    request_id: str | None = None,
) -> Image:
    """Say where the file of an image is that has waited for one, and promise to download it."""
    values = {
        "url": new.url,
        "expected_md5": new.expected_md5,
        "status": ImageStatus.NOT_YET_DOWNLOADED,
        "updated_at": now,
    }
    if is_enqueued(db, filling_key(image.id)):
        raise WrongState(JUST_FILLED)
    filled = store.update_image(db, image, values)
    if filled is None:
        raise WrongState(JUST_FILLED)
    enqueue_each(
        db,
        JobKind.FETCH_IMAGE,
        [{"image": image.id}],
        merchant=merchant,
        now=now,
        request_id=request_id,
    )
    return filled


def judge_image(
    db: Connection,
    merchant: Merchant,
    image: Image,
    status: ImageStatus,
    *,
    now: datetime,
    request_id: str | None = None,
    **facts: object,
) -> bool:
    """Say what became of an image, and promise its print file if the order wants it by now.

    Return False, and change nothing, if that was said before.
    """
    assert status in IMAGE_MOVES[image.status]  # noqa: S101
    # Locked first: whoever submits the order at this moment sees the image before or after,
    # and one of the two promises the print file.
    order = get_order_to_change(db, merchant.id, image.order_id)
    judged = store.update_image(db, image, {"status": status, "updated_at": now, **facts})
    if judged is None:
        return False
    record_event(db, order.id, ImageJudged(image.id, status), now=now)
    if status in FAILED and order.status in {OrderStatus.SUBMITTED, OrderStatus.AWAITING_PAYMENT}:
        _blame(db, order, judged, now=now)
    elif order.status is OrderStatus.SUBMITTED:
        enqueue_prints(db, merchant, [judged], now=now, request_id=request_id)
    return True


def _blame(db: Connection, order: Order, image: Image, *, now: datetime) -> None:
    """Say on the order itself what keeps it from being produced."""
    message = f"Image {image.id} cannot be printed. {image.error_message or ''}".strip()
    update_order(db, order, {"error_message": message, "updated_at": now})


def enqueue_prints(
    db: Connection,
    merchant: Merchant,
    images: Sequence[Image],
    *,
    now: datetime,
    request_id: str | None = None,
) -> None:
    """Promise the print files of the images that have been received."""
    ready = [image for image in images if image.status is ImageStatus.OK]
    enqueue_each(
        db,
        JobKind.RENDER_IMAGE,
        [{"image": image.id} for image in ready],
        merchant=merchant,
        now=now,
        request_id=request_id,
    )


def note_download_failure(db: Connection, image: Image, message: str, *, now: datetime) -> None:
    """Tell the merchant why an image is not there yet."""
    store.update_image(db, image, {"error_message": message, "updated_at": now})


def keep_print(
    db: Connection,
    merchant: Merchant,
    image: Image,
    manifest: dict[str, object],
    sha256: str,
    *,
    now: datetime,
    request_id: str | None = None,
) -> bool:
    """Remember how the print file of an image was made, and send what is complete by it.

    Return False, and change nothing, if there was one already.
    """
    # Locked first, so that of two print files that are finished at once the second sees both.
    order = get_order_to_change(db, merchant.id, image.order_id)
    if store.get_image(db, image.id).manifest is not None:
        return False
    if store.update_image(db, image, {"manifest": manifest, "updated_at": now}) is None:
        return False
    record_event(db, image.order_id, ImageRendered(image.id, sha256), now=now)
    theirs = [one for one in list_shipments(db, order.id) if image.id in one.image_ids]
    images = store.list_images(db, order.id)
    enqueue_sending(db, merchant, order, theirs, images, now=now, request_id=request_id)
    return True
