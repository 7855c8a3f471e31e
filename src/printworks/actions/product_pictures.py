"""Photographs of products: drawn anew, stored once for each content, removed when no version names them.

A picture comes in the three steps of a logo: `begin_pictures` names the files, `draw_picture` draws and
stores one outside any transaction, and whoever saves a version keeps them with `keep_pictures`.
"""

import tempfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from printworks.actions.images.redrawing import (
    LARGEST_DRAWN,
    PendingFile,
    begin_file,
    keep_file,
    receive_file,
    redraw,
    store_drawn,
)
from printworks.actions.work import SystemWork
from printworks.errors import BadInput
from printworks.files.store import Files
from printworks.imaging.formats import is_plain_jpeg
from printworks.imaging.manifest import find_sha256
from printworks.imaging.processor import ImageProcessor
from printworks.rules.jobs import JobKind
from printworks.rules.product_pictures import find_hash, name_picture
from printworks.store.catalogue import pictures as stored

# What may be sent, and the longest side of what is shown, in pixels.
LARGEST_PICTURE: Final = 20_000_000
LONGEST_SIDE: Final = 800
_NOUN: Final = "picture"


class DrawnPicture(NamedTuple):
    """A picture that is stored, and what a catalogue calls it."""

    upload: PendingFile
    name: str
    size: int


def begin_pictures(work: SystemWork, number: int) -> list[PendingFile]:
    """Name the files of pictures that are about to be drawn."""
    return [begin_file(work, "products") for _ in range(number)]


def draw_picture(
    processor: ImageProcessor,
    files: Files,
    upload: PendingFile,
    sent: BinaryIO,
    *,
    called: str,
) -> DrawnPicture:
    """Draw the picture of a product from the file that came, and store it.

    One that was drawn here, or by another installation, stays as it is to the last bit. Raise
    `BadInput` if the file is not a picture, and `ServiceUnavailable` if nothing can be stored now.
    """
    with tempfile.TemporaryDirectory(prefix="printworks-") as name:
        folder = Path(name)
        source = folder / "picture"
        receive_file(sent, source, largest=LARGEST_PICTURE, noun=_NOUN)
        size, drawn = redraw(processor, source, folder, noun=_NOUN, edge=LONGEST_SIDE)
        if max(size) <= LONGEST_SIDE and _was_drawn(source, called):
            drawn = source
        store_drawn(files, upload.file, drawn)
        return DrawnPicture(upload, name_picture(called, find_sha256(drawn)), drawn.stat().st_size)


def draw_pictures(
    processor: ImageProcessor,
    files: Files,
    uploads: Sequence[PendingFile],
    sent: Iterable[tuple[str, BinaryIO]],
) -> dict[str, DrawnPicture]:
    """Draw and store pictures by the names of their files; a refusal says which it is about."""
    drawn = {}
    for upload, (name, file) in zip(uploads, sent, strict=True):
        try:
            drawn[name] = draw_picture(processor, files, upload, file, called=name)
        except BadInput as refusal:
            raise BadInput(f"{name}: {refusal.message}") from refusal
    return drawn


def _was_drawn(source: Path, called: str) -> bool:
    """Say whether a file is one that was stored once: nothing but a picture, with its hash as its name."""
    known = find_hash(called)
    if known is None or source.stat().st_size > LARGEST_DRAWN:
        return False
    return find_sha256(source).startswith(known) and is_plain_jpeg(source.read_bytes())


def keep_pictures(work: SystemWork, drawn: Iterable[DrawnPicture]) -> None:
    """Keep pictures that a version names now, and remove those that none names any more."""
    wanted = {str(find_hash(one.name)): one for one in drawn}
    known = stored.find_files(work.db, wanted)
    for picture, one in wanted.items():
        # The same content is stored already: the new file is removed when its time has come.
        if picture in known:
            continue
        keep_file(work, one.upload, noun=_NOUN)
        stored.insert_picture(
            work.db, picture, one.upload.file, size=one.size, created_at=work.real_now
        )
    files = stored.delete_unnamed(work.db)
    if files:
        work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": files})


def find_missing(work: SystemWork, names: Collection[str]) -> list[str]:
    """Return those of the names of pictures that nothing is stored for."""
    hashes = {name: find_hash(name) for name in names}
    known = stored.find_files(work.db, [one for one in hashes.values() if one])
    return [name for name, picture in hashes.items() if picture not in known]
