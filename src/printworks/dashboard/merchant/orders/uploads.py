"""Pictures that are uploaded with a form: validated, then added to an order, the good ones of them."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

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
# Of one form: each is processed while the browser waits.
MOST_FILES: Final = 20
_UNAVAILABLE: Final = "Uploads are temporarily unavailable. Try again in a few minutes."
_NO_PICTURE: Final = "Choose a picture, or enter the address of one."


class UploadedPicture(msgspec.Struct, frozen=True):
    """An uploaded file: its original name, and where it is stored now."""

    name: str
    path: Path


class ReceivedPictures(msgspec.Struct, frozen=True):
    """The files of a form that can be printed, and why others were not taken."""

    pictures: list[UploadedPicture]
    refused: list[str]


@contextmanager
def receive_pictures(
    visit: MerchantVisit, addressed: Sequence[NewImage]
) -> Iterator[ReceivedPictures]:
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
        pictures = [
            _store_upload(Path(folder), number, name, file)
            for number, (name, file) in enumerate(files[:MOST_FILES], start=1)
        ]
        too_many = [
            f"{clean_file_name(name) or _UNNAMED}: only {MOST_FILES} files can be added at once. Add it now."
            for name, _ in files[MOST_FILES:]
        ]
        yield ReceivedPictures(pictures, too_many)


def _store_upload(folder: Path, number: int, name: str, file: IO[bytes]) -> UploadedPicture:
    """Copy a file into a folder of its own: what is rendered lies beside it."""
    path = folder / str(number) / "picture"
    path.parent.mkdir()
    with file, path.open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return UploadedPicture(clean_file_name(name) or _UNNAMED, path)


def check_pictures(
    visit: MerchantVisit, received: ReceivedPictures, wanted: NewImage, *, alone: bool
) -> ReceivedPictures:
    """Return the pictures that can be printed, before anything is created.

    Refuse if none can, and there is nothing else in the order: they are `alone`.
    """
    services = visit.services
    product = services.catalogue.get_product(wanted.sku)
    good, refused = [], list(received.refused)
    for picture in received.pictures:
        verdict = check_picture(services.processor, picture.path, product, wanted.sizing)
        if isinstance(verdict, PreflightRefused):
            refused.append(_explain(picture, verdict.reason))
        else:
            good.append(picture)
    if alone and not good:
        raise BadInput(" ".join(refused))
    return ReceivedPictures(good, refused)


def add_pictures(
    visit: MerchantVisit,
    order_id: int,
    uploads: Sequence[Upload],
    received: ReceivedPictures,
    addressed: Sequence[NewImage],
) -> list[str]:
    """Process and store pictures, add the good ones to their order, and say why others were not.

    Refuse if none is good. Processing takes long and is outside any transaction.
    """
    processed, refused = _process(visit, uploads, received.pictures) if uploads else ([], [])
    if refused and not processed and not addressed:
        raise BadInput(" ".join(refused))
    with visit.services.database.writing() as db:
        add_images_together(visit.work_in(db), order_id, addressed, processed)
        visit.remember(db, f"/orders/{order_id}")
    return [*received.refused, *refused]


def _process(
    visit: MerchantVisit, uploads: Sequence[Upload], pictures: Sequence[UploadedPicture]
) -> tuple[list[tuple[Upload, UploadResult]], list[str]]:
    try:
        files = visit.services.files
    except FilesUnavailable as error:
        raise ServiceUnavailable(_UNAVAILABLE) from error
    processed, refused = [], []
    for upload, picture in zip(uploads, pictures, strict=True):
        result = validate_upload(
            visit.services.processor, files, upload, picture.path, picture.path.parent
        )
        if result.status is ImageStatus.OK:
            processed.append((name_upload(upload, picture.name), result))
        else:
            reason = result.error_message or "This file cannot be printed."
            refused.append(_explain(picture, reason))
    return processed, refused


def _explain(picture: UploadedPicture, reason: str) -> str:
    return f"{picture.name}: {reason}"
