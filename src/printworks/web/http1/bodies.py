"""Takes the body of a request out of what arrives: by its length, or in chunks."""

import re
from typing import Final, Protocol

# A line of a chunk, its extensions included, and all trailers together.
LONGEST_LINE: Final = 4096
LARGEST_TRAILERS: Final = 16 * 1024
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[\t ]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_TRAILER: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*")


class BrokenChunks(Exception):
    """The chunks cannot be read."""


class BodyReader(Protocol):
    """What is left of a body, and whether anything is."""

    is_over: bool

    def take(self, received: bytearray) -> bytes:
        """Remove what belongs to the body from what was received, and return its content."""


class SizedBody:
    """A body whose size was announced."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.is_over = size == 0

    def take(self, received: bytearray) -> bytes:
        """Remove what belongs to the body, and return it."""
        content = bytes(received[: self._left])
        del received[: self._left]
        self._left -= len(content)
        self.is_over = self._left == 0
        return content


# Of most requests.
NO_BODY: Final = SizedBody(0)


class ChunkedBody:
    """A body in chunks, which ends with an empty one."""

    def __init__(self) -> None:
        self.is_over = False
        # Of the chunk that is arriving, with the CR and LF behind it.
        self._left = 0
        self._trailers: int | None = None

    def take(self, received: bytearray) -> bytes:
        """Remove what belongs to the body, and return its content without the sizes."""
        content: list[bytes] = []
        while received and not self.is_over:
            if self._left > 2:
                piece = bytes(received[: self._left - 2])
                del received[: self._left - 2]
                self._left -= len(piece)
                content.append(piece)
            elif not (self._end_chunk(received) if self._left else self._read_line(received)):
                break
        return content[0] if len(content) == 1 else b"".join(content)

    def _end_chunk(self, received: bytearray) -> bool:
        if not b"\r\n".startswith(received[:2]):
            raise BrokenChunks
        if len(received) < 2:
            return False
        del received[:2]
        self._left = 0
        return True

    def _read_line(self, received: bytearray) -> bool:
        end = received.find(b"\n", 0, LONGEST_LINE)
        if end < 0:
            if len(received) >= LONGEST_LINE:
                raise BrokenChunks
            return False
        line = bytes(received[: end + 1])
        del received[: end + 1]
        if not line.endswith(b"\r\n"):
            raise BrokenChunks
        if self._trailers is None:
            self._begin_chunk(line[:-2])
        else:
            self._pass_trailer(line[:-2])
        return True

    def _begin_chunk(self, line: bytes) -> None:
        size = _SIZE.fullmatch(line)
        if size is None:
            raise BrokenChunks
        number = int(size[1], 16)
        if number:
            self._left = number + 2
        else:
            self._trailers = 0

    def _pass_trailer(self, line: bytes) -> None:
        """Ignore a trailer, which no endpoint knows; an empty line ends the body."""
        self._trailers = (self._trailers or 0) + len(line)
        if not line:
            self.is_over = True
        elif _TRAILER.fullmatch(line) is None or self._trailers > LARGEST_TRAILERS:
            raise BrokenChunks
