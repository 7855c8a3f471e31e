"""Writes the head of an answer."""

import time
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Final

_FIRST_LINES: Final[Mapping[int, bytes]] = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
# A little less than the server keeps an idle connection, so that a client which closes at this
# time is always the first to do so.
SAID_ALIVE: Final = 75
_KEPT: Final = b"connection: keep-alive\r\nkeep-alive: timeout=%d\r\n" % SAID_ALIVE
_CLOSED: Final = b"connection: close\r\n"

_CLOSES: Final = (b"connection", b"close")

# Statuses whose answers have no body, whatever the application says.
BODILESS: Final = frozenset({204, 304})


class DateHeader:
    """The current time, written once for all answers of a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def get(self) -> bytes:
        """Return the header."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._line = f"date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._line


DATE: Final = DateHeader()


def write_head(
    status: int, headers: Iterable[tuple[bytes, bytes]], framing: bytes, *, keeps_alive: bool
) -> bytes:
    """Return the head of an answer; `framing` are the headers that tell where its body ends."""
    lines = [b"%b: %b\r\n" % header for header in headers if header != _CLOSES]
    first = _FIRST_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status
    kept = _KEPT if keeps_alive else _CLOSED
    return b"".join((first, *lines, framing, DATE.get(), kept, b"\r\n"))
