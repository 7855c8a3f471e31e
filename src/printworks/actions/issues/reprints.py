"""Reprints: another order of the same images, at no charge.

Proofs are files named by the id of their image, and files are copied outside transactions. So there
are three steps: plan the reprint, copy the proofs, create the order (`reprint_issue`). The first
enqueues the removal of the copies and the last cancels it.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection

from printworks.actions.images.mockups import enqueue_mockups
from printworks.actions.images.uploads import REMOVED_AFTER
from printworks.actions.orders.orders import open_order
from printworks.actions.payments.charges import ON_ACCOUNT
from printworks.actions.production.release import release_to_production
from printworks.actions.work import SystemWork, Work
from printworks.catalogue.products import Currency, choose_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, ServiceUnavailable, WrongState
from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.files.store import Files
from printworks.rules.events import ImagesAdded, OrderReprints
from printworks.rules.images import ImageStatus
from printworks.rules.issues import check_charged, check_settling
from printworks.rules.jobs import JobKind
from printworks.rules.orders import ORDER_CHANGED, Payment
from printworks.store.images.images import Image, list_images
from printworks.store.images.pictures import cancel_removal, proof_keys
from printworks.store.issues.issues import Issue, get_any_issue
from printworks.store.issues.reprints import (
    Copies,
    find_callback_format,
    insert_copies,
    take_numbers,
    use_pictures,
)
from printworks.store.orders.orders import NewOrder, Order, get_any_order_to_change, update_order

# Not copied: the operator pays, and the slip may list what is not reprinted.
_NOT_COPIED: Final = frozenset({"payment", "packing_slip_url", "callback_format"})
_TOO_LATE: Final = "The reprint took too long; try again."
_UNAVAILABLE: Final = "The pictures are temporarily unavailable. Try again, or refund instead."


class ReprintPlan(NamedTuple):
    """What is reprinted, and the job that removes the copied proofs unless the order is created."""

    copies: Copies
    removal: int


def plan_reprint(work: SystemWork, issue_id: int, *, only: Collection[int] = ()) -> ReprintPlan:
    """Choose what to reprint because of an issue, and reserve ids for the copies.

    `only` names images of the order instead of those that the issue is about.
    """
    issue = get_any_issue(work.db, issue_id)
    order = get_any_order_to_change(work.db, issue.order_id)
    originals = _find_originals(work.db, order, issue, only)
    copies = take_numbers(work.db, originals, now=work.real_now)
    files = [key for copy in copies for key in proof_keys(copy.number)]
    removal = work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": files}, wait=REMOVED_AFTER)
    # Only a job with a dedupe key may exist already.
    assert removal is not None  # noqa: S101
    return ReprintPlan(copies, removal)


def copy_proofs(files: Files, plan: ReprintPlan) -> None:
    """Copy the proofs of each original to its copy. Idempotent.

    Raise `WrongState` if they have been removed, and `ServiceUnavailable` if the store cannot be
    used now.
    """
    for original, number in plan.copies:
        try:
            for old, new in zip(proof_keys(original.id), proof_keys(number), strict=True):
                with files.local(old) as proof:
                    files.put(new, proof)
        except FileMissing as error:
            raise _refuse_without_proofs(original) from error
        except FilesUnavailable as error:
            raise ServiceUnavailable(_UNAVAILABLE) from error


def make_reprint(work: Work, order: Order, issue: Issue, plan: ReprintPlan) -> Order:
    """Create and release an order with copies of these images, to the same address, for free.

    Raise `WrongState` if that is no longer possible.
    """
    if not cancel_removal(work.db, plan.removal):
        raise ServiceUnavailable(_TOO_LATE)
    copies = plan.copies
    planned = [copy.original.id for copy in copies]
    originals = _find_originals(work.db, order, issue, planned)
    is_as_planned = [image.id for image in originals] == planned
    if not is_as_planned or not use_pictures(work.db, _pictures_of(originals), now=work.real_now):
        raise WrongState(ORDER_CHANGED)
    # That of the prices, even if the account is kept in another by now.
    currency = order.currency or work.merchant.currency
    _require_sold_in(currency, work.catalogue)
    _require_makeable(order, originals, work.catalogue)
    created = open_order(work.unaudited, _describe(work.db, order))
    work.record(created.id, OrderReprints(order=order.id, issue=issue.id))
    images = insert_copies(work.db, created.id, copies, now=work.real_now)
    work.record(created.id, ImagesAdded([image.id for image in images]))
    enqueue_mockups(work, images)
    # Images keep their prices: customs documents need the values.
    values = {
        "image_count": len(images),
        "currency": currency,
        "price": 0,
        "reprint_of": order.id,
    }
    reprint = update_order(work.db, created, values)
    return release_to_production(work, reprint, images, provider=ON_ACCOUNT)


def _find_originals(
    db: Connection, order: Order, issue: Issue, only: Collection[int]
) -> list[Image]:
    """Return the images that an issue is about; refuse if they cannot be reprinted."""
    check_settling(issue.state)
    check_charged(order.status)
    if order.address1 is None:
        raise WrongState(
            "The recipient of the order was erased, so it cannot be printed again; "
            "refund the issue instead."
        )
    wanted = set(only or issue.image_ids)
    originals = [image for image in list_images(db, order.id) if not wanted or image.id in wanted]
    if not originals:
        raise WrongState("The images that the issue is about were removed; refund it instead.")
    for image in originals:
        if image.status is not ImageStatus.OK or image.picture_id is None:
            raise WrongState(
                f"Image {image.id} cannot be printed again, because its picture is not stored; "
                "refund the issue instead."
            )
        if not image.has_proofs:
            raise _refuse_without_proofs(image)
    return originals


def _refuse_without_proofs(image: Image) -> WrongState:
    # Labs compare what they print with them.
    return WrongState(
        f"Image {image.id} cannot be printed again, because its proofs are not stored; "
        "refund the issue instead."
    )


def _pictures_of(images: Sequence[Image]) -> list[int]:
    return [image.picture_id for image in images if image.picture_id is not None]


def _require_sold_in(currency: Currency, catalogue: Catalogue) -> None:
    """Refuse a currency in which labs have no costs any more."""
    if currency not in catalogue.currencies:
        raise WrongState(
            f"Nothing is sold any more in {currency}, in which the order was charged, so it cannot be "
            "printed again. Post a credit by hand, and close the issue without action."
        )


def _require_makeable(order: Order, originals: Sequence[Image], catalogue: Catalogue) -> None:
    """Refuse images whose products are no longer sold."""
    for image in originals:
        product = catalogue.find_product(image.sku)
        if product is None or not product.is_sold_to(order.destination_country or ""):
            raise WrongState(f"The sku {image.sku} of image {image.id} is no longer sold there.")
        try:
            choose_attributes(product, image.attributes)
        except BadInput as refusal:
            raise WrongState(refusal.message) from refusal


def _describe(db: Connection, order: Order) -> NewOrder:
    """Describe the reprint: everything the merchant gave for the first order."""
    copied = {
        name: getattr(order, name) for name in NewOrder.__struct_fields__ if name not in _NOT_COPIED
    }
    return NewOrder(
        **copied, payment=Payment.INVOICE_ME, callback_format=find_callback_format(db, order.id)
    )
