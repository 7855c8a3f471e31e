"""Decompresses bodies that servers compress although we did not ask for it, in chunks."""

import zlib
from collections.abc import Iterator
from typing import Final

from printworks.net.errors import BadAnswer, TooLarge

# No more than this is in memory at once, however much a few bytes unpack to.
PIECE: Final = 64 * 1024

_WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_BROKEN: Final = "The file at the address is compressed and broken."


class Unpacker:
    """Decompresses one body by its `Content-Encoding`; the limit holds before and after."""

    def __init__(self, encoding: str, *, limit: int) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", *_WINDOWS):
            message = "The file at the address is compressed in a way that nobody asked for."
            raise BadAnswer(message, detail=f"content-encoding {name[:40]!r}")
        self._zlib = zlib.decompressobj(_WINDOWS[name]) if name in _WINDOWS else None
        self._limit = limit
        self._sent = 0
        self._unpacked = 0

    def unpack(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed data in chunks; raise `TooLarge` or `BadAnswer`."""
        self._sent += len(data)
        if self._sent > self._limit:
            raise TooLarge(f"{self._sent} bytes sent")
        if self._zlib is None:
            yield data
            return
        while data:
            try:
                piece = self._zlib.decompress(data, PIECE)
            except zlib.error as error:
                raise BadAnswer(_BROKEN, detail=str(error)) from error
            if self._zlib.unused_data:
                raise BadAnswer(_BROKEN, detail="more after the end")
            data = self._zlib.unconsumed_tail
            yield self._count(piece)

    def finish(self) -> None:
        """Raise `BadAnswer` if the end is missing."""
        # No output is pending: a checksum follows the last compressed data.
        if self._zlib is not None and not self._zlib.eof:
            raise BadAnswer(_BROKEN, detail="the end is missing")

    def _count(self, piece: bytes) -> bytes:
        self._unpacked += len(piece)
        if self._unpacked > self._limit:
            raise TooLarge(f"{self._unpacked} bytes unpacked")
        return piece
