"""Draws a picture anew that somebody sent, upright and without anything that was hidden in it.

It comes in three steps, as uploads do: `begin_file`, in a transaction, names the file; `redraw` and
`store_drawn` draw and store it, outside any; whoever needs it then calls `keep_file`, in a second one.
The first step enqueues the removal of the file and the last cancels it.
"""

import secrets
import shutil
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import structlog

from printworks.actions.images.uploads import REMOVED_AFTER
from printworks.actions.work import SystemWork
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.imaging.messages import PREVIEW_EDGE
from printworks.imaging.processor import (
    ImageProcessor,
    Invalid,
    PreparedImage,
    Proofs,
    Rejected,
)
from printworks.rules.jobs import JobKind
from printworks.rules.sizing import Layout, Pixels, PrintArea, Sizing
from printworks.store.images.pictures import cancel_removal

# What a picture may take that was drawn anew.
LARGEST_DRAWN: Final = 1_000_000
_LONGEST_SIDE: Final = 30_000
# Any paper will do for the first look at a picture.
_PAPER: Final = Layout(PrintArea(Fraction(4), Fraction(4)), Sizing.SHRINK_TO_FIT)
_UNAVAILABLE: Final = "Pictures are temporarily unavailable; try again later."

log = structlog.get_logger()


class PendingFile(NamedTuple):
    """A file that is about to be stored: its name, and the job that removes it."""

    file: str
    removal: int


def begin_file(work: SystemWork, folder: str, *, suffix: str = "jpg") -> PendingFile:
    """Name a file in a folder of the file store."""
    # Random, because the name may be part of an address, and is never used again.
    file = f"{folder}/{secrets.token_hex(16)}.{suffix}"
    removal = work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": [file]}, wait=REMOVED_AFTER)
    # Only a job with a dedupe key may exist already.
    assert removal is not None  # noqa: S101
    return PendingFile(file, removal)


def keep_file(work: SystemWork, pending: PendingFile, *, noun: str) -> None:
    """Keep a file that was stored, if it has not been removed meanwhile."""
    if not cancel_removal(work.db, pending.removal):
        raise ServiceUnavailable(f"The {noun} took too long to process; send it again.")


def receive_file(sent: BinaryIO, into: Path, *, largest: int, noun: str) -> None:
    """Write a file that was sent into another; refuse one that is too large."""
    with into.open("wb") as copy:
        shutil.copyfileobj(sent, copy)
    if into.stat().st_size > largest:
        raise BadInput(f"A {noun} can have at most {largest // 1_000_000} MB.")


def redraw(
    processor: ImageProcessor, source: Path, folder: Path, *, noun: str, edge: int = PREVIEW_EDGE
) -> tuple[Pixels, Path]:
    """Render all of a picture into a folder; return the size of the picture, and the file.

    Raise `BadInput` if it cannot be used as what the noun says, and `ServiceUnavailable` if nothing
    can be rendered now.
    """
    prepared = processor.prepare(source, _PAPER, folder, with_proxy=True)
    if not isinstance(prepared, PreparedImage):
        raise _refuse(prepared, noun)
    size, proxy = prepared.facts.pixels, prepared.proxy
    # The picture may have taken control of the child process.
    if proxy is None or max(size) > _LONGEST_SIDE:
        raise BadInput(_say_unusable(noun))
    # Once more, on paper of its own shape, so that nothing is around it.
    shape = PrintArea(Fraction(size.width), Fraction(size.height))
    proofs = processor.proof(proxy, size, _PAPER._replace(area=shape), folder, edge=edge)
    if not isinstance(proofs, Proofs):
        raise _refuse(proofs, noun)
    if proofs.preview.stat().st_size > LARGEST_DRAWN:
        raise BadInput(_say_unusable(noun))
    return size, proofs.preview


def store_drawn(files: Files, key: str, drawn: Path) -> None:
    """Store what was drawn; raise `ServiceUnavailable` if that is not possible now."""
    try:
        files.put(key, drawn)
    except FilesUnavailable as error:
        log.error("picture cannot be stored", reason=str(error))
        raise ServiceUnavailable(_UNAVAILABLE) from error


def _say_unusable(noun: str) -> str:
    return f"This file cannot be used as a {noun}."


def _refuse(rejected: Rejected, noun: str) -> Exception:
    if isinstance(rejected, Invalid):
        return BadInput(f"{_say_unusable(noun)} {rejected.reason}")
    log.warning("picture cannot be processed", reason=rejected.reason)
    is_ours = rejected.is_infrastructure_error
    return ServiceUnavailable(_UNAVAILABLE) if is_ours else BadInput(_say_unusable(noun))
