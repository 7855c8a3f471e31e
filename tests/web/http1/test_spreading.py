"""Connections are spread evenly over the processes that listen on one socket."""

import asyncio
import os
import socket
from collections.abc import Iterator

import pytest

from printworks.web.http1.connection import WaitingTimes
from printworks.web.http1.listening import Limits, Listener
from printworks.web.http1.spreading import MOST_AHEAD, Spread, share_counts
from printworks.web.receiving import Receive, Scope, Send

LIMITS = Limits(100, WaitingTimes(head=30, idle=30, write=30))


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        yield listening


async def answer_nobody(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError


def listen(listening: socket.socket, connections: memoryview, number: int) -> Listener:
    return Listener(answer_nobody, listening, None, LIMITS, Spread(connections, number))


async def connect(
    listening: socket.socket, count: int, listeners: list[Listener], total: int = 0
) -> list[socket.socket]:
    """Open connections, and wait until all of them are accepted."""
    opened = [socket.create_connection(listening.getsockname()) for _ in range(count)]
    while sum(listener.connections for listener in listeners) < (total or count):
        await asyncio.sleep(0.001)
    return opened


async def close(opened: list[socket.socket], listeners: list[Listener]) -> None:
    for each in opened:
        each.close()
    for listener in listeners:
        listener._pause()
        await listener.stop()


def test_whoever_has_more_lets_others_accept(listening: socket.socket) -> None:
    async def story() -> list[int]:
        connections = share_counts(2)
        first = listen(listening, connections, 0)
        # One that is busy elsewhere while many come.
        opened = await connect(listening, 8, [first])
        # A loop has one reader for each file.
        with listening.dup() as other:
            second = listen(other, connections, 1)
            opened += await connect(listening, 20, [first, second], total=28)
            found = [first.connections, second.connections]
            await close(opened, [first, second])
        return found

    first, second = asyncio.run(story())

    assert first + second == 28
    assert abs(first - second) <= 2 * MOST_AHEAD


def test_if_nobody_else_accepts_it_still_does(listening: socket.socket) -> None:
    async def story() -> int:
        listener = listen(listening, share_counts(2), 0)
        opened = await connect(listening, 3 * MOST_AHEAD, [listener])
        accepted = listener.connections
        await close(opened, [listener])
        return accepted

    assert asyncio.run(story()) == 3 * MOST_AHEAD


def test_one_that_gave_way_and_stopped_accepts_no_more(listening: socket.socket) -> None:
    async def story() -> int:
        listener = listen(listening, share_counts(2), 0)
        opened = await connect(listening, MOST_AHEAD + 1, [listener])
        opened.append(socket.create_connection(listening.getsockname()))
        while not listener._gave_way:
            await asyncio.sleep(0)
        listener._pause()
        listener._go_on()
        accepted = listener.connections
        await close(opened, [listener])
        return accepted

    assert asyncio.run(story()) == MOST_AHEAD + 1


def test_processes_share_what_they_count() -> None:
    counts = share_counts(2)
    mine, other = (Spread(counts, number) for number in range(2))
    child = os.fork()
    if child == 0:
        try:
            other.note(MOST_AHEAD)
        finally:
            # Whatever happens, it must not go on with the tests.
            os._exit(0)
    os.waitpid(child, 0)
    mine.note(2 * MOST_AHEAD + 1)

    assert mine.is_ahead()
    assert not other.is_ahead()
    mine.note(2 * MOST_AHEAD)
    assert not mine.is_ahead()
