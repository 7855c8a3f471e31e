"""Photos that a merchant adds to an issue: rendered again, never stored as they came.

`begin_photos`, in a transaction, checks that it is allowed and names the files; `render_photos`,
outside any transaction, renders and stores them; `add_photos`, in another transaction, adds them
to their issue. The first step enqueues the removal of the files and the last cancels it, so that a
failure in between leaves nothing behind.
"""

import secrets
import shutil
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import structlog

from printworks.actions.images.uploads import REMOVED_AFTER
from printworks.actions.work import SystemWork
from printworks.errors import BadInput, ServiceUnavailable, WrongState
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.imaging.processor import CannotBeProcessed, ImageProcessor, Invalid, PreparedImage
from printworks.rules.jobs import JobKind
from printworks.rules.sizing import Layout, PrintArea, Sizing
from printworks.store.images.pictures import cancel_removal
from printworks.store.issues.issues import Issue
from printworks.store.issues.photos import NewPhoto, count_photos, insert_photos

MOST_PHOTOS: Final = 5

# The proxy of a picture is all of it, upright, about 1,800 pixels long and without metadata.
# The paper size does not matter.
_PAPER: Final = Layout(PrintArea(Fraction(6), Fraction(4)), Sizing.SHRINK_TO_FIT)
# The image processor renders no larger proxy, and accepts no longer sides.
_LARGEST: Final = 8_000_000
_LONGEST_SIDE: Final = 30_000
_LONGEST_NAME: Final = 80
_UNAVAILABLE: Final = "Photos are temporarily unavailable; try again later."
_TOO_LATE: Final = "The photos took too long to process; send them again."

log = structlog.get_logger()


class SentPhoto(msgspec.Struct, frozen=True):
    """A file as it came, and its name."""

    name: str
    content: BinaryIO


class PhotoBatch(msgspec.Struct, frozen=True):
    """Photos that are being added: the names of their files, and the job that removes them."""

    files: tuple[str, ...]
    removal: int


def begin_photos(work: SystemWork, *, present: int, added: int) -> PhotoBatch:
    """Check whether an issue may have so many photos, before they are rendered."""
    _check_number(present, added)
    # Random, because the names must not be guessable and there is no row yet.
    files = tuple(f"photos/{secrets.token_hex(16)}.jpg" for _ in range(added))
    removal = work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": list(files)}, wait=REMOVED_AFTER)
    # Only a job with a dedupe key may exist already.
    assert removal is not None  # noqa: S101
    return PhotoBatch(files, removal)


def _check_number(present: int, added: int) -> None:
    if present + added <= MOST_PHOTOS:
        return
    if present == 0:
        message = f"Choose at most {MOST_PHOTOS} photos; {added} came."
        raise BadInput(message, field="photos")
    raise WrongState(f"The issue has {present} photos already and can have {MOST_PHOTOS} at most.")


def render_photos(
    processor: ImageProcessor, files: Files, batch: PhotoBatch, sent: Sequence[SentPhoto]
) -> list[NewPhoto]:
    """Render photos and store the renderings.

    Raise `BadInput` if a file is not a picture, and `ServiceUnavailable` if nothing can be
    rendered or stored now.
    """
    return [
        _render(processor, files, key, photo) for key, photo in zip(batch.files, sent, strict=True)
    ]


def _render(processor: ImageProcessor, files: Files, key: str, photo: SentPhoto) -> NewPhoto:
    with tempfile.TemporaryDirectory(prefix="printworks-") as name:
        folder = Path(name)
        source = folder / "photo"
        with source.open("wb") as copy:
            shutil.copyfileobj(photo.content, copy)
        prepared = _prepare(processor, source, folder, photo.name)
        proxy = prepared.proxy
        size = prepared.facts.pixels
        # The picture may have taken control of the child process.
        if proxy is None or proxy.stat().st_size > _LARGEST or max(size) > _LONGEST_SIDE:
            raise _refuse(photo.name, "The file cannot be processed.")
        try:
            files.put(key, proxy)
        except FilesUnavailable as error:
            log.error("photo cannot be stored", reason=str(error))
            raise ServiceUnavailable(_UNAVAILABLE) from error
    return NewPhoto(key, size.width, size.height)


def _prepare(processor: ImageProcessor, source: Path, folder: Path, name: str) -> PreparedImage:
    result = processor.prepare(source, _PAPER, folder, with_proxy=True)
    match result:
        case PreparedImage():
            return result
        case Invalid():
            raise _refuse(name, result.reason)
        case CannotBeProcessed():
            log.warning("photo cannot be processed", reason=result.reason)
            if result.is_infrastructure_error:
                raise ServiceUnavailable(_UNAVAILABLE)
            raise _refuse(name, "The file cannot be processed.")


def _refuse(name: str, reason: str) -> BadInput:
    called = f"“{name[:_LONGEST_NAME]}”" if name else "One of the photos"
    return BadInput(f"{called} cannot be used. {reason} Choose the photos again.")


def add_photos(
    work: SystemWork, issue: Issue, batch: PhotoBatch, rendered: Sequence[NewPhoto]
) -> None:
    """Add photos to an issue, if it may still have them; the caller has locked its order."""
    _check_number(count_photos(work.db, issue), len(rendered))
    if not cancel_removal(work.db, batch.removal):
        raise ServiceUnavailable(_TOO_LATE)
    insert_photos(work.db, issue, rendered, now=work.real_now)
