"""Another picture for an image, from a form: by address, or a file that is validated at once."""

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection
from starlette.datastructures import UploadFile

from printworks.actions.images.replacing import (
    begin_replacing,
    replace_by_upload,
    replace_by_url,
)
from printworks.actions.images.uploads import (
    Upload,
    UploadResult,
    drop_upload,
    name_upload,
    validate_upload,
)
from printworks.actions.work import Work
from printworks.dashboard.site.forms import at_field
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.visits import Visit
from printworks.errors import BadInput
from printworks.rules.images import ImageStatus
from printworks.store.orders.orders import Order

# Begins work on the order in a transaction, and locks it.
LockOrder = Callable[[Connection], tuple[Work, Order]]


def take_picture(visit: Visit, image_id: int, lock: LockOrder) -> int:
    """Give an image the picture of a form; return the id that it has from now on."""
    files, url = visit.sent.files.get("picture", ()), visit.sent.text("url")
    if len(files) > 1 or bool(files) == bool(url):
        raise BadInput("Enter the address of a picture, or choose one file.", field="url")
    if files:
        return _replace_by_file(visit.services, image_id, files[0], lock)
    with visit.services.database.writing() as db:
        work, order = lock(db)
        with at_field("url"):
            return replace_by_url(work, order, image_id, url)


def _replace_by_file(
    services: PageServices, image_id: int, file: UploadFile, lock: LockOrder
) -> int:
    """Validate a file outside any transaction, then give it to the image."""
    services.check_room()
    with services.database.writing() as db:
        work, order = lock(db)
        upload = begin_replacing(work, order, image_id)
    try:
        result = _validate(services, upload, file)
        if result.status is not ImageStatus.OK:
            message = result.error_message or "This file cannot be printed."
            raise BadInput(message, field="picture")
        named = name_upload(upload, file.filename or "")
        with services.database.writing() as db:
            work, order = lock(db)
            return replace_by_upload(work, order.id, image_id, (named, result))
    except BaseException:
        with services.database.writing() as db:
            work, _ = lock(db)
            drop_upload(work, upload)
        raise


def _validate(services: PageServices, upload: Upload, file: UploadFile) -> UploadResult:
    with TemporaryDirectory(prefix="printworks-") as folder:
        picture = Path(folder) / "picture"
        with picture.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
        return validate_upload(services.processor, services.files, upload, picture, Path(folder))
