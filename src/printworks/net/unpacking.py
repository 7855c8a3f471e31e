"""Unpacks what servers compress although nobody asked them to, a piece at a time."""

import zlib
from collections.abc import Iterator
from typing import Final

from printworks.net.errors import BadAnswer, TooLarge

# However much a few bytes unpack to, no more than this is in memory at once.
PIECE: Final = 64 * 1024

_WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_BROKEN: Final = "The file at the address is compressed and broken."


class Unpacker:
    """Unpacks one body, whose `Content-Encoding` is given, up to a size.

    The size limits what was sent as well as what it unpacks to.
    """

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
        """Yield what the data unpacks to, in pieces; raise `TooLarge` or `BadAnswer`."""
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
        # Nothing is held back: a checksum follows the last of what there is to unpack.
        if self._zlib is not None and not self._zlib.eof:
            raise BadAnswer(_BROKEN, detail="the end is missing")

    def _count(self, piece: bytes) -> bytes:
        self._unpacked += len(piece)
        if self._unpacked > self._limit:
            raise TooLarge(f"{self._unpacked} bytes unpacked")
        return piece
