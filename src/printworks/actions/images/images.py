"""Actions on the images of an order, each in the caller's transaction."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import Connection

from printworks.actions.images.mockups import enqueue_mockups
from printworks.actions.images.pictures import remove_files
from printworks.actions.mail.notices import describe_order, notify
from printworks.actions.orders.quotes import QuotedOrder, find_price, price_order, quote_order
from printworks.actions.production.release import enqueue_prints, enqueue_sending
from printworks.actions.work import Work
from printworks.catalogue.merchant_prices import MerchantPrices
from printworks.catalogue.products import choose_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, NotSold, WrongState
from printworks.rules.events import ImageJudged, ImageRemoved, ImageRendered, ImagesAdded
from printworks.rules.images import (
    IMAGE_MOVES,
    ImageStatus,
    check_adding,
    check_filling,
    check_removing,
)
from printworks.rules.jobs import JobKind
from printworks.rules.mail import MailKind
from printworks.rules.merchants import explain_currency
from printworks.rules.orders import OrderStatus, Payment, check_not_being_paid
from printworks.rules.quotas import check_files
from printworks.rules.reasons import Reason, ReasonCode, add_reason, drop_reasons
from printworks.rules.sizing import check_position
from printworks.store.images import images as store
from printworks.store.images.images import Image, NewImage
from printworks.store.images.pictures import print_key, shown_keys
from printworks.store.orders.orders import Order, get_order_to_change, update_order
from printworks.store.orders.shipments import list_shipments
from printworks.store.queue.jobs import is_enqueued

FILE_ALREADY_SENT: Final = "Another request is already sending the file of this image."

FAILED: Final = frozenset({ImageStatus.FILE_NOT_FOUND_AT_URL, ImageStatus.INVALID})


class CheckedImages(NamedTuple):
    """Images that were checked against the catalogue, for a version of the order they are for.

    Hundreds of them take as long as many short requests, so this is done before the transaction.
    """

    version: int
    catalogue: Catalogue
    prices: MerchantPrices
    images: Sequence[NewImage]
    # Why they are not added.
    refusal: BadInput | None

    def is_for(self, work: Work, order: Order) -> bool:
        """Whether neither the order nor what the merchant may buy has changed since."""
        is_sold_alike = self.catalogue is work.catalogue and self.prices == work.prices
        return is_sold_alike and self.version == order.version


def check_batch(
    work: Work, order: Order, read: Callable[[Work, Order], Sequence[NewImage]]
) -> CheckedImages:
    """Read images and check them against the catalogue; a refusal names the element it is about."""
    try:
        images, refusal = _normalise_each(work, order, read(work, order)), None
    except BadInput as error:
        images, refusal = [], error
    return CheckedImages(order.version, work.catalogue, work.prices, images, refusal)


def add_batch(work: Work, order: Order, checked: CheckedImages) -> list[Image]:
    """Add images to an open order, all or none, and enqueue their downloads."""
    _check_adding(work, order, len(checked.images))
    if checked.refusal is not None:
        raise checked.refusal
    return _insert(work, order, checked.images)


def add_images(work: Work, order: Order, added: Sequence[NewImage]) -> list[Image]:
    """Add images to an open order, all or none, and enqueue their downloads."""
    _check_adding(work, order, len(added))
    return _insert(work, order, [normalise_image(work, order, new) for new in added])


def _check_adding(work: Work, order: Order, added: int) -> None:
    work.check_may_order()
    most = work.quotas.order_images
    check_adding(order.status, present=order.image_count, added=added, most=most)
    check_files(work.merchant.file_bytes, work.quotas)
    check_not_being_paid(order.payment_request_id)


def _insert(work: Work, order: Order, new: Sequence[NewImage]) -> list[Image]:
    images = store.insert_images(work.db, order.id, new, now=work.now)
    if not images:
        return []
    images = attach_images(work, order, images).show(images)
    work.audit_routine("add-images", f"order {order.id}", images=len(images))
    waiting = [image for image in images if image.status is ImageStatus.NOT_YET_DOWNLOADED]
    fetched = [{"image": image.id} for image in waiting]
    work.enqueue_each(JobKind.FETCH_IMAGE, fetched, order_id=order.id)
    return images


def attach_images(work: Work, order: Order, images: Sequence[Image]) -> QuotedOrder:
    """Count images that were added to an order, and calculate its price again."""
    values = {"image_count": order.image_count + len(images), "updated_at": work.now}
    quoted = quote_order(work, order, values)
    work.record(order.id, ImagesAdded([image.id for image in images]))
    return quoted


def _normalise_each(work: Work, order: Order, added: Sequence[NewImage]) -> list[NewImage]:
    normalised = []
    for number, new in enumerate(added, start=1):
        try:
            normalised.append(normalise_image(work, order, new))
        except BadInput as refusal:
            raise BadInput(f"Element {number}: {refusal.message}") from refusal
    return normalised


def normalise_image(work: Work, order: Order, new: NewImage) -> NewImage:
    """Check an image against the catalogue; return it with the catalogue's spelling and price."""
    currency_problem = explain_currency(work.merchant.currency, work.catalogue.currencies)
    if currency_problem:
        raise BadInput(currency_problem)
    product = work.catalogue.get_product(new.sku)
    country = order.destination_country
    if country is not None and not product.is_sold_to(country):
        raise NotSold(product.sku, country)
    if new.price_to_user is not None and order.payment is not Payment.INVOICE_RECIPIENT:
        message = "`priceToUser` is only allowed when the order's payment is InvoiceRecipient."
        raise BadInput(message)
    if new.url is not None:
        work.check_address(new.url, "url")
    if new.position is not None:
        check_position(new.position)
    attributes = choose_attributes(product, new.attributes)
    price = find_price(work, order, product.sku, new.copies)
    return msgspec.structs.replace(new, sku=product.sku, attributes=attributes, price=price)


def remove_image(work: Work, order: Order, image_id: int) -> Order:
    """Remove an image from an open order, and calculate the order's price again.

    Its picture is purged later, with others that no image uses.
    """
    image = store.get_image_of_order(work.db, order.id, image_id)
    check_removing(order.status)
    check_not_being_paid(order.payment_request_id)
    store.delete_image(work.db, image)
    # It may have failed while the order awaited its payment.
    reasons = drop_reasons(order.reasons, {ReasonCode.IMAGE_FAILED}, subject=image.id)
    values = {
        "image_count": order.image_count - 1,
        "reasons": reasons,
        "updated_at": work.now,
    }
    priced = price_order(work, order, values)
    work.record(order.id, ImageRemoved(image.id))
    work.audit_routine("remove-image", f"order {order.id}", image=image.id)
    work.enqueue(JobKind.REMOVE_FILES, {"files": list(shown_keys(image.id))})
    return priced


def awaited_upload_key(image_id: int) -> str:
    """Return the dedupe key of the upload for an image that awaits its file."""
    return f"fill-image:{image_id}"


def list_waiting_images(db: Connection, order: Order) -> list[Image]:
    """Return the images whose files are still missing, of an order that is no longer open."""
    if order.status not in {OrderStatus.AWAITING_PAYMENT, OrderStatus.SUBMITTED}:
        return []
    return [
        image
        for image in store.list_images(db, order.id)
        if image.status is ImageStatus.AWAITING_URL_OR_DATA
    ]


def choose_waiting_image(db: Connection, waiting: Sequence[Image]) -> Image:
    """Return the first of these images whose file nobody is sending."""
    for image in waiting:
        if not is_enqueued(db, awaited_upload_key(image.id)):
            return image
    raise WrongState(FILE_ALREADY_SENT)


def get_waiting_image(db: Connection, order: Order, image_id: int) -> Image:
    """Return the image that a file is for, if it awaits one."""
    image = store.get_image_of_order(db, order.id, image_id)
    check_filling(order.status, image.status)
    return image


def set_image_url(work: Work, image: Image, new: NewImage) -> Image:
    """Set the URL of an image that awaits its file, and enqueue the download."""
    work.check_address(new.url or "", "url")
    check_files(work.merchant.file_bytes, work.quotas)
    values = {
        "url": new.url,
        "expected_md5": new.expected_md5,
        "status": ImageStatus.NOT_YET_DOWNLOADED,
        "updated_at": work.now,
    }
    if is_enqueued(work.db, awaited_upload_key(image.id)):
        raise WrongState(FILE_ALREADY_SENT)
    filled = store.update_image(work.db, image, values)
    if filled is None:
        raise WrongState(FILE_ALREADY_SENT)
    work.enqueue(JobKind.FETCH_IMAGE, {"image": image.id}, order_id=image.order_id)
    return filled


def record_image_status(work: Work, image: Image, status: ImageStatus, **facts: object) -> bool:
    """Record the result of validating an image; enqueue its print file if the order is submitted.

    Return False, and change nothing, if it was recorded before or the order has been cancelled.
    """
    assert status in IMAGE_MOVES[image.status]  # noqa: S101
    # Locked first: a request that submits the order now sees the image either before or after
    # this change, so exactly one of the two enqueues the print file.
    order = get_order_to_change(work.db, work.merchant.id, image.order_id)
    if order.status is OrderStatus.CANCELLED:
        return False
    values = {"status": status, "updated_at": work.now, "proof_edition": image.edition, **facts}
    updated = store.update_image(work.db, image, values)
    if updated is None:
        return False
    work.record(order.id, ImageJudged(image.id, status))
    enqueue_mockups(work, [updated])
    if status is ImageStatus.OK and updated.edition != updated.proof_edition:
        # It was changed while its proofs were rendered.
        work.enqueue(JobKind.RENDER_PROOFS, {"image": image.id}, order_id=order.id)
    if status in FAILED:
        text = f"{updated.title}: {updated.error_message or ''}"
        fact = describe_order(order, subject=image.id, text=text)
        notify(work, work.merchant.id, MailKind.IMAGES_FAILED, [fact])
    if status in FAILED and order.status in {OrderStatus.SUBMITTED, OrderStatus.AWAITING_PAYMENT}:
        _record_failure(work, order, updated)
    elif order.status is OrderStatus.SUBMITTED:
        enqueue_prints(work, [updated])
    return True


def _record_failure(work: Work, order: Order, image: Image) -> None:
    """Add to the order why it cannot be produced."""
    failed = Reason(ReasonCode.IMAGE_FAILED, image.id, image.error_message or "")
    reasons = add_reason(order.reasons, failed)
    update_order(work.db, order, {"reasons": reasons, "updated_at": work.now})


def record_download_failure(work: Work, image: Image, message: str) -> None:
    """Record why an image has not been downloaded yet, for the merchant: each reason once."""
    if message == image.error_message:
        return
    order = get_order_to_change(work.db, work.merchant.id, image.order_id)
    if order.status is not OrderStatus.CANCELLED:
        store.update_image(work.db, image, {"error_message": message, "updated_at": work.now})


def record_print(work: Work, image: Image, manifest: dict[str, object], sha256: str) -> bool:
    """Record the print file of an image, and send the shipments that it completes.

    Return False if there was one already, or if the image has another picture by now. If its
    picture has been erased, the print file is removed, too.
    """
    # Locked first: of two print files finished at the same time, the second sees both.
    order = get_order_to_change(work.db, work.merchant.id, image.order_id)
    current = store.get_image(work.db, image.id)
    if current.picture_id is None and current.manifest is None:
        remove_files(work, [print_key(image.id)])
        return False
    if current.manifest is not None or current.picture_id != image.picture_id:
        return False
    if store.update_image(work.db, image, {"manifest": manifest, "updated_at": work.now}) is None:
        return False
    work.record(image.order_id, ImageRendered(image.id, sha256))
    theirs = [one for one in list_shipments(work.db, order.id) if image.id in one.image_ids]
    images = store.list_images(work.db, order.id)
    enqueue_sending(work, order, theirs, images)
    return True
