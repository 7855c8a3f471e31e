"""Another picture for an image: of an open order, or of one that is stuck because of it.

In an open order the image is removed and another one added, as a merchant's program would do. In a
submitted order the image stays, and awaits its file again.
"""

import msgspec

from printworks.actions.images.images import add_images, remove_image, set_image_url
from printworks.actions.images.uploads import (
    Upload,
    UploadResult,
    add_uploaded_image,
    begin_awaited_upload,
    begin_upload,
)
from printworks.actions.work import Work
from printworks.rules.images import ImageStatus, check_replacing
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import ReasonCode, drop_reasons
from printworks.store.images.images import Image, NewImage, get_image_of_order, update_image
from printworks.store.orders.orders import Order, get_order_to_change, update_order


def replace_by_url(work: Work, order: Order, image_id: int, url: str) -> int:
    """Let an image be fetched from another address; return the id that it has from now on."""
    image = _find(work, order, image_id)
    new = _describe(image, url)
    if order.status is OrderStatus.NOT_YET_SUBMITTED:
        left = remove_image(work.unaudited, order, image.id)
        [added] = add_images(work.unaudited, left, [new])
    else:
        added = set_image_url(work.unaudited, _reopen(work, order, image), new)
    _audit(work, order, image)
    return added.id


def begin_replacing(work: Work, order: Order, image_id: int) -> Upload:
    """Check whether an image can have another file, before the file is processed."""
    image = _find(work, order, image_id)
    new = _describe(image, None)
    if order.status is OrderStatus.NOT_YET_SUBMITTED:
        return begin_upload(work, order, new)
    return begin_awaited_upload(work, image, new)


def replace_by_upload(
    work: Work, order_id: int, image_id: int, done: tuple[Upload, UploadResult]
) -> int:
    """Give an image the file that was validated, if that is still allowed; return its id."""
    order = get_order_to_change(work.db, work.merchant.id, order_id)
    image = _find(work, order, image_id)
    upload, result = done
    if order.status is OrderStatus.NOT_YET_SUBMITTED:
        remove_image(work.unaudited, order, image.id)
    else:
        _reopen(work, order, image)
        # Its proofs were rendered for the next edition.
        upload = msgspec.structs.replace(upload, edition=upload.edition + 1)
    added = add_uploaded_image(work.unaudited, upload, result)
    _audit(work, order, image)
    return added.id


def _find(work: Work, order: Order, image_id: int) -> Image:
    image = get_image_of_order(work.db, order.id, image_id)
    check_replacing(order.status, image.status)
    return image


def _describe(image: Image, url: str | None) -> NewImage:
    """Describe the same print with another picture."""
    same = {name: getattr(image, name) for name in NewImage.__struct_fields__}
    return NewImage(**{**same, "url": url, "name": None, "expected_md5": None})


def _reopen(work: Work, order: Order, image: Image) -> Image:
    """Let an image await its file again; nothing stands in the way of its order meanwhile.

    It is another edition: browsers may have stored the proofs of the picture before.
    """
    forgotten = (
        "url",
        "name",
        "expected_md5",
        "md5",
        "width",
        "height",
        "picture_id",
        "mockup",
        "manifest",
    )
    values = {
        **dict.fromkeys((*forgotten, "error_message")),
        "status": ImageStatus.AWAITING_URL_OR_DATA,
        "edition": image.edition + 1,
        "updated_at": work.now,
    }
    reopened = update_image(work.db, image, values)
    # The order is locked, and was just read.
    assert reopened is not None  # noqa: S101
    reasons = drop_reasons(order.reasons, {ReasonCode.IMAGE_FAILED}, subject=image.id)
    update_order(work.db, order, {"reasons": reasons, "updated_at": work.now})
    return reopened


def _audit(work: Work, order: Order, image: Image) -> None:
    work.audit("replace-picture", f"order {order.id}", image=image.id)
