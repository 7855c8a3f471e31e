"""Writes long lists in a process of their own, one piece at a time; and large orders.

That process has the other cores and a low priority, so that those who ask for little do not wait
for those who ask for much. It is started with the first long list or large order. Those of one
merchant wait for each other, and the pieces of different merchants take turns.
"""

import asyncio
import fcntl
import multiprocessing
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
import structlog

from printworks import log as logging
from printworks.actions.services import Services
from printworks.api.endpoints import WrittenAnswer
from printworks.api.links import LinkMaker
from printworks.api.long_lists import LargeOrder, Piece, PieceWriter
from printworks.api.messages import LongBody, Response
from printworks.api.refusals import answer_error
from printworks.api.routing import MatchedRequest
from printworks.errors import ServiceUnavailable
from printworks.settings import Settings
from printworks.starting import give_way
from printworks.web.families import FAMILIES
from printworks.web.parents import stop_with_parent
from printworks.web.pool import PoolFull
from printworks.web.receiving import Send

log = structlog.get_logger(__name__)

T = TypeVar("T")

# Long lists that are written for one merchant at the same time, and that may wait for those.
LISTS_AT_ONCE: Final = 2
LISTS_WAITING: Final = 32
# Lower than any other process of the service.
_PRIORITY: Final = 10


class LongAnswers:
    """Writes long lists for one web process; use it from one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool: ProcessPoolExecutor | None = None
        self._started: Future[None] | None = None
        self._asking: dict[int, int] = {}
        self._turns: dict[int, asyncio.Semaphore] = {}

    def close(self) -> None:
        """End the process, without waiting for what it writes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def begin(self, response: Response, matched: MatchedRequest) -> Response:
        """Write the first piece of an answer; what goes wrong with it is refused like anything.

        Raise `PoolFull` if too many lists of the merchant are waiting.
        """
        assert response.long is not None  # noqa: S101
        stream = self._write(response.long)
        try:
            first = await anext(stream)
        except PoolFull:
            raise
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            return answer_error(matched, error)
        return msgspec.structs.replace(response, long=None, stream=_put_before(first, stream))

    async def send(self, stream: AsyncIterator[bytes], send: Send, request_id: str) -> None:
        """Send a body that has begun; break the connection off if it cannot be completed."""
        try:
            async for piece in stream:
                message = {"type": "http.response.body", "body": piece, "more_body": True}
                async with asyncio.timeout(self._settings.request_timeout.total_seconds()):
                    await send(message)
        except Exception as error:
            log.warning("a list was broken off", request_id=request_id, error=repr(error))
            raise

    def is_ready(self) -> bool:
        """Whether the process has started; whoever asks first starts it."""
        self._open()
        started = self._started
        if started is None or not started.done():
            return False
        if started.exception() is not None:
            # It could not start, for example because the database was away.
            self._pool = None
            return False
        return True

    async def write_order(self, large: LargeOrder) -> WrittenAnswer | None:
        """Write an order; return None if the process dies meanwhile.

        Raise `PoolFull` if too much of the merchant is waiting.
        """
        async with self._turn(large.merchant_id):
            body = await self._run(_write_order, large)
        return None if body is None else WrittenAnswer(large.media_type, body)

    async def _write(self, body: LongBody) -> AsyncIterator[bytes]:
        """Yield a body piece by piece; the next one is not written before it is wanted."""
        async with self._turn(body.merchant_id):
            before = body.head
            # The next orders of a list may have to be read.
            while (piece := await asyncio.to_thread(next, body.pieces, None)) is not None:
                yield before + await self._write_piece(piece)
                before = body.joint
            yield body.tail

    @asynccontextmanager
    async def _turn(self, merchant_id: int) -> AsyncIterator[None]:
        """Wait until it is the turn of a merchant's list."""
        asking = self._asking.get(merchant_id, 0)
        if asking >= LISTS_AT_ONCE + LISTS_WAITING:
            raise PoolFull
        self._asking[merchant_id] = asking + 1
        turns = self._turns.setdefault(merchant_id, asyncio.Semaphore(LISTS_AT_ONCE))
        try:
            async with turns:
                yield
        finally:
            self._asking[merchant_id] -= 1
            if not self._asking[merchant_id]:
                del self._asking[merchant_id], self._turns[merchant_id]

    async def _write_piece(self, piece: Piece) -> bytes:
        for _ in range(2):
            written = await self._run(_write, piece)
            if written is not None:
                return written
        raise ServiceUnavailable("The list cannot be written at the moment. Try again in a second.")

    async def _run(self, write: Callable[[T], bytes], what: T) -> bytes | None:
        """Let the process write something; return None if it dies, and let the next start another."""
        pool = self._open()
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, write, what)
        except BrokenProcessPool:
            log.warning("the process that writes long lists died")
            # Whoever waited for it too may have started another.
            if self._pool is pool:
                self._pool = None
            return None

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1,
                # A fork would copy the locks that other threads hold.
                multiprocessing.get_context("spawn"),
                initializer=_begin,
                initargs=(self._settings,),
            )
            self._started = self._pool.submit(_do_nothing)
        return self._pool


async def _put_before(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


class _PieceClock:
    """A clock that tells when the list was asked for."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


class _Turns:
    """Lets one process of the machine write at a time, so that a core is left for the others."""

    def __init__(self, file: Path) -> None:
        self._handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __enter__(self) -> None:
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._handle, fcntl.LOCK_UN)


class _Child(NamedTuple):
    """What the process has that writes."""

    writer: PieceWriter
    turns: _Turns
    clock: _PieceClock


_child: Final[list[_Child]] = []


def _begin(settings: Settings) -> None:
    logging.configure(settings)
    stop_with_parent()
    give_way(_PRIORITY)
    if hasattr(os, "sched_setaffinity"):
        # The web process may be bound to one core.
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    clock = _PieceClock()
    services = Services(settings, clock, connections=1)
    # Before the only connection is taken by a piece, whose prices have to be found.
    services.follow_catalogue()
    writer = PieceWriter(services, LinkMaker(services), FAMILIES)
    _child.append(_Child(writer, _Turns(settings.data / "long-lists.lock"), clock))


def _do_nothing() -> None:
    """Be done when the process has started."""


def _write(piece: Piece) -> bytes:
    [(writer, turns, clock)] = _child
    clock.now = piece.now
    with turns:
        return writer.write(piece)


def _write_order(large: LargeOrder) -> bytes:
    [(writer, turns, clock)] = _child
    clock.now = large.now
    with turns:
        return writer.write_order(large)
