"""Reads a request's body completely, within limits of size and time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, NamedTuple

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_IN_MEMORY: Final = 1_000_000


class BodyLimits(NamedTuple):
    """How much of a body is read, and for how long."""

    size: int
    stall: timedelta
    total: timedelta
    # The fewest bytes a second, as long as there are more to come.
    rate: int = 0


class BodyTooLarge(Exception):
    """The body is larger than it may be."""


class BodyStalled(Exception):
    """The body did not arrive in time."""


class ClientGone(Exception):
    """The client went away before its request was complete."""


class BodyBroken(Exception):
    """The chunks of the body cannot be read, or end before the last one."""


async def read_body(receive: Receive, headers: dict[str, str], limits: BodyLimits) -> bytes:
    """Return a body that fits in memory."""
    pieces: list[bytes] = []
    await _receive_all(limit_body(receive, headers, limits), pieces.append)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def spool_body(
    receive: Receive, headers: dict[str, str], limits: BodyLimits, folder: Path
) -> IO[bytes]:
    """Return a body that may be too large for memory as a private temporary file."""
    receive_within = limit_body(receive, headers, limits)
    # Closed by its reader, or by the garbage collection.
    spool: IO[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(folder))  # noqa: SIM115
    try:
        await _receive_all(receive_within, spool.write)
    except BaseException:
        spool.close()
        raise
    spool.seek(0)
    return spool


def limit_body(receive: Receive, headers: dict[str, str], limits: BodyLimits) -> Receive:
    """Return a receive function that enforces the limits on a body."""
    _check_announced(headers, limits)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limits.total.total_seconds()
    stall = limits.stall.total_seconds()
    pace = _Pace(limits.rate, stall, loop.time())
    size = 0

    async def receive_within() -> Any:
        nonlocal size
        message = await _within(min(stall, deadline - loop.time()), receive)
        if message["type"] == "http.disconnect":
            # The server does not say which; only somebody who is still there reads the answer.
            raise BodyBroken if "transfer-encoding" in headers else ClientGone
        size += len(message.get("body", b""))
        if size > limits.size:
            raise BodyTooLarge
        if message.get("more_body", False) and pace.is_too_slow(size, loop.time()):
            raise BodyStalled
        return message

    return receive_within


class _Pace:
    """Tells a body that trickles from one that comes over a slow line."""

    def __init__(self, rate: int, seconds: float, now: float) -> None:
        self._rate = rate
        # As long as a body may stall, it may also be slow.
        self._seconds = seconds
        self._since = now
        self._size = 0

    def is_too_slow(self, size: int, now: float) -> bool:
        """Say whether less has arrived lately than should have; call it with every piece."""
        elapsed = now - self._since
        if elapsed < self._seconds:
            return False
        arrived, self._size, self._since = size - self._size, size, now
        return arrived < self._rate * elapsed


def _check_announced(headers: dict[str, str], limits: BodyLimits) -> None:
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limits.size:
        raise BodyTooLarge


async def _within(seconds: float, receive: Receive) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await receive()
    except TimeoutError:
        raise BodyStalled from None


async def _receive_all(receive: Receive, keep: Callable[[bytes], object]) -> None:
    more = True
    while more:
        message = await receive()
        keep(message.get("body", b""))
        more = message.get("more_body", False)
