"""Printing again what went wrong: another order of the same images, at no charge.

Proofs are files with the number of their image in the name, and files are copied outside of
transactions. So there are three steps: plan it, copy the proofs, make it (`reprint_issue`).
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection

from printworks.actions.orders.moves import CHANGED_MEANWHILE
from printworks.actions.orders.orders import create_order
from printworks.actions.payments.charges import ON_ACCOUNT
from printworks.actions.submission.submitting import release_to_production
from printworks.catalogue.products import choose_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.files.store import Files
from printworks.rules.events import ImagesAdded, OrderReprints
from printworks.rules.images import ImageStatus
from printworks.rules.issues import CHARGED, check_settling
from printworks.rules.orders import Payment
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import Image, list_images
from printworks.store.images.pictures import proof_key
from printworks.store.issues.issues import Issue, get_any_issue
from printworks.store.issues.reprints import (
    Copies,
    find_callback_format,
    insert_copies,
    keep_pictures,
    take_numbers,
)
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import NewOrder, Order, get_any_order_to_change, update_order

PROOFS: Final = ("preview", "thumbnail")

# What a reprint does not take over: it is ours to pay for, and what the slip lists may not be in it.
_NOT_TAKEN_OVER: Final = frozenset({"payment", "packing_slip_url", "callback_format"})


def plan_reprint(
    db: Connection, issue_id: int, *, only: Collection[int] = (), now: datetime
) -> Copies:
    """Say what would be printed again because of an issue, and take numbers for the copies.

    `only` names images of the order in place of those that the issue is about.
    """
    issue = get_any_issue(db, issue_id)
    order = get_any_order_to_change(db, issue.order_id)
    return take_numbers(db, _find_originals(db, order, issue, only), now=now)


def copy_proofs(files: Files, copies: Copies) -> None:
    """Give each copy the proofs of its original. Harmless twice."""
    for copy in copies:
        for name in PROOFS:
            with files.local(proof_key(copy.original.id, name)) as proof:
                files.put(proof_key(copy.number, name), proof)


def drop_proofs(files: Files, copies: Copies) -> None:
    """Remove the proofs of copies that did not come to be."""
    for copy in copies:
        for name in PROOFS:
            files.delete(proof_key(copy.number, name))


def make_reprint(
    db: Connection,
    merchant: Merchant,
    order: Order,
    issue: Issue,
    copies: Copies,
    *,
    catalogue: Catalogue,
    now: datetime,
) -> Order:
    """Hand in another order with copies of these images, to the same place, for nothing.

    Raise `WrongState` if it cannot be made any more. `now` is the real time.
    """
    planned = [copy.original.id for copy in copies]
    originals = _find_originals(db, order, issue, planned)
    is_as_planned = [image.id for image in originals] == planned
    if not is_as_planned or not keep_pictures(db, _pictures_of(originals), now=now):
        raise WrongState(CHANGED_MEANWHILE)
    _require_makeable(order, originals, catalogue)
    now += merchant.clock_offset
    created = create_order(db, merchant, _describe(db, order), now=now)
    record_event(db, created.id, OrderReprints(order=order.id, issue=issue.id), now=now)
    images = insert_copies(db, created.id, copies, now=now)
    record_event(db, created.id, ImagesAdded([image.id for image in images]), now=now)
    # Images keep their prices, since customs want to know what things are worth.
    values = {"image_count": len(images), "currency": merchant.currency, "price": 0}
    reprint = update_order(db, created, values) or created
    return release_to_production(
        db, merchant, reprint, images, catalogue=catalogue, provider=ON_ACCOUNT, now=now
    )


def _find_originals(
    db: Connection, order: Order, issue: Issue, only: Collection[int]
) -> list[Image]:
    """Return the images that an issue is about; refuse if they cannot be printed again."""
    check_settling(issue.state)
    if order.status not in CHARGED:
        raise WrongState(f"An order that is {order.status} cannot be printed again.")
    wanted = set(only or issue.image_ids)
    originals = [image for image in list_images(db, order.id) if not wanted or image.id in wanted]
    if not originals:
        message = "The images that the issue is about are gone; give money back instead."
        raise WrongState(message)
    for image in originals:
        if image.status is not ImageStatus.OK or image.picture_id is None:
            message = (
                f"Image {image.id} cannot be printed again, because its picture is not kept; "
                "give money back instead."
            )
            raise WrongState(message)
    return originals


def _pictures_of(images: Sequence[Image]) -> list[int]:
    return [image.picture_id for image in images if image.picture_id is not None]


def _require_makeable(order: Order, originals: Sequence[Image], catalogue: Catalogue) -> None:
    """Refuse what has left the catalogue since."""
    for image in originals:
        product = catalogue.find_product(image.sku)
        if product is None or not product.is_sold_to(order.destination_country or ""):
            message = f"The sku {image.sku} of image {image.id} is no longer sold there."
            raise WrongState(message)
        try:
            choose_attributes(product, image.attributes)
        except BadInput as refusal:
            raise WrongState(refusal.message) from refusal


def _describe(db: Connection, order: Order) -> NewOrder:
    """Say what makes the other order: all that the merchant said of the first."""
    taken_over = msgspec.structs.asdict(order)
    same = {
        name: taken_over[name] for name in NewOrder.__struct_fields__ if name not in _NOT_TAKEN_OVER
    }
    return NewOrder(
        **same,
        payment=Payment.INVOICE_ME,
        callback_format=find_callback_format(db, order.id),
    )
