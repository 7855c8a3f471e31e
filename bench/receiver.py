"""A fast receiver of callbacks in its own process, with a late one and bad ones beside it.

It only records what arrived and when; the benchmark verifies that afterwards. On its own port
each bad receiver hangs, fails, or answers byte by byte. Times are `time.monotonic()`,
which is the same clock in every process.
"""

import asyncio
import http.client
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, cast

import msgspec
import uvloop

from bench.servers import HOST, stop
from bench.tools import ROOT

SECONDS_TO_WAIT: Final = 60
SECONDS_BETWEEN_DRIPS: Final = 0.05
# How long the late one takes to answer, as a receiver far away does.
SECONDS_LATE: Final = 0.02
BAD: Final[Mapping[str, int]] = {"hang": 4, "fail": 3, "drip": 3}

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
# The last letter is repeated forever.
ENDLESS: Final = b"HTTP/1.1 200 O"
FAILED: Final = b"HTTP/1.1 500 Failed\r\nContent-Length: 0\r\n\r\n"


class ReceivedCallback(msgspec.Struct, frozen=True):
    """A received callback."""

    at: float
    path: str
    headers: dict[str, str]
    body: str

    @property
    def id(self) -> str:
        """The ID by which a receiver recognises a repeated callback."""
        return self.headers["webhook-id"]

    @property
    def content(self) -> dict[str, Any]:
        """The decoded body."""
        said: dict[str, Any] = msgspec.json.decode(self.body)
        return said


class Record:
    """The callbacks received so far, and who waits for more."""

    def __init__(self) -> None:
        self.received: list[ReceivedCallback] = []
        self.ids: set[str] = set()
        self.waiting: tuple[int, Callable[[], None]] | None = None
        # Number of requests to each kind of bad receiver.
        self.suffered = dict.fromkeys(BAD, 0)

    def add(self, received: ReceivedCallback) -> None:
        """Record a callback, and answer waiting clients."""
        self.received.append(received)
        self.ids.add(received.id)
        self.notify()

    def notify(self) -> None:
        """Answer a waiting client if enough callbacks were received."""
        if self.waiting is not None and len(self.ids) >= self.waiting[0]:
            answer, self.waiting = self.waiting[1], None
            answer()

    def take(self) -> list[ReceivedCallback]:
        """Return the received callbacks and clear the record."""
        received, self.received, self.ids = self.received, [], set()
        return received


class Connection(asyncio.Protocol):
    """Reads requests one after the other, and answers as this kind of receiver does."""

    transport: asyncio.Transport

    def __init__(self, record: Record, sort: str) -> None:
        self._record = record
        self._sort = sort
        self._answer = {
            "good": self._listen,
            "late": self._answer_late,
            "hang": self._hang,
            "fail": self._fail,
            "drip": self._drip,
        }[sort]
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport for the answers."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            first, *lines = self._buffer[:end].decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
            until = end + 4 + int(headers.get("content-length", 0))
            if len(self._buffer) < until:
                return
            body, self._buffer = self._buffer[end + 4 : until], self._buffer[until:]
            if self._sort in BAD:
                self._record.suffered[self._sort] += 1
            self._answer(
                ReceivedCallback(time.monotonic(), first.split()[1], headers, body.decode())
            )

    def _listen(self, received: ReceivedCallback) -> None:
        if "webhook-id" in received.headers:
            self.transport.write(OK)
            self._record.add(received)
        elif received.path in ("/received", "/suffered"):
            said = self._record.take() if received.path == "/received" else self._record.suffered
            body = msgspec.json.encode(said)
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            self.transport.write(head.encode() + body)
        else:
            # Requests an answer once this many callbacks were received.
            self._record.waiting = (int(received.path[1:]), lambda: self.transport.write(OK))
            self._record.notify()

    def _answer_late(self, received: ReceivedCallback) -> None:
        asyncio.get_running_loop().call_later(SECONDS_LATE, self._listen, received)

    def _hang(self, _: ReceivedCallback) -> None:
        pass

    def _fail(self, _: ReceivedCallback) -> None:
        self.transport.write(FAILED)

    def _drip(self, received: ReceivedCallback, sent: int = 0) -> None:
        if not self.transport.is_closing():
            self.transport.write(ENDLESS[sent : sent + 1] or ENDLESS[-1:])
            asyncio.get_running_loop().call_later(
                SECONDS_BETWEEN_DRIPS, self._drip, received, sent + 1
            )


class Receiver:
    """The receiver process and what it received."""

    def __init__(self, ports: Mapping[str, list[int]]) -> None:
        (self._port,), (self._late_port,) = ports["good"], ports["late"]
        self.bad_urls = [f"http://{HOST}:{port}/" for sort in BAD for port in ports[sort]]

    def url(self, path: str) -> str:
        """Return an address at which callbacks are acknowledged."""
        return f"http://{HOST}:{self._port}/{path}"

    def late_url(self, path: str) -> str:
        """Return an address at which callbacks are acknowledged after 20 ms."""
        return f"http://{HOST}:{self._late_port}/{path}"

    def wait_for(self, count: int) -> None:
        """Wait until this many callbacks were received since the last `take`."""
        self._ask(f"/{count}")

    def take(self) -> list[ReceivedCallback]:
        """Return the received callbacks in order, and start over."""
        return msgspec.json.decode(self._ask("/received"), type=list[ReceivedCallback])

    def count_bad_requests(self) -> dict[str, int]:
        """Return the number of requests to each kind of bad receiver."""
        return msgspec.json.decode(self._ask("/suffered"), type=dict[str, int])

    def _ask(self, path: str) -> bytes:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=SECONDS_TO_WAIT)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run the receivers until the block ends."""
    command = [sys.executable, "-m", "bench.receiver"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        with process.stdout as said:
            yield Receiver(msgspec.json.decode(said.readline()))
    finally:
        stop(process)


async def listen() -> None:
    """Serve until the process ends."""
    record, loop, ports = Record(), asyncio.get_running_loop(), dict[str, list[int]]()
    servers = []
    for sort, count in {"good": 1, "late": 1, **BAD}.items():
        for _ in range(count):
            server = await loop.create_server(partial(Connection, record, sort), HOST, 0)
            ports.setdefault(sort, []).append(server.sockets[0].getsockname()[1])
            servers.append(server)
    print(msgspec.json.encode(ports).decode(), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    uvloop.run(listen())
