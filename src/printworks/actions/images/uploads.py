"""Images whose file comes with the request that adds them: judged at once.

`begin_upload`, in a transaction, says whether it is allowed and what the files will be called;
`judge_upload`, outside of any, looks at the file and keeps it; `add_uploaded_image`, in another
transaction, lets the image join its order. From the first step on it is promised that the files
go, and the last takes that back: however it ends in between, nothing is left.
"""

import hashlib
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
from sqlalchemy import Connection

from printworks.actions.images.images import (
    JUST_FILLED,
    filling_key,
    fit_image,
    join_order,
    judge_image,
)
from printworks.actions.images.pictures import (
    NOT_AS_EXPECTED,
    describe_picture,
    keep_original,
    keep_proofs,
    refuse_file,
    remember_picture,
    remove_files,
)
from printworks.catalogue.products import Product
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, ServiceUnavailable, WrongState
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.imaging.processor import (
    PREPARE_LIMITS,
    CannotBeProcessed,
    ImageProcessor,
    Invalid,
    PreparedImage,
)
from printworks.rules.events import ImageJudged
from printworks.rules.images import ImageStatus, check_adding
from printworks.rules.jobs import JobKind
from printworks.rules.orders import check_not_being_paid
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import (
    Image,
    NewImage,
    get_image_of_order,
    insert_received_image,
    reserve_image_id,
)
from printworks.store.images.pictures import NewPicture, cancel_removal, proof_keys, uploaded_key
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.queue.jobs import enqueue

# Longer than any request takes.
LEFT_FOR: Final = timedelta(hours=1)
CANNOT_BE_PROCESSED: Final = "The file cannot be processed."

_CHUNK: Final = 65_536
_NOT_NOW: Final = "Pictures cannot be taken at the moment; try again in a while."
_TOO_LATE: Final = "The upload took too long to be looked at; send it again."

log = structlog.get_logger()


class Upload(msgspec.Struct, frozen=True):
    """An image in the making: its number, by which its files are called, and what is known of it."""

    image_id: int
    order_id: int
    new: NewImage
    product: Product
    # The job that removes its files unless it becomes an image.
    removal: int
    # Whether the image is there already, and has waited for this.
    is_awaited: bool = False


class Judged(msgspec.Struct, frozen=True):
    """What was found out about the file of an upload."""

    status: ImageStatus
    md5: str
    # None if nothing was found out that another image with the same content should know.
    picture: NewPicture | None
    error_message: str | None = None


def begin_upload(
    db: Connection,
    merchant: Merchant,
    order: Order,
    new: NewImage,
    *,
    catalogue: Catalogue,
    now: datetime,
    request_id: str | None = None,
) -> Upload:
    """Check whether an image can be added to an order, before anybody looks at its file."""
    fitting = _check(merchant, order, new, catalogue)
    image_id = reserve_image_id(db, order.id, fitting, now=now)
    removal = enqueue(
        db,
        JobKind.REMOVE_FILES,
        {"files": [uploaded_key(image_id), *proof_keys(image_id)]},
        merchant=None,
        now=now - merchant.clock_offset,
        wait=LEFT_FOR,
        request_id=request_id,
    )
    # Only a job with a key of its own may be there already.
    assert removal is not None  # noqa: S101
    product = catalogue.get_product(fitting.sku)
    return Upload(image_id, order.id, fitting, product, removal)


def begin_filling(
    db: Connection,
    merchant: Merchant,
    image: Image,
    new: NewImage,
    *,
    catalogue: Catalogue,
    now: datetime,
    request_id: str | None = None,
) -> Upload:
    """Let an image that waits for its file have it; how it is printed was said before."""
    removal = enqueue(
        db,
        JobKind.REMOVE_FILES,
        {"files": [uploaded_key(image.id), *proof_keys(image.id)]},
        merchant=None,
        now=now - merchant.clock_offset,
        wait=LEFT_FOR,
        dedupe_key=filling_key(image.id),
        request_id=request_id,
    )
    if removal is None:
        raise WrongState(JUST_FILLED)
    fitting = msgspec.structs.replace(new, sizing=image.sizing, formats=image.formats)
    product = catalogue.get_product(image.sku)
    return Upload(image.id, image.order_id, fitting, product, removal, is_awaited=True)


def _check(merchant: Merchant, order: Order, new: NewImage, catalogue: Catalogue) -> NewImage:
    check_adding(order.status, present=order.image_count, added=1)
    check_not_being_paid(order.payment_request_id)
    return fit_image(merchant, order, new, catalogue)


def judge_upload(
    processor: ImageProcessor, files: Files, upload: Upload, source: Path, folder: Path
) -> Judged:
    """Look at the file of an upload and keep it; `folder` takes what is drawn.

    Raise `BadInput` if it is not the file that the merchant named, and `ServiceUnavailable` if nothing
    can be drawn or kept at the moment.
    """
    new, received = upload.new, _measure(source)
    if new.expected_md5 is not None and new.expected_md5.lower() != received.md5:
        raise BadInput(NOT_AS_EXPECTED)
    unwanted = refuse_file(new.formats, source)
    if unwanted is not None:
        return Judged(ImageStatus.INVALID, received.md5, None, unwanted)
    result = _prepare(processor, upload, source, folder)
    if isinstance(result, CannotBeProcessed):
        log.warning("file cannot be processed", reason=result.reason)
        return Judged(ImageStatus.INVALID, received.md5, None, CANNOT_BE_PROCESSED)
    if isinstance(result, Invalid):
        refused = msgspec.structs.replace(received, refusal=result.reason)
        return Judged(ImageStatus.INVALID, received.md5, refused, result.reason)
    try:
        key = uploaded_key(upload.image_id)
        picture = keep_original(files, received, result.facts, source, key=key)
        keep_proofs(files, upload.image_id, folder)
    except FilesUnavailable as error:
        log.error("upload cannot be kept", reason=str(error))
        raise ServiceUnavailable(_NOT_NOW) from error
    return Judged(ImageStatus.OK, received.md5, picture)


def _measure(source: Path) -> NewPicture:
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with source.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sha256.update(chunk)
            md5.update(chunk)
            size += len(chunk)
    return NewPicture(sha256=sha256.hexdigest(), md5=md5.hexdigest(), size=size)


def _prepare(
    processor: ImageProcessor, upload: Upload, source: Path, folder: Path
) -> PreparedImage | Invalid | CannotBeProcessed:
    """Have the proofs drawn; when no verdict comes, try once more."""
    area, sizing = upload.product.print_area, upload.new.sizing
    result = processor.prepare(source, area, sizing, folder)
    if isinstance(result, CannotBeProcessed):
        result = processor.prepare(source, area, sizing, folder)
    if not isinstance(result, CannotBeProcessed):
        return result
    # Whether the disk is full is not left to the child to say, which a picture may have taken over.
    is_cramped = shutil.disk_usage(folder).free < PREPARE_LIMITS.file_size
    if result.is_ours or is_cramped:
        log.error("upload cannot be looked at", reason=result.reason)
        raise ServiceUnavailable(_NOT_NOW)
    return result


def add_uploaded_image(
    db: Connection,
    merchant: Merchant,
    upload: Upload,
    judged: Judged,
    *,
    catalogue: Catalogue,
    now: datetime,
) -> Image:
    """Let an uploaded image join its order, if that is still allowed."""
    order = get_order_to_change(db, merchant.id, upload.order_id)
    # Once more: the order may have been submitted meanwhile, or go to another country.
    fitting = upload.new if upload.is_awaited else _check(merchant, order, upload.new, catalogue)
    if not cancel_removal(db, upload.removal):
        raise ServiceUnavailable(_TOO_LATE)
    real_now, status = now - merchant.clock_offset, judged.status
    facts: dict[str, object] = {"md5": judged.md5, "error_message": judged.error_message}
    if judged.picture is not None:
        picture = remember_picture(db, judged.picture, now=real_now)
        facts = describe_picture(picture)
        if picture.refusal is not None and status is ImageStatus.OK:
            # Who came first was told otherwise, and its verdict stands.
            remove_files(db, list(proof_keys(upload.image_id)), now=real_now)
            status = ImageStatus.INVALID
    if upload.is_awaited:
        return _fill(db, merchant, order, upload, status, facts, now=now)
    image = insert_received_image(
        db, order.id, upload.image_id, fitting, {**facts, "status": status}, now=now
    )
    join_order(db, merchant, order, [image], catalogue=catalogue, now=now)
    record_event(db, order.id, ImageJudged(image.id, status), now=now)
    return image


def _fill(
    db: Connection,
    merchant: Merchant,
    order: Order,
    upload: Upload,
    status: ImageStatus,
    facts: dict[str, Any],
    *,
    now: datetime,
) -> Image:
    waiting = get_image_of_order(db, order.id, upload.image_id)
    if waiting.status is not ImageStatus.AWAITING_URL_OR_DATA:
        raise WrongState(JUST_FILLED)
    judge_image(db, merchant, waiting, status, now=now, **facts)
    return get_image_of_order(db, order.id, upload.image_id)
