"""ZIP archives that are written while they are sent, so that neither memory nor disk holds them."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import IO, Final, cast

from printworks.files.errors import FileMissing
from printworks.files.store import Files

_CHUNK: Final = 1 << 18
_EARLIEST: Final = 1980


class ArchiveWriter:
    """Writes one archive. What its generators yield is sent in this order, `finish` last."""

    def __init__(self, files: Files, at: datetime, *, most_bytes: int) -> None:
        self._files = files
        self._at = at
        # What is left for files; those beyond it are named and left out.
        self._room = most_bytes
        self._left_out: list[str] = []
        self._target = _Pieces()
        self._archive = zipfile.ZipFile(cast("IO[bytes]", self._target), "w")

    def add_lines(self, name: str, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Add a text, piece by piece."""
        entry = self._name(name, zipfile.ZIP_DEFLATED)
        with self._archive.open(entry, "w", force_zip64=True) as written:
            for line in lines:
                written.write(line)
                if piece := self._target.take():
                    yield piece
        yield self._target.take()

    def add_file(self, name: str, key: str) -> Iterator[bytes]:
        """Add a file of the store, unless it is gone or there is no room for it."""
        try:
            with self._files.local(key) as path:
                size = path.stat().st_size
                if size > self._room:
                    self._left_out.append(
                        f"{name}: the archive is full; export fewer orders at once"
                    )
                    return
                self._room -= size
                # Pictures do not become smaller.
                entry = self._name(name, zipfile.ZIP_STORED)
                with (
                    path.open("rb") as source,
                    self._archive.open(entry, "w", force_zip64=True) as written,
                ):
                    while chunk := source.read(_CHUNK):
                        written.write(chunk)
                        yield self._target.take()
        except FileMissing:
            self._left_out.append(f"{name}: it is no longer stored")

    def finish(self) -> Iterator[bytes]:
        """Say what was left out, and end the archive."""
        if self._left_out:
            yield from self.add_lines(
                "left-out.txt", (f"{line}\n".encode() for line in self._left_out)
            )
        self._archive.close()
        yield self._target.take()

    def _name(self, name: str, how: int) -> zipfile.ZipInfo:
        at = self._at
        when = (max(at.year, _EARLIEST), at.month, at.day, at.hour, at.minute, at.second)
        entry = zipfile.ZipInfo(name, when)
        entry.compress_type = how
        # Pictures of a person are for nobody else on the machine.
        entry.external_attr = 0o600 << 16
        return entry


def write_zip(
    archive: ArchiveWriter, first: tuple[str, bytes], stored: Mapping[str, str]
) -> Iterator[bytes]:
    """Write a whole archive: a document, and stored files by their names in it."""
    name, document = first
    yield from archive.add_lines(name, [document])
    for file, key in stored.items():
        yield from archive.add_file(file, key)
    yield from archive.finish()


class _Pieces:
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        """Return what was written since the last time."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
