"""Pictures that come with a form: looked at first, and added to an order all or none."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final, NoReturn

import msgspec

from printworks.actions.images.images import add_images
from printworks.actions.images.preflight import PreflightRefused, check_picture
from printworks.actions.images.uploads import (
    Judged,
    Upload,
    add_uploaded_image,
    begin_upload,
    judge_upload,
)
from printworks.dashboard.shared.words import shorten
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.errors import FilesUnavailable
from printworks.rules.images import ImageStatus
from printworks.store.images.images import NewImage
from printworks.store.orders.orders import Order, get_order_to_change

# The name of the field, and how the picture of ours is called that is there for trying.
PICTURES: Final = "pictures"
SAMPLE: Final = "sample"
_NOT_NOW: Final = "Pictures cannot be kept at the moment; try again in a while."
_NO_PICTURE: Final = "Choose a picture, or give the address of one."


class UploadedPicture(msgspec.Struct, frozen=True):
    """A file that came with a form: how its owner calls it, and where it lies now."""

    name: str
    path: Path


@contextmanager
def receive_pictures(
    visit: MerchantVisit, addressed: Sequence[NewImage]
) -> Iterator[list[UploadedPicture]]:
    """Lay the pictures of a form into a folder of their own, or ours if none came with it.

    Refuse a form that has neither those nor addresses.
    """
    with TemporaryDirectory(prefix="printworks-") as folder:
        files: list[tuple[str, IO[bytes]]] = [
            (file.filename or "A picture", file.file) for file in visit.sent.files.get(PICTURES, ())
        ]
        wants_sample = visit.services.is_sandbox and visit.sent.text(SAMPLE) != ""
        if not files and not addressed and wants_sample:
            sample = resources.files("printworks.dashboard").joinpath("static", "sample.jpg")
            files = [("Our sample picture", sample.open("rb"))]
        if not files and not addressed:
            raise BadInput(_NO_PICTURE)
        yield [
            _lay_down(Path(folder), number, name, file)
            for number, (name, file) in enumerate(files, start=1)
        ]


def _lay_down(folder: Path, number: int, name: str, file: IO[bytes]) -> UploadedPicture:
    """Copy a file into a folder of its own: what is drawn of it lies beside it."""
    path = folder / str(number) / "picture"
    path.parent.mkdir()
    with file, path.open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return UploadedPicture(shorten(name), path)


def look_at(visit: MerchantVisit, pictures: Sequence[UploadedPicture], wanted: NewImage) -> None:
    """Refuse pictures of which one cannot be printed, before anything is made for them."""
    services = visit.services
    product = services.catalogue.get_product(wanted.sku)
    for picture in pictures:
        verdict = check_picture(
            services.processor, picture.path, product, wanted.sizing, picture.path.parent
        )
        if isinstance(verdict, PreflightRefused):
            _refuse(picture, verdict.reason)


def announce(
    visit: MerchantVisit, order: Order, pictures: Sequence[UploadedPicture], wanted: NewImage
) -> list[Upload]:
    """Ask whether the pictures may be added to an order, in the transaction of the visit."""
    return [
        begin_upload(
            visit.db,
            visit.merchant,
            order,
            wanted,
            catalogue=visit.services.catalogue,
            now=visit.now,
            request_id=visit.request.state.request_id,
        )
        for _ in pictures
    ]


def judge_all(
    visit: MerchantVisit, uploads: Sequence[Upload], pictures: Sequence[UploadedPicture]
) -> list[Judged]:
    """Draw and keep the pictures, outside of any transaction; refuse all if one is none."""
    if not uploads:
        return []
    try:
        files = visit.services.files
    except FilesUnavailable as error:
        raise ServiceUnavailable(_NOT_NOW) from error
    judged = []
    for upload, picture in zip(uploads, pictures, strict=True):
        verdict = judge_upload(
            visit.services.processor, files, upload, picture.path, picture.path.parent
        )
        if verdict.status is not ImageStatus.OK:
            _refuse(picture, verdict.error_message or "This file cannot be printed.")
        judged.append(verdict)
    return judged


def join(
    visit: MerchantVisit,
    order_id: int,
    uploads: Sequence[Upload],
    judged: Sequence[Judged],
    addressed: Sequence[NewImage],
) -> None:
    """Let all pictures join their order, in the transaction of the visit."""
    db, merchant, catalogue = visit.db, visit.merchant, visit.services.catalogue
    order = get_order_to_change(db, merchant.id, order_id)
    add_images(
        db,
        merchant,
        order,
        addressed,
        catalogue=catalogue,
        now=visit.now,
        request_id=visit.request.state.request_id,
    )
    for upload, verdict in zip(uploads, judged, strict=True):
        add_uploaded_image(db, merchant, upload, verdict, catalogue=catalogue, now=visit.now)


def _refuse(picture: UploadedPicture, reason: str) -> NoReturn:
    raise BadInput(f"{picture.name}: {reason}")
