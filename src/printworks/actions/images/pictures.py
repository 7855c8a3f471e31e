"""What becomes of a file that came for an image, whichever way it came."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import Connection

from printworks.files.store import Files
from printworks.imaging.formats import EVERY_FORMAT, Format, find_format
from printworks.imaging.messages import PREVIEW, THUMBNAIL, Facts
from printworks.rules.images import AcceptedFiles
from printworks.rules.jobs import JobKind
from printworks.store.images.pictures import NewPicture, Picture, keep_picture, proof_keys
from printworks.store.queue.jobs import enqueue

NOT_AS_EXPECTED: Final = "The file is not the one that `md5Hash` names."

_FORMATS: Final[Mapping[AcceptedFiles | None, frozenset[Format]]] = {
    None: EVERY_FORMAT,
    AcceptedFiles.JPEG: frozenset({Format.JPEG}),
}
# So many bytes tell the format.
_HEAD: Final = 12


def refuse_file(accepted: AcceptedFiles | None, file: Path) -> str | None:
    """Say why a file is of no kind that this image may be; None if it may be, or is empty.

    Only asked where not every kind is accepted: what is said here is no verdict on the content,
    which another image may well be.
    """
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    return refuse_format(accepted, find_format(head)) if head else None


def refuse_format(accepted: AcceptedFiles | None, kind: str | None) -> str | None:
    """Say why this image may not be a file of this kind; None if it may."""
    formats = _FORMATS[accepted]
    if accepted is None or kind in formats:
        return None
    names = ", ".join(sorted(formats))
    return f"The file is not a picture of a format that is accepted: {names}."


def keep_original(
    files: Files, new: NewPicture, facts: Facts, source: Path, *, key: str
) -> NewPicture:
    """Keep the file of a picture that can be printed."""
    files.put(key, source)
    return msgspec.structs.replace(new, facts=msgspec.to_builtins(facts), original=key)


def keep_proofs(files: Files, image_id: int, folder: Path) -> None:
    """Keep the proofs of an image that were drawn into a folder."""
    for key, name in zip(proof_keys(image_id), (PREVIEW, THUMBNAIL), strict=True):
        files.put(key, folder / name)


def remember_picture(db: Connection, new: NewPicture, *, now: datetime) -> Picture:
    """Remember a picture, or return the one with the same content that came first.

    The file of the one that came second goes. `now` is the real time, here and below.
    """
    picture = keep_picture(db, new, now=now)
    remove_unless_kept(db, new.original, kept=picture.original, now=now)
    return picture


def remove_unless_kept(
    db: Connection, drawn: str | None, *, kept: str | None, now: datetime
) -> None:
    """Promise that a file goes unless it is the one kept; somebody else may have been first."""
    if drawn is not None and drawn != kept:
        remove_files(db, [drawn], now=now)


def remove_files(db: Connection, files: list[str], *, now: datetime) -> None:
    """Promise that files go."""
    enqueue(db, JobKind.REMOVE_FILES, {"files": files}, merchant=None, now=now)


def describe_picture(picture: Picture) -> dict[str, Any]:
    """Return what an image shows of its picture."""
    facts = picture.facts or {}
    return {
        "picture_id": picture.id,
        "md5": picture.md5,
        "width": facts.get("width"),
        "height": facts.get("height"),
        "error_message": picture.refusal,
    }
