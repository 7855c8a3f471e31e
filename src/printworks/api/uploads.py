"""Images whose file comes with the request, through every version."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from printworks.actions.images.images import get_waiting_image, set_image_url
from printworks.actions.images.uploads import (
    Upload,
    UploadResult,
    add_uploaded_image,
    begin_awaited_upload,
    drop_upload,
    name_upload,
    validate_upload,
)
from printworks.api.bodies import UploadedFile, list_files
from printworks.api.endpoints import Call, Unfinished
from printworks.errors import BadInput, ServiceError
from printworks.store.images.images import Image, NewImage
from printworks.store.orders.orders import get_order_to_change
from printworks.wire.images import FillImage
from printworks.wire.reading import read


def find_upload(body: object) -> UploadedFile | None:
    """Return the file in a body, if there is one."""
    # A browser sends a file without a name if none was chosen.
    return next((file for file in list_files(body) if file.name), None)


def fill_image(call: Call, image_id: int, show: Callable[[Image], Any]) -> Any:
    """Give an image that awaits it its file, or the address where it is."""
    order = get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    image = get_waiting_image(call.db, order, image_id)
    given, file = read(FillImage, call.body), find_upload(call.body)
    new = NewImage(sku=image.sku, url=given.url, copies=image.copies, expected_md5=given.md5Hash)
    if file is not None:
        return add_upload(call, begin_awaited_upload(call.work, image, new), file, show)
    if new.url is None:
        raise BadInput("Send the `file`, or the `url` where it is.")
    return show(set_image_url(call.work, image, new))


def add_upload(
    call: Call, upload: Upload, file: UploadedFile, show: Callable[[Image], Any]
) -> Unfinished[UploadResult | ServiceError]:
    """Add an image with its file; the file is validated outside any transaction."""
    upload = name_upload(upload, file.name)

    def ask() -> UploadResult | ServiceError:
        with tempfile.TemporaryDirectory(prefix="printworks-") as name:
            folder = Path(name)
            source = folder / "picture"
            with source.open("wb") as copy:
                shutil.copyfileobj(file.content, copy)
            try:
                return validate_upload(
                    call.services.processor, call.services.files, upload, source, folder
                )
            except ServiceError as refusal:
                return refusal

    def then(db: Connection, result: UploadResult | ServiceError) -> Any:
        if isinstance(result, ServiceError):
            return result
        return show(add_uploaded_image(call.work_in(db), upload, result))

    def otherwise(db: Connection) -> None:
        drop_upload(call.work_in(db), upload)

    return Unfinished(ask, then, otherwise=otherwise)
