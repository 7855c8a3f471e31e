"""A request that has begun must arrive in time; a connection between two requests may be idle."""

import asyncio
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from printworks.web.unfinished_heads import HeadWatch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells so much")

WITHIN = timedelta(milliseconds=50)
SECONDS = 30


class Place:
    """A server and its clients, in one process."""

    def __init__(self, ends: ExitStack) -> None:
        self._ends = ends
        self._listener = ends.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.watch = HeadWatch(self._answer, self._listener.getsockname()[1], WITHIN)
        self._files: list[int] = []

    def connect(self) -> tuple[socket.socket, socket.socket]:
        """Return the client's end of a connection, and the server's."""
        client = self._ends.enter_context(socket.create_connection(self._listener.getsockname()))
        server = self._ends.enter_context(self._listener.accept()[0])
        self._files.append(server.fileno())
        return client, server

    def connect_elsewhere(self) -> tuple[socket.socket, socket.socket]:
        """Connect the server to somebody else, such as a database."""
        with socket.create_server(("127.0.0.1", 0)) as other:
            ours = self._ends.enter_context(socket.create_connection(other.getsockname()))
            theirs = self._ends.enter_context(other.accept()[0])
        self._files.append(ours.fileno())
        return theirs, ours

    async def _answer(self, scope: Any, _receive: Any, _send: Any) -> None:
        if server := scope.get("connection"):
            server.sendall(b"an answer")
        else:
            await asyncio.Event().wait()

    async def ask(self, client: socket.socket, server: socket.socket, *, answer: bool) -> None:
        """Send a request, which is answered or not."""
        client.sendall(b"a request")
        server.recv(100)
        host, port = client.getsockname()
        scope = {"type": "http", "client": (host, str(port))}
        await self.watch({**scope, "connection": server if answer else None}, None, None)  # type: ignore[arg-type]

    def look(self) -> None:
        """Look once, also at a file that is no connection and at one that is closed."""
        self.watch.look([0, self._listener.fileno(), 10**6, *self._files], now=time.monotonic())


@pytest.fixture
def place() -> Iterator[Place]:
    with ExitStack() as ends:
        yield Place(ends)


def is_open(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        while part := client.recv(100):
            assert part == b"an answer"
    except BlockingIOError:
        return True
    return False


def look_until_closed(place: Place, *clients: socket.socket, drip: bool = False) -> None:
    deadline = time.monotonic() + SECONDS
    while any(map(is_open, clients)):
        assert time.monotonic() < deadline
        if drip:
            for client in clients:
                client.send(b"x")
        place.look()


def test_who_does_not_begin_or_finish_the_first_request_is_hung_up_on(place: Place) -> None:
    silent, _ = place.connect()
    half, _ = place.connect()
    half.sendall(b"GET / HT")

    look_until_closed(place, silent, half)


def test_an_idle_connection_stays_while_one_that_began_another_request_is_closed(
    place: Place,
) -> None:
    (idle, idle_server), (half, half_server) = place.connect(), place.connect()
    elsewhere, _ = place.connect_elsewhere()
    elsewhere.sendall(b"rows")

    async def ask_both() -> None:
        await place.ask(idle, idle_server, answer=True)
        await place.ask(half, half_server, answer=True)

    asyncio.run(ask_both())
    look_until_closed(place, half, drip=True)

    assert is_open(idle)
    assert is_open(elsewhere)


def test_a_request_that_is_being_answered_may_take_its_time(place: Place) -> None:
    (slow, slow_server), (half, _) = place.connect(), place.connect()

    async def run() -> None:
        asking = asyncio.create_task(place.ask(slow, slow_server, answer=False))
        await asyncio.sleep(0)
        look_until_closed(place, half, drip=True)
        assert is_open(slow)
        asking.cancel()

    asyncio.run(run())

    look_until_closed(place, slow, drip=True)


def test_the_start_of_the_server_is_passed_on() -> None:
    sent: list[Any] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        sent.append(scope)

    watch = HeadWatch(app, 1, WITHIN)
    asyncio.run(watch({"type": "lifespan"}, None, None))  # type: ignore[arg-type]

    assert sent == [{"type": "lifespan"}]
