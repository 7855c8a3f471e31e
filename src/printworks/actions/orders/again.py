"""The same order again: a new draft with the same products, pictures and recipient.

Proofs are files named by the id of their image, and files are copied outside transactions. So there
are three steps: plan, copy the proofs, create the order.
"""

from collections.abc import Sequence

import msgspec

from printworks.actions.images.images import add_images, attach_images, normalise_image
from printworks.actions.images.mockups import enqueue_mockups
from printworks.actions.images.uploads import REMOVED_AFTER
from printworks.actions.orders.orders import create_order
from printworks.actions.work import Work
from printworks.errors import BadInput, ServiceError, ServiceUnavailable, WrongState
from printworks.files.errors import FileMissing
from printworks.files.store import Files
from printworks.rules.events import ImageJudged
from printworks.rules.images import ImageStatus, check_adding
from printworks.rules.jobs import JobKind
from printworks.rules.quotas import check_files
from printworks.store.images.images import (
    Image,
    NewImage,
    insert_received_image,
    list_images,
    reserve_image_ids,
)
from printworks.store.images.pictures import cancel_removal, proof_keys
from printworks.store.issues.reprints import find_callback_format, use_pictures
from printworks.store.orders.orders import NewOrder, Order, get_order, get_order_to_change

_TOO_LATE = "This took too long; try again."
_CHANGED = "The images of this order were changed just now; look at them, and try again."
_GONE = "The picture is no longer stored, and it was uploaded: add it to the new order again."


class AgainItem(msgspec.Struct, frozen=True):
    """An image of the order, and how it comes into the new one."""

    image: Image
    # Whether its picture is stored; else it is downloaded from its address again.
    is_stored: bool
    # Why it is left out; empty if it is not.
    why_not: str = ""


class AgainPlan(msgspec.Struct, frozen=True):
    """What is ordered again, and the ids that are reserved for images whose pictures are stored."""

    items: Sequence[AgainItem]
    ids: Sequence[int]
    # The job that removes the copied proofs unless the order is created.
    removal: int

    @property
    def stored(self) -> list[tuple[Image, int]]:
        kept = [item.image for item in self.items if item.is_stored and not item.why_not]
        return list(zip(kept, self.ids, strict=True))


def list_again(work: Work, order_id: int) -> list[AgainItem]:
    """Say what can be ordered again of an order, and what not and why."""
    order = get_order(work.db, work.merchant.id, order_id)
    return [_examine(work, order, image) for image in list_images(work.db, order.id)]


def _examine(work: Work, order: Order, image: Image) -> AgainItem:
    is_stored = image.has_proofs and image.picture_id is not None
    if not is_stored and image.url is None:
        return AgainItem(image, is_stored, _GONE)
    try:
        normalise_image(work, order, _describe(image))
    except ServiceError as refusal:
        return AgainItem(image, is_stored, refusal.message)
    return AgainItem(image, is_stored)


def _describe(image: Image) -> NewImage:
    """Describe the same print of the same picture."""
    return NewImage(**{name: getattr(image, name) for name in NewImage.__struct_fields__})


def plan_again(work: Work, order_id: int) -> AgainPlan:
    """Choose what is ordered again, and reserve ids for the images whose pictures are stored."""
    items = list_again(work, order_id)
    wanted = [item for item in items if not item.why_not]
    if not wanted:
        raise BadInput("Nothing of this order can be ordered again: see the reasons below.")
    check_files(work.merchant.file_bytes, work.quotas)
    count = sum(item.is_stored for item in wanted)
    ids = reserve_image_ids(work.db, order_id, count, now=work.now) if count else []
    files = [key for image_id in ids for key in proof_keys(image_id)]
    removal = work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": files}, wait=REMOVED_AFTER)
    # Only a job with a dedupe key may exist already.
    assert removal is not None  # noqa: S101
    return AgainPlan(items, ids, removal)


def copy_proofs_again(files: Files, plan: AgainPlan) -> None:
    """Copy the proofs of each image to its copy. Idempotent."""
    for image, number in plan.stored:
        for old, new in zip(proof_keys(image.id), proof_keys(number), strict=True):
            try:
                with files.local(old) as proof:
                    files.put(new, proof)
            except FileMissing as error:
                message = f"The picture of image {image.id} is no longer stored."
                raise WrongState(message) from error


def order_again(work: Work, order_id: int, plan: AgainPlan) -> Order:
    """Create the draft, if all that was planned is still there."""
    order = get_order_to_change(work.db, work.merchant.id, order_id)
    if not cancel_removal(work.db, plan.removal):
        raise ServiceUnavailable(_TOO_LATE)
    kept = plan.stored
    _check_unchanged(work, order, [image for image, _ in kept])
    pictures = {image.picture_id for image, _ in kept if image.picture_id is not None}
    if not use_pictures(work.db, pictures, now=work.real_now):
        raise ServiceUnavailable("A picture was just removed; try again.")
    created = create_order(work, _copy(work, order))
    most = work.quotas.order_images
    check_adding(created.status, present=0, added=len(plan.items), most=most)
    added = [_insert(work, created, image, number) for image, number in kept]
    priced = attach_images(work, created, added).order if added else created
    for image in added:
        work.record(created.id, ImageJudged(image.id, image.status))
    enqueue_mockups(work, added)
    fetched = [
        _describe(item.image) for item in plan.items if not item.why_not and not item.is_stored
    ]
    add_images(work.unaudited, priced, fetched)
    work.audit_routine("order-again", f"order {created.id}", same_as=order.id)
    return created


def _check_unchanged(work: Work, order: Order, planned: Sequence[Image]) -> None:
    """Refuse images that were changed since: proofs of another edition may have been copied."""
    present = {image.id: image.edition for image in list_images(work.db, order.id)}
    if any(present.get(image.id) != image.edition for image in planned):
        raise WrongState(_CHANGED)


def _copy(work: Work, order: Order) -> NewOrder:
    """Describe the same order; its packing slip may name what is not in it any more."""
    names = set(NewOrder.__struct_fields__) - {"callback_format", "packing_slip_url"}
    same = {name: getattr(order, name) for name in names}
    return NewOrder(**same, callback_format=find_callback_format(work.db, order.id))


def _insert(work: Work, order: Order, image: Image, number: int) -> Image:
    new = normalise_image(work, order, _describe(image))
    facts = {name: getattr(image, name) for name in ("md5", "width", "height", "picture_id")}
    return insert_received_image(
        work.db, order.id, new, {**facts, "id": number, "status": ImageStatus.OK}, now=work.now
    )
