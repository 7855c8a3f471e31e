"""A receiver of callbacks that behaves as a test wants it to, address by address."""

import asyncio
import json
from typing import Any, Final, NamedTuple, Self

from printworks.actions.callbacks import set_callback
from printworks.rules.callbacks import CallbackFormat
from printworks.store.accounts.merchants import Merchant
from printworks.store.callbacks.callbacks import Attempt, Callback, list_attempts, list_feed
from tests.connections import Connections
from tests.factories import a_work
from tests.worker.hosts import Asked, Behaviour, Gate, LoopThread
from tests.worker.shops import Shop

SECONDS_BETWEEN_DRIPS: Final = 0.05


class Heard(NamedTuple):
    """A callback that came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        """What it says."""
        said: dict[str, Any] = json.loads(self.body)
        return said

    @property
    def id(self) -> str:
        """By which a receiver knows that it has heard this before."""
        return self.headers["webhook-id"]


def says(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    """Answer with this status, and go on with the same connection."""
    lines = {"Content-Length": str(len(body)), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    answer = f"HTTP/1.1 {status} So\r\n{head}\r\n".encode() + body

    async def behave(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return behave


async def resets(_: Asked, writer: asyncio.StreamWriter) -> None:
    """Break off the connection."""
    writer.transport.abort()


async def drips(_: Asked, writer: asyncio.StreamWriter) -> None:
    """Answer byte by byte, and never come to the end of the first line."""
    for byte in b"HTTP/1.1 200 " + b"O" * 10_000:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(SECONDS_BETWEEN_DRIPS)


class Receiver:
    """The server: `with Receiver() as receiver: url = receiver.at("/cb", says(500), says(200))`."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
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

    def at(self, path: str, *behaviours: Behaviour) -> str:
        """Have an address behave so, the first time, the second time ... and ever after."""
        self._behaviours[path] = list(behaviours) or [says(200)]
        return f"http://127.0.0.1:{self.port}{path}"

    def gate(self) -> Gate:
        """Make a gate to hold up requests: `receiver.at("/cb", gate.before(says(200)))`."""
        return Gate(self._loop, None)

    def statuses(self) -> list[str]:
        """Return the statuses that were told of, in the order in which they came."""
        return [heard.told["status"] for heard in self.heard]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            await self._answer(await _read(reader), writer)

    async def _answer(self, heard: Heard, writer: asyncio.StreamWriter) -> None:
        self.heard.append(heard)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            left = self._behaviours[heard.path]
            behave = left.pop(0) if len(left) > 1 else left[0]
            await behave(Asked(heard.path, heard.headers, heard.body), writer)
            await writer.drain()
        finally:
            self._at_once -= 1


async def _read(reader: asyncio.StreamReader) -> Heard:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().strip()
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers["content-length"]))
    return Heard(first.split()[1], headers, body)


def listen(
    shop: Shop,
    url: str | None,
    *,
    merchant: Merchant | None = None,
    chosen: CallbackFormat | None = None,
) -> None:
    """Have a merchant, the shop's own by default, be told at an address."""
    with shop.database.writing() as db:
        set_callback(a_work(db, merchant or shop.merchant), url, chosen)


def feed(shop: Shop, merchant: Merchant | None = None) -> list[Callback]:
    """Return all that a merchant was told of, or would have been."""
    with shop.database.reading() as db:
        return list_feed(db, (merchant or shop.merchant).id, after=0, limit=10_000)


def attempts(shop: Shop, callback: Callback) -> list[Attempt]:
    """Return how each try of a callback went."""
    with shop.database.reading() as db:
        return list_attempts(db, callback.id)
