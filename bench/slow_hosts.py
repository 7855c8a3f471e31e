"""Measure how long a merchant waits for images and callbacks while the hosts of others are slow.

Run `python -m bench.slow_hosts drip` (or `hang`, or `quiet`); `--bad 10` says how many others.
"""

import argparse
import asyncio
import statistics
import tempfile
import threading
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, Self

import structlog

from printworks.clock import system_clock
from printworks.imaging.processor import ImageProcessor
from printworks.rules.images import ImageStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.tables import schema
from tests.clocks import MovableClock
from tests.factories import a_merchant
from tests.worker.hosts import LoopThread
from tests.worker.receivers import listen
from tests.worker.shops import A_PICTURE, Shop, open_shop

IMAGES: Final = 20
SECONDS: Final = 40
WAIT_AT_MOST: Final = 60
# The number of the host that answers.
GOOD: Final = 120


class TickingClock(MovableClock):
    """The real time."""

    def __call__(self) -> datetime:
        return system_clock()


class Hosts:
    """A server on every loopback address, good or bad by the path that is asked for."""

    def __init__(self) -> None:
        self.heard: list[float] = []
        self._loop = LoopThread()
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._loop.__enter__()
        first = self._loop.run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self._port: int = first.sockets[0].getsockname()[1]
        others = [f"127.0.0.{number}" for number in range(2, GOOD + 1)]
        self._loop.run(asyncio.start_server(self._serve, others, self._port))
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._stop())
        self._loop.__exit__()

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def at(self, number: int, path: str) -> str:
        """Return an address of the host with this number."""
        return f"http://127.0.0.{number}:{self._port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await self._answer(head.split(b" ", 2)[1].decode(), head, reader, writer)
        writer.close()

    async def _answer(
        self, path: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-len")]
        if length:
            await reader.readexactly(int(length[0].split(b":")[1]))
        if path.startswith("/hang"):
            await asyncio.Event().wait()
        if path == "/callback":
            self.heard.append(time.monotonic())
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            return
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(A_PICTURE)}\r\n\r\n".encode())
        if path.startswith("/drip"):
            for byte in A_PICTURE:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.write(A_PICTURE)
        await writer.drain()


def add_bad_merchants(shop: Shop, hosts: Hosts, how: str, count: int) -> None:
    """Add merchants whose images, and whose receivers of callbacks, are all slow."""
    with shop.database.writing() as db:
        bad: list[Merchant] = [a_merchant(db, f"Bad {number}") for number in range(count)]
    for number, merchant in enumerate(bad):
        order = shop.add_order(merchant)
        urls = [hosts.at(number + 2, f"/{how}/{image}") for image in range(IMAGES)]
        shop.add_images(order, *urls)


def order_once(shop: Shop, hosts: Hosts, number: int) -> tuple[float, float]:
    """Add an order with an image; return how long its callback and its image took."""
    began, heard = time.monotonic(), len(hosts.heard)
    order = shop.add_order()
    (image,) = shop.add_images(order, hosts.at(GOOD, f"/quick/{number}"))
    told = arrived = 0.0
    while not (told and arrived) and time.monotonic() - began < WAIT_AT_MOST:
        if not told and len(hosts.heard) > heard:
            told = hosts.heard[heard] - began
        if not arrived and shop.image(image).status is ImageStatus.OK:
            arrived = time.monotonic() - began
        time.sleep(0.005)
    return told or WAIT_AT_MOST, arrived or WAIT_AT_MOST


def measure(shop: Shop, hosts: Hosts, how: str, bad: int) -> None:
    """Order again and again while the others are slow, and print how long it took."""
    listen(shop, hosts.at(GOOD, "/callback"))
    with shop.working():
        order_once(shop, hosts, -1)
        if how != "quiet":
            add_bad_merchants(shop, hosts, how, bad)
        began = time.monotonic()
        taken: list[tuple[float, float]] = []
        while time.monotonic() - began < SECONDS:
            taken.append(order_once(shop, hosts, len(taken)))
            threading.Event().wait(0.25)
        report(how, bad, taken)


def report(how: str, bad: int, taken: list[tuple[float, float]]) -> None:
    """Print what was measured."""
    for what, figures in zip(("callback", "image"), zip(*taken, strict=True), strict=True):
        print(
            f"{how}, {bad} others: {what} p50 {statistics.median(figures) * 1000:.0f} ms, "
            f"longest {max(figures):.2f} s, of {len(figures)}",
            flush=True,
        )


def main() -> None:
    """Measure one case on SQLite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how", choices=["quiet", "drip", "hang"])
    parser.add_argument("--bad", type=int, default=10)
    given = parser.parse_args()
    # Standard output is for the figures.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/bench.db")
        schema.migrate(database)
        with (
            ImageProcessor() as processor,
            Hosts() as hosts,
            open_shop(
                database, Path(folder), processor, clock=TickingClock(), stop_timeout="1s"
            ) as shop,
        ):
            measure(shop, hosts, given.how, given.bad)
        database.close()


if __name__ == "__main__":
    main()
