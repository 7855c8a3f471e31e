"""Mixed requests at a fixed rate, whether or not the earlier ones were answered.

Each latency counts from the time at which the request was due, so that a server that
stops for a second shows up as latency for all waiting requests.
"""

import asyncio
import json
import random
import ssl
import time
from dataclasses import dataclass
from statistics import quantiles
from typing import Final

from bench.servers import HOST, Plan
from bench.workload import ORDER_BODY

CONNECTIONS: Final = 64
MIX: Final = {"get": 60, "list": 10, "create": 30}


@dataclass(frozen=True)
class Paced:
    """Milliseconds for one kind of request."""

    requests: int
    p50: float
    p99: float


class Connection:
    """A keep-alive HTTPS connection with a minimal HTTP/1.1."""

    def __init__(self, plan: Plan, tls: ssl.SSLContext) -> None:
        self._plan = plan
        self._tls = tls

    async def open(self) -> None:
        """Connect."""
        self._reader, self._writer = await asyncio.open_connection(
            HOST, self._plan.port, ssl=self._tls, server_hostname=HOST
        )

    async def send(self, request: bytes) -> None:
        """Send a request and read its answer; raise unless it is a success."""
        self._writer.write(request)
        await self._writer.drain()
        head = await self._reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            message = f"The answer is {head.splitlines()[0]!r}."
            raise RuntimeError(message)
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        await self._reader.readexactly(int(length))

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        await self._writer.wait_closed()


def drive_at(plan: Plan, *, per_second: int, seconds: int, last_id: int) -> dict[str, Paced]:
    """Send the mix for a while; return the latencies of each kind."""
    return asyncio.run(_drive(plan, per_second, seconds, last_id))


async def _drive(plan: Plan, per_second: int, seconds: int, last_id: int) -> dict[str, Paced]:
    tls = plan.certificate.client
    free: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()
    for _ in range(CONNECTIONS):
        connection = Connection(plan, tls)
        await connection.open()
        free.put_nowait(connection)
    laps: dict[str, list[float]] = {kind: [] for kind in MIX}
    chance = random.Random(20261115)
    start = time.perf_counter() + 0.1
    async with asyncio.TaskGroup() as requests:
        for number in range(per_second * seconds):
            due = start + number / per_second
            (kind,) = chance.choices(list(MIX), list(MIX.values()))
            content = _write_request(plan, kind, chance.randint(1, last_id))
            await asyncio.sleep(due - time.perf_counter())
            requests.create_task(_measure(free, content, due, laps[kind]))
    while not free.empty():
        await free.get_nowait().close()
    return {kind: _summarise(found) for kind, found in laps.items()}


async def _measure(
    free: asyncio.LifoQueue[Connection], content: bytes, due: float, laps: list[float]
) -> None:
    connection = await free.get()
    await connection.send(content)
    free.put_nowait(connection)
    laps.append((time.perf_counter() - due) * 1000)


def _write_request(plan: Plan, kind: str, order_id: int) -> bytes:
    line, body = {
        "get": (f"GET /v3.0/orders/{order_id}", b""),
        "list": ("GET /v3.0/orders?limit=20", b""),
        "create": ("POST /v3.0/orders", json.dumps(ORDER_BODY).encode()),
    }[kind]
    head = [
        f"{line} HTTP/1.1",
        f"Host: {HOST}:{plan.port}",
        f"X-Service-MerchantId: {plan.credentials.merchant}",
        f"X-Service-REST-API-Key: {plan.credentials.key}",
    ]
    if body:
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


def _summarise(laps: list[float]) -> Paced:
    cuts = quantiles(laps, n=100)
    return Paced(len(laps), cuts[49], cuts[98])
