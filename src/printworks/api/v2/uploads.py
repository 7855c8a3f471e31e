"""Photos whose file comes with the request, through the 2.x family."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from printworks.actions.images.uploads import (
    UploadResult,
    add_uploaded_image,
    begin_awaited_upload,
    begin_upload,
    validate_upload,
)
from printworks.api.bodies import UploadedFile
from printworks.api.endpoints import Call, Unfinished
from printworks.errors import ServiceError
from printworks.store.images.images import Image, NewImage
from printworks.store.orders.orders import Order
from printworks.wire.v2.photos import PhotoOut


def add_upload(
    call: Call, order: Order, new: NewImage, file: UploadedFile, waiting: Image | None = None
) -> Unfinished[UploadResult | ServiceError]:
    """Add a photo with its file, or the file of one that lacks it.

    The file is validated outside any transaction.
    """
    upload = (
        begin_upload(call.work, order, new)
        if waiting is None
        else begin_awaited_upload(call.work, waiting, new)
    )

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
        image = add_uploaded_image(call.work_in(db), upload, result)
        return PhotoOut.of(image, call.work.catalogue, call.links)

    return Unfinished(ask, then)
