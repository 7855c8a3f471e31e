"""Files of images, uploaded or downloaded: checked, rendered and stored."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import structlog

from printworks.actions.work import SystemWork, Work
from printworks.files.store import Files
from printworks.imaging.formats import EVERY_FORMAT, Format, find_format
from printworks.imaging.messages import PREVIEW, THUMBNAIL, Facts
from printworks.imaging.processor import PREPARE_LIMITS, CannotBeProcessed, Invalid
from printworks.rules.images import AcceptedFiles
from printworks.rules.jobs import JobKind
from printworks.store.accounts.quotas import count_file
from printworks.store.images.pictures import NewPicture, Picture, proof_keys, store_picture

Rendered = TypeVar("Rendered")

log = structlog.get_logger()

NOT_AS_EXPECTED: Final = "The file is not the one that `md5Hash` names."

_FORMATS: Final[Mapping[AcceptedFiles | None, frozenset[Format]]] = {
    None: EVERY_FORMAT,
    AcceptedFiles.JPEG: frozenset({Format.JPEG}),
}
CANNOT_BE_PROCESSED: Final = "The file cannot be processed."
# This many bytes identify the format.
_HEAD: Final = 12


class RenderingUnavailable(Exception):
    """No picture can be rendered now, perhaps because of an infrastructure error."""


@dataclass(frozen=True, slots=True)
class Unprocessable(Invalid):
    """A file that could not be validated: that says nothing about its content."""


def render_reliably(
    render: Callable[[], Rendered | Invalid | CannotBeProcessed], folder: Path
) -> Rendered | Invalid:
    """Render a picture; if that fails without a result, retry once and then reject the file.

    Raise `RenderingUnavailable` if it may be an infrastructure error. Whether the disk is full is
    checked here, because the picture may have taken control of the child process.
    """
    result = render()
    if isinstance(result, CannotBeProcessed):
        result = render()
    if not isinstance(result, CannotBeProcessed):
        return result
    if result.is_infrastructure_error or not has_room(folder):
        raise RenderingUnavailable(f"No picture can be rendered: {result.reason}")
    log.warning("file cannot be processed", reason=result.reason)
    return Unprocessable(CANNOT_BE_PROCESSED)


def has_room(folder: Path) -> bool:
    """Whether the disk has room for rendering a picture."""
    return shutil.disk_usage(folder).free >= PREPARE_LIMITS.file_size


def refuse_file(accepted: AcceptedFiles | None, file: Path) -> str | None:
    """Return why a file has a format that this image does not accept; None if it does.

    None for an empty file too: that is reported when it is rendered. Other images may accept the
    same content.
    """
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    return refuse_format(accepted, find_format(head)) if head else None


def refuse_format(accepted: AcceptedFiles | None, kind: str | None) -> str | None:
    """Return why an image does not accept a format; None if it does."""
    formats = _FORMATS[accepted]
    if accepted is None or kind in formats:
        return None
    names = ", ".join(sorted(formats))
    return f"The file is not a picture of a format that is accepted: {names}."


def store_original(
    files: Files, new: NewPicture, facts: Facts, source: Path, *, key: str
) -> NewPicture:
    """Store the file of a picture that can be printed."""
    files.put(key, source)
    return msgspec.structs.replace(new, facts=msgspec.to_builtins(facts), original=key)


def store_proofs(files: Files, image_id: int, folder: Path) -> None:
    """Store the proofs of an image that were rendered into a folder."""
    for key, name in zip(proof_keys(image_id), (PREVIEW, THUMBNAIL), strict=True):
        files.put(key, folder / name)


def register_picture(work: SystemWork, new: NewPicture) -> Picture:
    """Store a picture's row, or return the existing one with the same content.

    The file of a duplicate is removed, unless the first one was lost.
    """
    picture = store_picture(work.db, new, now=work.real_now)
    remove_unless_stored(work, new.original, stored=picture.original)
    return picture


def count_picture(work: Work, picture: Picture) -> None:
    """Count the file of a picture among those of the merchant, if it is stored at all."""
    if picture.original is not None:
        count_file(work.db, work.merchant.id, picture.id, size=picture.size)


def remove_unless_stored(work: SystemWork, file: str | None, *, stored: str | None) -> None:
    """Remove a file unless its row refers to it: another process may have been first."""
    if file is not None and file != stored:
        remove_files(work, [file])


def remove_files(work: SystemWork, files: list[str]) -> None:
    """Enqueue the removal of files."""
    work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": files})


def describe_picture(picture: Picture) -> dict[str, Any]:
    """Return the columns of an image that describe its picture."""
    facts = picture.facts or {}
    return {
        "picture_id": picture.id,
        "md5": picture.md5,
        "width": facts.get("width"),
        "height": facts.get("height"),
        "error_message": picture.refusal,
    }
