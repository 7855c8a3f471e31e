"""Reads a request's body completely, within limits of size and time."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, NamedTuple

Receive = Callable[[], Awaitable[Any]]

_IN_MEMORY: Final = 1_000_000
# How much of a body that is too large is still read and discarded: many clients read the
# response only after they have sent everything.
_MOST_DISCARDED: Final = 10_000_000


class BodyLimits(NamedTuple):
    """How much of a body is read, and for how long."""

    size: int
    stall: timedelta
    total: timedelta


class BodyTooLarge(Exception):
    """The body is larger than it may be."""

    def __init__(self, *, has_more: bool = True) -> None:
        super().__init__()
        # Whether more of it will follow.
        self.has_more = has_more


class BodyStalled(Exception):
    """The body did not arrive in time."""


class ClientGone(Exception):
    """The client went away before its request was complete."""


async def read_body(receive: Receive, headers: dict[str, str], limits: BodyLimits) -> bytes:
    """Return a body that fits in memory."""
    _check_announced(headers, limits)
    pieces: list[bytes] = []
    await _receive_all(receive, limits, pieces.append)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def spool_body(
    receive: Receive, headers: dict[str, str], limits: BodyLimits, folder: Path
) -> IO[bytes]:
    """Return a body that may be too large for memory as a private temporary file."""
    _check_announced(headers, limits)
    # Closed by its reader, or by the garbage collection.
    spool: IO[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(folder))  # noqa: SIM115
    try:
        await _receive_all(receive, limits, spool.write)
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
    size = 0

    async def receive_within() -> Any:
        nonlocal size
        message = await _within(min(stall, deadline - loop.time()), receive)
        if message["type"] == "http.disconnect":
            raise ClientGone
        size += len(message.get("body", b""))
        if size > limits.size:
            raise BodyTooLarge(has_more=message.get("more_body", False))
        return message

    return receive_within


def _check_announced(headers: dict[str, str], limits: BodyLimits) -> None:
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limits.size:
        raise BodyTooLarge


async def discard_body(receive: Receive, headers: dict[str, str], limits: BodyLimits) -> None:
    """Read and discard the rest of a body, unless it is too large."""
    announced = headers.get("content-length", "")
    is_too_large = announced.isdigit() and int(announced) > _MOST_DISCARDED
    if is_too_large or headers.get("expect", "").lower() == "100-continue":
        return
    with suppress(BodyTooLarge, BodyStalled, ClientGone):
        enough = limits._replace(size=_MOST_DISCARDED)
        await _receive_all(receive, enough, lambda _piece: None)


async def _within(seconds: float, receive: Receive) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await receive()
    except TimeoutError:
        raise BodyStalled from None


async def _receive_all(
    receive: Receive, limits: BodyLimits, keep: Callable[[bytes], object]
) -> None:
    receive_within = limit_body(receive, {}, limits)
    more = True
    while more:
        message = await receive_within()
        keep(message.get("body", b""))
        more = message.get("more_body", False)
