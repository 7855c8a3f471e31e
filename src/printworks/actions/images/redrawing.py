"""Draws a picture anew that somebody sent, upright and without anything that was hidden in it."""

import shutil
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

import structlog

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
from printworks.rules.sizing import Pixels, PrintArea, Sizing

# What a picture may take that was drawn anew.
LARGEST_DRAWN: Final = 1_000_000
_LONGEST_SIDE: Final = 30_000
# Any paper will do for the first look at a picture.
_PAPER: Final = PrintArea(Fraction(4), Fraction(4))
_UNAVAILABLE: Final = "Pictures are temporarily unavailable; try again later."

log = structlog.get_logger()


def receive(sent: BinaryIO, into: Path, *, largest: int, noun: str) -> None:
    """Write a file that was sent into another; refuse one that is too large."""
    with into.open("wb") as copy:
        shutil.copyfileobj(sent, copy)
    if into.stat().st_size > largest:
        raise BadInput(f"{noun.capitalize()} can have at most {largest // 1_000_000} MB.")


def redraw(
    processor: ImageProcessor, source: Path, folder: Path, *, noun: str, edge: int = PREVIEW_EDGE
) -> tuple[Pixels, Path]:
    """Render all of a picture into a folder; return the size of the picture, and the file.

    Raise `BadInput` if it cannot be used as what the noun says, and `ServiceUnavailable` if nothing
    can be rendered now.
    """
    prepared = processor.prepare(source, _PAPER, Sizing.SHRINK_TO_FIT, folder, with_proxy=True)
    if not isinstance(prepared, PreparedImage):
        raise _refuse(prepared, noun)
    size, proxy = prepared.facts.pixels, prepared.proxy
    # The picture may have taken control of the child process.
    if proxy is None or max(size) > _LONGEST_SIDE:
        raise BadInput(_say_unusable(noun))
    # Once more, on paper of its own shape, so that nothing is around it.
    shape = PrintArea(Fraction(size.width), Fraction(size.height))
    proofs = processor.proof(proxy, size, shape, Sizing.SHRINK_TO_FIT, folder, edge=edge)
    if not isinstance(proofs, Proofs):
        raise _refuse(proofs, noun)
    if proofs.preview.stat().st_size > LARGEST_DRAWN:
        raise BadInput(_say_unusable(noun))
    return size, proofs.preview


def store(files: Files, key: str, drawn: Path) -> None:
    """Store what was drawn; raise `ServiceUnavailable` if that is not possible now."""
    try:
        files.put(key, drawn)
    except FilesUnavailable as error:
        log.error("picture cannot be stored", reason=str(error))
        raise ServiceUnavailable(_UNAVAILABLE) from error


def _say_unusable(noun: str) -> str:
    return f"This file cannot be used as {noun}."


def _refuse(rejected: Rejected, noun: str) -> Exception:
    if isinstance(rejected, Invalid):
        return BadInput(f"{_say_unusable(noun)} {rejected.reason}")
    log.warning("picture cannot be processed", reason=rejected.reason)
    is_ours = rejected.is_infrastructure_error
    return ServiceUnavailable(_UNAVAILABLE) if is_ours else BadInput(_say_unusable(noun))
