"""Files that are written before they are sent."""

from collections.abc import Iterator
from typing import IO, Final

# Bytes that are sent together.
_PIECE: Final = 65_536


def pour(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file piece by piece from its beginning, and close it."""
    with file:
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece
