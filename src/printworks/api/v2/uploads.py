"""Photos whose file comes with the request, through the 2.x family."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from printworks.actions.images.uploads import (
    Judged,
    add_uploaded_image,
    begin_filling,
    begin_upload,
    judge_upload,
)
from printworks.api.bodies import UploadedFile
from printworks.api.endpoints import Call, Unfinished
from printworks.errors import ServiceError
from printworks.store.images.images import Image, NewImage
from printworks.store.orders.orders import Order
from printworks.wire.v2.photos import PhotoOut


def add_upload(
    call: Call, order: Order, new: NewImage, file: UploadedFile, waiting: Image | None = None
) -> Unfinished[Judged | ServiceError]:
    """Add a photo with its file, or the file of one that waits for it.

    It is looked at outside of any transaction.
    """
    how: dict[str, Any] = {
        "catalogue": call.catalogue,
        "now": call.now,
        "request_id": call.request_id,
    }
    upload = (
        begin_upload(call.db, call.merchant, order, new, **how)
        if waiting is None
        else begin_filling(call.db, call.merchant, waiting, new, **how)
    )

    def ask() -> Judged | ServiceError:
        with tempfile.TemporaryDirectory(prefix="printworks-") as name:
            folder = Path(name)
            source = folder / "picture"
            with source.open("wb") as copy:
                shutil.copyfileobj(file.content, copy)
            try:
                return judge_upload(call.processor, call.open_files(), upload, source, folder)
            except ServiceError as refusal:
                return refusal

    def then(db: Connection, judged: Judged | ServiceError) -> Any:
        if isinstance(judged, ServiceError):
            return judged
        image = add_uploaded_image(
            db, call.merchant, upload, judged, catalogue=call.catalogue, now=call.now
        )
        return PhotoOut.of(image, call.catalogue, call.links)

    return Unfinished(ask, then)
