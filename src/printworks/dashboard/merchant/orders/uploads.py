"""Pictures that are uploaded with a form: validated, then added to an order, all or none."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final, NoReturn

import msgspec

from printworks.actions.images.preflight import PreflightRefused, check_picture
from printworks.actions.images.uploads import (
    Upload,
    UploadResult,
    add_images_together,
    name_upload,
    validate_upload,
)
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.errors import FilesUnavailable
from printworks.rules.image_names import clean_file_name
from printworks.rules.images import ImageStatus
from printworks.store.images.images import NewImage

# The names of the fields: uploads, and whether to use the sample.
PICTURES: Final = "pictures"
SAMPLE: Final = "sample"
_UNNAMED: Final = "A picture"
_UNAVAILABLE: Final = "Uploads are temporarily unavailable. Try again in a few minutes."
_NO_PICTURE: Final = "Choose a picture, or enter the address of one."


class UploadedPicture(msgspec.Struct, frozen=True):
    """An uploaded file: its original name, and where it is stored now."""

    name: str
    path: Path


@contextmanager
def receive_pictures(
    visit: MerchantVisit, addressed: Sequence[NewImage]
) -> Iterator[list[UploadedPicture]]:
    """Copy the pictures of a form, or the sample if it was asked for, into a folder.

    Refuse a form with neither pictures nor addresses.
    """
    with TemporaryDirectory(prefix="printworks-") as folder:
        files: list[tuple[str, IO[bytes]]] = [
            (file.filename or _UNNAMED, file.file) for file in visit.sent.files.get(PICTURES, ())
        ]
        wants_sample = visit.services.is_sandbox and visit.sent.text(SAMPLE) != ""
        if not files and not addressed and wants_sample:
            sample = resources.files("printworks.dashboard").joinpath("static", "sample.jpg")
            files = [("Our sample picture", sample.open("rb"))]
        if not files and not addressed:
            raise BadInput(_NO_PICTURE, field="pictures")
        if files:
            visit.services.check_room()
        yield [
            _store_upload(Path(folder), number, name, file)
            for number, (name, file) in enumerate(files, start=1)
        ]


def _store_upload(folder: Path, number: int, name: str, file: IO[bytes]) -> UploadedPicture:
    """Copy a file into a folder of its own: what is rendered lies beside it."""
    path = folder / str(number) / "picture"
    path.parent.mkdir()
    with file, path.open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return UploadedPicture(clean_file_name(name) or _UNNAMED, path)


def check_pictures(
    visit: MerchantVisit, pictures: Sequence[UploadedPicture], wanted: NewImage
) -> None:
    """Refuse the pictures if one cannot be printed, before anything is created."""
    services = visit.services
    product = services.catalogue.get_product(wanted.sku)
    for picture in pictures:
        verdict = check_picture(
            services.processor, picture.path, product, wanted.sizing, picture.path.parent
        )
        if isinstance(verdict, PreflightRefused):
            _refuse(picture, verdict.reason)


def add_pictures(
    visit: MerchantVisit,
    order_id: int,
    uploads: Sequence[Upload],
    pictures: Sequence[UploadedPicture],
    addressed: Sequence[NewImage],
) -> None:
    """Process and store pictures, then add them to their order; refuse all if one is invalid.

    Processing takes long and is outside any transaction.
    """
    processed = _process(visit, uploads, pictures) if uploads else []
    with visit.services.database.writing() as db:
        add_images_together(visit.work_in(db), order_id, addressed, processed)
        visit.remember(db, f"/orders/{order_id}")


def _process(
    visit: MerchantVisit, uploads: Sequence[Upload], pictures: Sequence[UploadedPicture]
) -> list[tuple[Upload, UploadResult]]:
    try:
        files = visit.services.files
    except FilesUnavailable as error:
        raise ServiceUnavailable(_UNAVAILABLE) from error
    processed = []
    for upload, picture in zip(uploads, pictures, strict=True):
        result = validate_upload(
            visit.services.processor, files, upload, picture.path, picture.path.parent
        )
        if result.status is not ImageStatus.OK:
            _refuse(picture, result.error_message or "This file cannot be printed.")
        processed.append((name_upload(upload, picture.name), result))
    return processed


def _refuse(picture: UploadedPicture, reason: str) -> NoReturn:
    raise BadInput(f"{picture.name}: {reason}", field="pictures")
