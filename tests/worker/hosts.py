"""A server of pictures that behaves as a test wants it to, address by address."""

import asyncio
import gzip
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, Self, TypeVar

from tests.connections import Connections

T = TypeVar("T")

# A busy machine may need longer than anybody would wait.
SECONDS_TO_WAIT: Final = 120
SECONDS_BETWEEN_DRIPS: Final = 0.02


class Asked(NamedTuple):
    """A request that came."""

    path: str
    headers: dict[str, str]
    body: bytes = b""


# What an address does with a request; it ends by returning, and the connection is then closed.
Behaviour = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def holds(
    body: bytes, *, etag: str = "", last_modified: str = "", packed: bool = False
) -> Behaviour:
    """Give a file, or say that it is still the same to whoever asks so."""
    extra = {"ETag": etag, "Last-Modified": last_modified}
    sent = gzip.compress(body) if packed else body
    if packed:
        extra["Content-Encoding"] = "gzip"

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        known = (asked.headers.get("if-none-match"), asked.headers.get("if-modified-since"))
        if (etag and known[0] == etag) or (last_modified and known[1] == last_modified):
            writer.write(_head("304 Not Modified", **extra))
        else:
            writer.write(_head("200 OK", **{"Content-Length": str(len(sent))}, **extra) + sent)

    return behave


def answers(status: str) -> Behaviour:
    """Say no, in this way: `404 Not Found`."""

    async def behave(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(_head(status, **{"Content-Length": "0"}))

    return behave


def redirects(to: str) -> Behaviour:
    """Send whoever asks to another address."""

    async def behave(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(_head("302 Found", **{"Content-Length": "0", "Location": to}))

    return behave


def drips(body: bytes) -> Behaviour:
    """Give a file byte by byte: never silent, and never done."""

    async def behave(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(_head("200 OK", **{"Content-Length": str(len(body))}))
        for byte in body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(SECONDS_BETWEEN_DRIPS)

    return behave


def breaks_off(body: bytes) -> Behaviour:
    """Give the first half of a file, then reset the connection."""

    async def behave(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(_head("200 OK", **{"Content-Length": str(len(body))}))
        writer.write(body[: len(body) // 2])
        await writer.drain()
        writer.transport.abort()

    return behave


def lies(body: bytes, *, by: int) -> Behaviour:
    """Announce so many bytes more than there are, or less if negative."""

    async def behave(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(_head("200 OK", **{"Content-Length": str(len(body) + by)}) + body)

    return behave


def never_ends(beginning: bytes = b"") -> Behaviour:
    """Give bytes as fast as they are taken, for ever."""

    async def behave(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(_head("200 OK") + beginning)
        while True:
            writer.write(bytes(65536))
            await writer.drain()

    return behave


async def says_nothing(_: Asked, __: asyncio.StreamWriter) -> None:
    """Take the request and do nothing."""
    await asyncio.Event().wait()


def _head(status: str, **headers: str) -> bytes:
    lines = {"Connection": "close", **headers}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return f"HTTP/1.1 {status}\r\n{text}\r\n".encode()


def wait_until(is_so: Callable[[], object]) -> None:
    """Wait for what another process or thread does."""
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while not is_so():
        assert time.monotonic() < deadline, "It never came to that."
        time.sleep(0.005)


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        # At its end it cancels what still runs.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._is_over = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._is_over.set)
        self._thread.join()

    def _run(self) -> None:
        with self._runner:
            self._runner.run(self._is_over.wait())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there to its end."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS_TO_WAIT)

    def call(self, work: Callable[[], object]) -> None:
        """Have something done there."""
        self._loop.call_soon_threadsafe(work)


class Gate:
    """Holds up requests until so many are there, or until it is opened."""

    def __init__(self, loop: LoopThread, waits_for: int | None) -> None:
        self._loop = loop
        self._missing = waits_for
        self._open = asyncio.Event()
        self._arrived = threading.Event()

    def before(self, behaviour: Behaviour) -> Behaviour:
        """Behave like that, but only once the gate is open."""

        async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
            self._arrived.set()
            if self._missing is not None:
                self._missing -= 1
                if self._missing <= 0:
                    self._open.set()
            await self._open.wait()
            await behaviour(asked, writer)

        return behave

    def wait(self) -> None:
        """Wait until somebody stands before it."""
        assert self._arrived.wait(SECONDS_TO_WAIT), "Nobody came."

    def open(self) -> None:
        """Let everybody through."""
        self._loop.call(self._open.set)


class PictureHost:
    """The server: `with PictureHost() as host: url = host.at("/cat.jpg", holds(cat))`."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self._behaviours: dict[str, list[Behaviour]] = {}
        self._connections = Connections(self._serve)
        self._loop = LoopThread()

    def __enter__(self) -> Self:
        self._loop.__enter__()
        self._server = self._loop.run(asyncio.start_server(self._connections.take, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._connections.end(self._server))
        self._loop.__exit__()

    def at(self, path: str, *behaviours: Behaviour, name: str = "127.0.0.1") -> str:
        """Have an address behave so, the first time, the second time ... and ever after.

        Return its url. The server has two names: the other is `localhost`.
        """
        self._behaviours[path] = list(behaviours)
        return f"http://{name}:{self.port}{path}"

    def gate(self, *, waits_for: int | None = None) -> Gate:
        """Make a gate to hold up requests: `host.at("/cat.jpg", gate.before(holds(cat)))`."""
        return Gate(self._loop, waits_for)

    def count(self, path: str) -> int:
        """Say how often an address was asked."""
        return sum(asked.path == path for asked in self.asked)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._answer(_read(await reader.readuntil(b"\r\n\r\n")), writer)

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.asked.append(asked)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            left = self._behaviours[asked.path]
            await (left.pop(0) if len(left) > 1 else left[0])(asked, writer)
            await writer.drain()
        finally:
            self._at_once -= 1


def _read(head: bytes) -> Asked:
    first, *lines = head.decode().strip().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return Asked(first.split()[1], {name.lower(): value for name, value in headers.items()})
