"""Images whose file comes with the request that adds them: validated at once.

`begin_upload`, in a transaction, checks that it is allowed and names the files; `validate_upload`,
outside any transaction, validates and stores the file; `add_uploaded_image`, in another
transaction, adds the image to its order. The first step enqueues the removal of the files and the
last cancels it, so that a failure in between leaves nothing behind.

For an image that awaits its file, the key of that job is also what keeps others from sending one at
the same time. `drop_upload` gives it up; if the process dies before it can, the job ends and with it
the claim to the image. The proofs have the names of the image: they stay, for the next file or until
the image is erased.
"""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog

from printworks.actions.images.images import (
    FILE_ALREADY_SENT,
    add_images,
    attach_images,
    awaited_upload_key,
    normalise_image,
    record_image_status,
)
from printworks.actions.images.mockups import enqueue_mockups
from printworks.actions.images.pictures import (
    NOT_AS_EXPECTED,
    RenderingUnavailable,
    Unprocessable,
    count_picture,
    describe_picture,
    refuse_file,
    register_picture,
    remove_files,
    render_reliably,
    store_original,
    store_proofs,
)
from printworks.actions.work import Work
from printworks.catalogue.products import Product
from printworks.errors import BadInput, ServiceUnavailable, WrongState
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor, Invalid
from printworks.rules.events import ImageJudged
from printworks.rules.image_names import clean_file_name
from printworks.rules.images import ImageStatus, check_adding, check_filling
from printworks.rules.jobs import JobKind
from printworks.rules.orders import check_not_being_paid
from printworks.rules.quotas import check_files
from printworks.rules.sizing import Layout
from printworks.store.images.images import (
    Image,
    NewImage,
    get_image_of_order,
    insert_received_image,
    reserve_image_ids,
)
from printworks.store.images.pictures import (
    NewPicture,
    awaited_key,
    cancel_removal,
    proof_keys,
    uploaded_key,
)
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.queue.jobs import free_key, give_up_key

# Longer than any request takes.
REMOVED_AFTER: Final = timedelta(hours=1)

_CHUNK: Final = 65_536
_UNAVAILABLE: Final = "Uploads are temporarily unavailable; try again later."
_TOO_LATE: Final = "The upload took too long to process; send it again."

log = structlog.get_logger()


class Upload(msgspec.Struct, frozen=True):
    """An image that is being uploaded; its proofs are named by its id."""

    image_id: int
    order_id: int
    new: NewImage
    product: Product
    # The key of the file itself.
    file: str
    # The job that removes its files unless it becomes an image.
    removal: int
    # Whether the image exists already and awaits its file, and which edition of it.
    is_awaited: bool = False
    edition: int = 0


class UploadResult(msgspec.Struct, frozen=True):
    """The result of validating the file of an upload."""

    status: ImageStatus
    md5: str
    # None if the result does not hold for other images with the same content.
    picture: NewPicture | None
    error_message: str | None = None


def begin_upload(work: Work, order: Order, new: NewImage) -> Upload:
    """Check whether an image can be added to an order, before its file is processed."""
    check_files(work.merchant.file_bytes, work.quotas)
    normalised = _check(work, order, new)
    [image_id] = reserve_image_ids(work.db, order.id, 1, now=work.now)
    file = uploaded_key(image_id)
    removal = _enqueue_removal(work, [file, *proof_keys(image_id)])
    # Only a job with a dedupe key may exist already.
    assert removal is not None  # noqa: S101
    product = work.catalogue.get_product(normalised.sku)
    return Upload(image_id, order.id, normalised, product, file, removal)


def begin_awaited_upload(work: Work, image: Image, new: NewImage) -> Upload:
    """Begin the upload for an image that awaits its file; its sizing is known already."""
    check_files(work.merchant.file_bytes, work.quotas)
    file, key = awaited_key(image.id, secrets.token_hex(8)), awaited_upload_key(image.id)
    # Of an upload that died with its process: it can no longer add its file.
    free_key(work.db, key)
    removal = _enqueue_removal(work, [file], dedupe_key=key)
    if removal is None:
        raise WrongState(FILE_ALREADY_SENT)
    awaited = msgspec.structs.replace(
        new, sizing=image.sizing, placement=image.placement, formats=image.formats
    )
    product = work.catalogue.get_product(image.sku)
    return Upload(
        *(image.id, image.order_id, awaited, product, file, removal),
        is_awaited=True,
        edition=image.edition,
    )


def drop_upload(work: Work, upload: Upload) -> None:
    """Let another file be sent at once instead of one that came to nothing."""
    give_up_key(work.db, upload.removal)


def _enqueue_removal(
    work: Work, files: Sequence[str], *, dedupe_key: str | None = None
) -> int | None:
    return work.enqueue_unowned(
        JobKind.REMOVE_FILES, {"files": files}, wait=REMOVED_AFTER, dedupe_key=dedupe_key
    )


def _check(work: Work, order: Order, new: NewImage) -> NewImage:
    work.check_may_order()
    check_adding(order.status, present=order.image_count, added=1, most=work.quotas.order_images)
    check_not_being_paid(order.payment_request_id)
    return normalise_image(work, order, new)


def validate_upload(
    processor: ImageProcessor, files: Files, upload: Upload, source: Path, folder: Path
) -> UploadResult:
    """Validate the file of an upload and store it; `folder` receives what is rendered.

    Raise `BadInput` if its hash is not the expected one, and `ServiceUnavailable` if nothing can
    be rendered or stored now.
    """
    new, received = upload.new, _measure(source)
    if new.expected_md5 is not None and new.expected_md5.lower() != received.md5:
        raise BadInput(NOT_AS_EXPECTED)
    unwanted = refuse_file(new.formats, source)
    if unwanted is not None:
        return UploadResult(ImageStatus.INVALID, received.md5, None, unwanted)
    layout = Layout(upload.product.print_area, new.sizing, new.position)
    try:
        result = render_reliably(lambda: processor.prepare(source, layout, folder), folder)
    except RenderingUnavailable as error:
        log.error("upload cannot be validated", reason=str(error))
        raise ServiceUnavailable(_UNAVAILABLE) from error
    if isinstance(result, Unprocessable):
        return UploadResult(ImageStatus.INVALID, received.md5, None, result.reason)
    if isinstance(result, Invalid):
        refused = msgspec.structs.replace(received, refusal=result.reason)
        return UploadResult(ImageStatus.INVALID, received.md5, refused, result.reason)
    try:
        picture = store_original(files, received, result.facts, source, key=upload.file)
        store_proofs(files, upload.image_id, folder)
    except FilesUnavailable as error:
        log.error("upload cannot be stored", reason=str(error))
        raise ServiceUnavailable(_UNAVAILABLE) from error
    return UploadResult(ImageStatus.OK, received.md5, picture)


def _measure(source: Path) -> NewPicture:
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with source.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sha256.update(chunk)
            md5.update(chunk)
            size += len(chunk)
    return NewPicture(sha256=sha256.hexdigest(), md5=md5.hexdigest(), size=size)


def name_upload(upload: Upload, file_name: str) -> Upload:
    """Note what the file of an upload is called."""
    named = msgspec.structs.replace(upload.new, name=clean_file_name(file_name))
    return msgspec.structs.replace(upload, new=named)


def add_uploaded_image(work: Work, upload: Upload, result: UploadResult) -> Image:
    """Add an uploaded image to its order, if that is still allowed."""
    order = get_order_to_change(work.db, work.merchant.id, upload.order_id)
    # Again: the order may have been submitted or changed in the meantime.
    new = upload.new if upload.is_awaited else _check(work, order, upload.new)
    if not cancel_removal(work.db, upload.removal):
        raise ServiceUnavailable(_TOO_LATE)
    status = result.status
    facts: dict[str, object] = {"md5": result.md5, "error_message": result.error_message}
    if result.picture is not None:
        picture = register_picture(work, result.picture)
        count_picture(work, picture)
        facts = describe_picture(picture)
        if picture.refusal is not None and status is ImageStatus.OK:
            # The same content was rejected before, and that result stands.
            remove_files(work, list(proof_keys(upload.image_id)))
            status = ImageStatus.INVALID
    if upload.is_awaited:
        facts["name"] = new.name
        return _complete_awaited_image(work, order, upload, status, facts)
    facts |= {"id": upload.image_id, "status": status}
    image = insert_received_image(work.db, order.id, new, facts, now=work.now)
    [image] = attach_images(work, order, [image]).show([image])
    work.audit_routine("add-images", f"order {order.id}", images=1)
    work.record(order.id, ImageJudged(image.id, status))
    enqueue_mockups(work, [image])
    return image


def add_images_together(
    work: Work,
    order_id: int,
    linked: Sequence[NewImage],
    uploaded: Sequence[tuple[Upload, UploadResult]],
) -> None:
    """Add images by URL and by upload, all or none, with one entry in the audit log."""
    order = get_order_to_change(work.db, work.merchant.id, order_id)
    add_images(work.unaudited, order, linked)
    for upload, result in uploaded:
        add_uploaded_image(work.unaudited, upload, result)
    work.audit_routine("add-images", f"order {order_id}", images=len(linked) + len(uploaded))


def _complete_awaited_image(
    work: Work, order: Order, upload: Upload, status: ImageStatus, facts: dict[str, Any]
) -> Image:
    waiting = get_image_of_order(work.db, order.id, upload.image_id)
    if waiting.status is not ImageStatus.AWAITING_URL_OR_DATA:
        raise WrongState(FILE_ALREADY_SENT)
    # Again: the order may have been cancelled in the meantime.
    check_filling(order.status, waiting.status)
    record_image_status(work, waiting, status, **facts, proof_edition=upload.edition)
    return get_image_of_order(work.db, order.id, upload.image_id)
