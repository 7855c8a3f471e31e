"""Clients that send given requests: one after the other, or on schedule.

On schedule, each latency counts from the time at which the request was due, so that a server that
stops for a second shows up as latency for all waiting requests.
"""

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Any, NamedTuple

from bench.servers import HOST, Plan
from bench.wrk import NoAnswers


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    head: bytes
    body: bytes

    def find_header(self, name: str) -> str:
        """Return a header, or nothing."""
        for line in self.head.decode().split("\r\n"):
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return ""


@dataclass
class Laps:
    """The latencies of one kind of request, in milliseconds, and what went wrong."""

    milliseconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    # From the first request to the last answer, of requests in turn.
    seconds: float = 0.0

    def cut(self, percent: int) -> float:
        """Return a percentile; of a single lap, that lap."""
        if len(self.milliseconds) < 2:
            return next(iter(self.milliseconds), 0.0)
        return quantiles(self.milliseconds, n=100, method="inclusive")[percent - 1]


class Connection:
    """An HTTPS connection that is kept, with a minimal HTTP/1.1."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._tls = plan.certificate.client
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> Answer:
        """Send a request and read its answer.

        A server may close a connection that was idle. Then the request is sent again through a
        new one; nothing was lost, because not a byte of an answer had come.
        """
        if self._streams is not None:
            try:
                return await self._exchange(request)
            except (OSError, asyncio.IncompleteReadError) as error:
                if getattr(error, "partial", b""):
                    raise
                await self.close()
        await self.open()
        return await self._exchange(request)

    async def open(self) -> None:
        """Open the connection, so that its first request need not."""
        self._streams = await asyncio.open_connection(
            HOST, self._plan.port, ssl=self._tls, server_hostname=HOST
        )

    async def _exchange(self, request: bytes) -> Answer:
        assert self._streams is not None
        reader, writer = self._streams
        writer.write(request)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        body = await reader.readexactly(int(length or 0))
        return Answer(int(head.split()[1]), head, body)

    async def close(self) -> None:
        """Close the connection, if it is open."""
        if self._streams is not None:
            _, writer = self._streams
            self._streams = None
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)


def write_request(plan: Plan, method: str, path: str, body: Any = None, **headers: str) -> bytes:
    """Write a request of the plan's merchant."""
    content = b"" if body is None else json.dumps(body).encode()
    head = [
        f"{method} {path} HTTP/1.1",
        f"Host: {HOST}:{plan.port}",
        f"X-Service-MerchantId: {plan.credentials.merchant}",
        f"X-Service-REST-API-Key: {plan.credentials.key}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    if content:
        head += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*head, "", ""]).encode() + content


def ask(plan: Plan, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    """Send a single request."""

    async def send() -> Answer:
        connection = Connection(plan)
        try:
            return await connection.ask(write_request(plan, method, path, body, **headers))
        finally:
            await connection.close()

    return asyncio.run(send())


def take_turns(plan: Plan, requests: Sequence[bytes], *, connections: int = 1) -> float:
    """Send all requests, each connection one after the other; return how many a second."""
    laps = time_each(plan, requests, connections=connections)
    return len(requests) / laps.seconds


def time_each(plan: Plan, requests: Sequence[bytes], *, connections: int = 1) -> Laps:
    """Send all requests, each connection one after the other; raise unless all succeed."""
    laps = asyncio.run(send_in_turn(plan, requests, connections))
    if laps.errors:
        message = f"{len(laps.errors)} of {len(requests)} failed: {laps.errors[0]}"
        raise NoAnswers(message)
    return laps


async def send_in_turn(plan: Plan, requests: Sequence[bytes], connections: int = 1) -> Laps:
    """Send all requests, each connection one after the other.

    The connections are opened before, like those of `wrk`, which last for thousands of requests.
    """
    waiting, laps = list(reversed(requests)), Laps()
    opened = [Connection(plan) for _ in range(connections)]
    # One that cannot be opened is tried again with its first request, and counted as an error.
    await asyncio.gather(*(connection.open() for connection in opened), return_exceptions=True)

    async def work(connection: Connection) -> None:
        while waiting:
            await _measure(connection, waiting.pop(), time.perf_counter(), laps)

    started = time.perf_counter()
    await asyncio.gather(*(work(connection) for connection in opened))
    laps.seconds = time.perf_counter() - started
    await asyncio.gather(*(connection.close() for connection in opened))
    return laps


async def send_on_schedule(
    plan: Plan, requests: Iterable[tuple[str, bytes]], *, per_second: int, connections: int = 64
) -> dict[str, Laps]:
    """Send requests at a fixed rate, answered or not; return the latencies of each kind."""
    free: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()
    opened = [Connection(plan) for _ in range(connections)]
    for connection in opened:
        free.put_nowait(connection)
    found: dict[str, Laps] = {}

    async def send(content: bytes, due: float, laps: Laps) -> None:
        connection = await free.get()
        await _measure(connection, content, due, laps)
        free.put_nowait(connection)

    start = time.perf_counter() + 0.1
    async with asyncio.TaskGroup() as tasks:
        for number, (kind, content) in enumerate(requests):
            due = start + number / per_second
            await asyncio.sleep(due - time.perf_counter())
            tasks.create_task(send(content, due, found.setdefault(kind, Laps())))
    await asyncio.gather(*(connection.close() for connection in opened))
    return found


async def _measure(connection: Connection, content: bytes, since: float, laps: Laps) -> None:
    try:
        answer = await connection.ask(content)
    except (OSError, asyncio.IncompleteReadError) as error:
        laps.errors.append(f"{type(error).__name__}: {error}")
        await connection.close()
        return
    if answer.status == 200:
        laps.milliseconds.append((time.perf_counter() - since) * 1000)
    else:
        laps.errors.append(f"{answer.status}: {answer.body[:200].decode(errors='replace')}")
