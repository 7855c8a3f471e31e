"""A connection carries one request after the other, and ends when it should."""

import asyncio
import gc
import socket
import ssl
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
import trustme
import uvloop

from printworks.web.http1.connection import WaitingTimes
from printworks.web.http1.exchange import App
from printworks.web.http1.listening import Limits, Listener
from printworks.web.http1.spreading import Spread, share_counts
from printworks.web.receiving import Receive, Scope, Send

GET = b"GET /%b HTTP/1.1\r\nHost: a\r\n\r\n"
PATIENT = WaitingTimes(30, 30, 30)


class Place:
    """A server for one test, and what its application was asked."""

    def __init__(
        self,
        times: WaitingTimes = PATIENT,
        connections: int = 100,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._tls = tls
        self.asked: list[Scope] = []
        self.went_on = threading.Event()
        self._limits = Limits(connections, times)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0)
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._listener: Listener = self._run(self._listen(self._answer))

    def connect(self) -> socket.socket:
        """Open a connection; whatever it waits for comes sooner than this."""
        return socket.create_connection(self._socket.getsockname(), timeout=30)

    def ask(self, *raw: bytes) -> bytes:
        """Send something in pieces, and read until the server hangs up."""
        with self.connect() as connection:
            for piece in raw:
                connection.sendall(piece)
            return read_all(connection)

    def watch_newest(self) -> "weakref.ref[Any]":
        """Return a reference to the only open connection that does not keep it."""
        (connection,) = self._listener._open
        return weakref.ref(connection)

    def wait_for_nobody(self) -> None:
        """Return when all connections are closed, and the loop has nothing more to do with them."""
        self._run(self._wait_for_nobody())

    async def _wait_for_nobody(self) -> None:
        while self._listener.connections:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)

    def shut(self) -> None:
        """Let nobody in any more, as a group of processes does that has to stop."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def begin_to_stop(self) -> None:
        """Return as soon as the server knows that it has to stop."""
        asyncio.run_coroutine_threadsafe(self._listener.stop(), self._loop)
        self._run(asyncio.sleep(0))

    def cancel_newest(self) -> int:
        """Connect, cancel that when it has just begun, and return how many are open."""
        cancelled = asyncio.run_coroutine_threadsafe(self._cancel_newest(), self._loop)
        with self.connect():
            return cancelled.result(30)

    async def _cancel_newest(self) -> int:
        while not self._listener.connections:
            await asyncio.sleep(0)
        for beginning in list(self._listener._starting):
            beginning.cancel()
        while self._listener._starting:
            await asyncio.sleep(0)
        return self._listener.connections

    def close(self) -> None:
        with suppress(OSError):
            self.shut()
        self._run(self._listener.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._socket.close()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self, app: App) -> Listener:
        return Listener(app, self._socket, self._tls, self._limits, Spread(share_counts(1), 0))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.append(scope)
        if (refusal := scope.get("refusal")) is not None:
            await reply(send, refusal.message.encode(), status=refusal.status)
            return
        match scope["path"]:
            case "/echo":
                await echo(receive, send)
            case "/stream":
                await stream(send)
            case "/fail":
                raise RuntimeError
            case "/flood":
                await reply(send, b"x" * 30_000_000)
                self.went_on.set()
            case "/unchanged":
                await reply(send, b"", status=304)
            case path:
                await reply(send, path.encode())


async def reply(send: Send, content: bytes, status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": content})


async def echo(receive: Receive, send: Send) -> None:
    content, more = b"", True
    while more:
        message = await receive()
        more = message.get("more_body", False)
        content += message.get("body", b"[gone]")
    await reply(send, content)


async def stream(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for piece in (b"one", b"", b"two"):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


def read_all(connection: socket.socket) -> bytes:
    answer = b""
    while part := connection.recv(65536):
        answer += part
    return answer


def split(answer: bytes) -> tuple[bytes, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body


LAST = b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.fixture
def without_collecting() -> Iterator[None]:
    """Find no garbage during the test: what is freed is freed at once."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def place() -> Iterator[Place]:
    with closing(Place()) as made:
        yield made


def test_requests_on_one_connection_are_answered_in_turn(place: Place) -> None:
    answer = place.ask(GET % b"first" + b"\r\n" + GET % b"second" + LAST)

    assert answer.count(b"HTTP/1.1 200 OK\r\n") == 3
    assert answer.index(b"/first") < answer.index(b"/second") < answer.index(b"/last")
    assert answer.count(b"connection: keep-alive\r\nkeep-alive: timeout=75\r\n") == 2
    assert answer.count(b"connection: close\r\n") == 1


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 10\r\n\r\n0123456789",
        b"Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_body_arrives_whole_and_another_request_may_follow(
    place: Place, body: bytes, size: int
) -> None:
    raw = b"POST /echo HTTP/1.1\r\nHost: a\r\n" + body + LAST

    answer = place.ask(*(raw[start : start + size] for start in range(0, len(raw), size)))

    assert b"\r\n\r\n0123456789HTTP/1.1 200 OK" in answer
    assert answer.endswith(b"/last")


def test_a_large_body_arrives_whole(place: Place) -> None:
    size = 3_000_000
    head = (
        b"POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size
    )
    with place.connect() as connection:
        sender = threading.Thread(target=connection.sendall, args=(head + b"x" * size,))
        sender.start()
        _, body = split(read_all(connection))
        sender.join()

    assert body == b"x" * size


def test_broken_chunks_end_the_body_and_the_connection(place: Place) -> None:
    raw = b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + LAST

    head, body = split(place.ask(raw))

    assert b"connection: close" in head
    assert body == b"[gone]"
    assert len(place.asked) == 1


def test_a_client_that_asks_first_is_told_to_send_its_body(place: Place) -> None:
    head = b"POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
    with place.connect() as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n")
        told = connection.recv(1000)
        connection.sendall(b"{}")
        _, body = split(read_all(connection))

    assert told == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert body == b"{}"


@pytest.mark.parametrize(
    ("raw", "end"),
    [
        (GET % b"any", b"/any"),
        (b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf", b"half[gone]"),
        (b"GET / HTTP", b""),
    ],
)
def test_a_client_that_sends_nothing_more_still_gets_its_answer(
    place: Place, raw: bytes, end: bytes
) -> None:
    with place.connect() as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)

        assert split(read_all(connection))[1] == end


def test_a_stream_comes_in_chunks(place: Place) -> None:
    head, body = split(place.ask(b"GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))

    assert b"transfer-encoding: chunked" in head
    assert body == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"


def test_an_old_client_gets_a_stream_that_ends_with_the_connection(place: Place) -> None:
    head, body = split(place.ask(b"GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))

    assert b"transfer-encoding" not in head
    assert body == b"onetwo"


@pytest.mark.parametrize("request_line", [b"HEAD /any", b"HEAD /stream", b"GET /unchanged"])
def test_an_answer_without_a_body_has_none(place: Place, request_line: bytes) -> None:
    raw = request_line + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    assert split(place.ask(raw))[1] == b""


def test_a_malformed_request_is_refused_by_the_application_and_ends_the_connection(
    place: Place,
) -> None:
    head, body = split(place.ask(GET % b"" + b"bad\r\n\r\n" + LAST))

    assert head.startswith(b"HTTP/1.1 200 OK")
    assert b"The first line of a request must be" in body
    assert [scope["path"] for scope in place.asked] == ["/", ""]


def test_a_few_empty_lines_before_a_request_are_skipped(place: Place) -> None:
    assert place.ask(b"\r\n\r\n\r\n\r\n", LAST).endswith(b"\r\n\r\n/last")


@pytest.mark.parametrize("pieces", [[b"\r\n" * 500_000], [b"\r\n"] * 50])
def test_empty_lines_without_end_are_refused_and_end_the_connection(
    place: Place, pieces: list[bytes]
) -> None:
    assert place.ask(*pieces).startswith(b"HTTP/1.1 400 ")


def test_a_refusal_is_read_even_if_the_client_sends_on(place: Place) -> None:
    with place.connect() as connection:
        connection.sendall(b"GET /a HTTP/1.1\r\nX: " + b"a" * 1_000_000)

        assert read_all(connection).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        b"GET /a HTTP/1.0\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n/a",
    ],
)
def test_a_last_request_that_is_answered_ends_the_connection_at_once(
    place: Place, request_: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("printworks.web.http1.connection.SECONDS_OF_SILENCE", 3600)

    assert place.ask(request_).endswith(b"\r\n\r\n/a")


def test_a_failure_of_the_application_is_refused_by_it(place: Place) -> None:
    answer = place.ask(GET % b"fail" + LAST)

    assert answer.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert answer.endswith(b"/last")


def test_a_head_that_does_not_arrive_is_told_so_and_silence_is_not() -> None:
    with closing(Place(WaitingTimes(0.01, 30, 30))) as place:
        late = place.ask(b"GET / HTTP/1.1\r\n")
        silent = place.ask()
        almost_silent = place.ask(b"\r\n")

    assert late.startswith(b"HTTP/1.1 408 ")
    assert silent == almost_silent == b""


def test_an_idle_connection_ends_in_time() -> None:
    with closing(Place(WaitingTimes(30, 0.01, 30))) as place:
        answer = place.ask(GET % b"one")

    assert answer.endswith(b"/one")


def test_a_client_that_never_reads_is_not_waited_for() -> None:
    with closing(Place(WaitingTimes(30, 30, 0.01))) as place, place.connect() as connection:
        connection.sendall(GET % b"flood")

        assert place.went_on.wait(30)


def test_a_client_beyond_the_last_place_waits_until_one_is_free() -> None:
    with closing(Place(connections=1)) as place, place.connect() as first:
        first.sendall(GET % b"one")
        first.recv(1000)
        with place.connect() as second:
            second.sendall(LAST)
            first.close()

            assert read_all(second).endswith(b"/last")


def test_a_request_that_meets_a_stop_is_answered_as_the_last_one() -> None:
    with closing(Place()) as place, place.connect() as used, place.connect() as new:
        used.sendall(GET % b"a")
        used.recv(65536)
        place.begin_to_stop()

        for connection in (used, new):
            connection.sendall(GET % b"b")
            answer = read_all(connection)
            assert b"connection: close" in answer.lower()
            assert answer.endswith(b"\r\n\r\n/b")


def test_whoever_comes_before_the_socket_is_shut_is_answered_and_nobody_after() -> None:
    with closing(Place()) as place:
        place.begin_to_stop()
        assert place.ask(GET % b"a").endswith(b"\r\n\r\n/a")
        place.shut()
        with pytest.raises(ConnectionError):
            place.connect()


def test_a_stop_closes_what_is_idle() -> None:
    place = Place()
    with place.connect() as connection:
        connection.sendall(GET % b"one")
        connection.recv(1000)
        place.close()

        assert connection.recv(1000) == b""


def test_a_stop_does_not_wait_for_somebody_who_came_at_the_last_moment() -> None:
    with closing(Place()) as place:
        assert place.cancel_newest() == 0


@pytest.mark.usefixtures("without_collecting")
@pytest.mark.parametrize(
    "unfinished",
    [b"", b"GET /half", b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf"],
)
def test_the_memory_of_a_connection_that_is_over_waits_for_no_collector(unfinished: bytes) -> None:
    authority = trustme.CA()
    server, client = (
        ssl.SSLContext(each) for each in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT)
    )
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    with closing(Place(tls=server)) as place:
        with client.wrap_socket(place.connect(), server_hostname="127.0.0.1") as connection:
            connection.sendall(GET % b"first")
            connection.recv(65536)
            watched = place.watch_newest()
            connection.sendall(unfinished)
        place.wait_for_nobody()

        assert watched() is None
