"""Photographs that a merchant adds to an issue: looked at and drawn anew, never kept as they came.

`begin_photos`, in a transaction, says whether it is allowed and what the files will be called;
`draw_photos`, outside of any, draws and keeps them; `add_photos`, in another transaction, lets
them join their issue. From the first step on it is promised that the files go, and the last takes
that back: however it ends in between, nothing is left.
"""

import secrets
import shutil
import tempfile
from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import structlog
from sqlalchemy import Connection

from printworks.actions.images.uploads import LEFT_FOR
from printworks.errors import BadInput, ServiceUnavailable, WrongState
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.imaging.processor import CannotBeProcessed, ImageProcessor, Invalid, PreparedImage
from printworks.rules.jobs import JobKind
from printworks.rules.sizing import PrintArea, Sizing
from printworks.store.images.pictures import cancel_removal
from printworks.store.issues.issues import Issue
from printworks.store.issues.photos import NewPhoto, count_photos, insert_photos
from printworks.store.queue.jobs import enqueue

MOST_PHOTOS: Final = 5

# The proxy of a picture is the whole of it, upright, about 1,800 pixels long, with nothing in it
# that the camera wrote. On which paper it would be printed does not matter.
_PAPER: Final = PrintArea(Fraction(6), Fraction(4))
# A proxy that is larger, or of a picture with longer sides, is not one that we would draw.
_LARGEST: Final = 8_000_000
_LONGEST_SIDE: Final = 30_000
_LONGEST_NAME: Final = 80
_NOT_NOW: Final = "Photographs cannot be taken at the moment; try again in a while."
_TOO_LATE: Final = "The photographs took too long to be looked at; send them again."

log = structlog.get_logger()


class SentPhoto(msgspec.Struct, frozen=True):
    """A file as it came, and what its sender calls it."""

    name: str
    content: BinaryIO


class PhotoBatch(msgspec.Struct, frozen=True):
    """Photographs in the making: what they will be called, and the job that removes them."""

    files: tuple[str, ...]
    removal: int


def begin_photos(db: Connection, *, present: int, added: int, now: datetime) -> PhotoBatch:
    """Check whether an issue may have so many, before anybody looks at them.

    `now` is the real time.
    """
    _check_number(present, added)
    # Not to be guessed, and known before there is a row.
    files = tuple(f"photos/{secrets.token_hex(16)}.jpg" for _ in range(added))
    removal = enqueue(
        db, JobKind.REMOVE_FILES, {"files": list(files)}, merchant=None, now=now, wait=LEFT_FOR
    )
    # Only a job with a key of its own may be there already.
    assert removal is not None  # noqa: S101
    return PhotoBatch(files, removal)


def _check_number(present: int, added: int) -> None:
    if present + added <= MOST_PHOTOS:
        return
    if present == 0:
        raise BadInput(f"Choose at most {MOST_PHOTOS} photographs; {added} came.")
    raise WrongState(
        f"The issue has {present} photographs already and can have {MOST_PHOTOS} at most."
    )


def draw_photos(
    processor: ImageProcessor, files: Files, batch: PhotoBatch, sent: Sequence[SentPhoto]
) -> list[NewPhoto]:
    """Draw photographs anew and keep what was drawn.

    Raise `BadInput` if a file is no picture, and `ServiceUnavailable` if nothing can be drawn or kept at
    the moment.
    """
    return [
        _draw(processor, files, key, photo) for key, photo in zip(batch.files, sent, strict=True)
    ]


def _draw(processor: ImageProcessor, files: Files, key: str, photo: SentPhoto) -> NewPhoto:
    with tempfile.TemporaryDirectory(prefix="printworks-") as name:
        folder = Path(name)
        source = folder / "photograph"
        with source.open("wb") as copy:
            shutil.copyfileobj(photo.content, copy)
        prepared = _prepare(processor, source, folder, photo.name)
        proxy = prepared.proxy
        size = prepared.facts.pixels
        # The child may have been taken over by the picture it was given.
        if proxy is None or proxy.stat().st_size > _LARGEST or max(size) > _LONGEST_SIDE:
            raise _refuse(photo.name, "The file cannot be processed.")
        try:
            files.put(key, proxy)
        except FilesUnavailable as error:
            log.error("photograph cannot be kept", reason=str(error))
            raise ServiceUnavailable(_NOT_NOW) from error
    return NewPhoto(key, size.width, size.height)


def _prepare(processor: ImageProcessor, source: Path, folder: Path, name: str) -> PreparedImage:
    result = processor.prepare(source, _PAPER, Sizing.SHRINK_TO_FIT, folder, with_proxy=True)
    match result:
        case PreparedImage():
            return result
        case Invalid():
            raise _refuse(name, result.reason)
        case CannotBeProcessed():
            log.warning("photograph cannot be processed", reason=result.reason)
            if result.is_ours:
                raise ServiceUnavailable(_NOT_NOW)
            raise _refuse(name, "The file cannot be processed.")


def _refuse(name: str, reason: str) -> BadInput:
    called = f"“{name[:_LONGEST_NAME]}”" if name else "One of the photographs"
    return BadInput(f"{called} cannot be used. {reason} Choose the photographs once more.")


def add_photos(
    db: Connection, issue: Issue, batch: PhotoBatch, drawn: Sequence[NewPhoto], *, now: datetime
) -> None:
    """Let photographs join an issue, if it may still have them; the caller holds its order."""
    _check_number(count_photos(db, issue), len(drawn))
    if not cancel_removal(db, batch.removal):
        raise ServiceUnavailable(_TOO_LATE)
    insert_photos(db, issue, drawn, now=now)
