"""One connection: reads its requests one after the other, and passes them to the application."""

import asyncio
from contextlib import suppress
from typing import Any, Final, NamedTuple

from printworks.web.http1.bodies import NO_BODY, BodyReader, ChunkedBody, SizedBody
from printworks.web.http1.exchange import UNREADABLE, App, Exchange
from printworks.web.http1.heads import (
    LARGEST_HEAD,
    Fields,
    HeadRefusal,
    MalformedHead,
    find_end,
    guess_scope,
    make_scope,
    read_head,
)
from printworks.web.receiving import Scope

# Of a body that the application has not taken yet; more is left to the system's buffers.
MOST_WAITING: Final = 256 * 1024
# After a refusal, what still arrives is discarded until nothing has come for so long: if the
# connection were closed on it, the client's system would throw the refusal away.
SECONDS_OF_SILENCE: Final = 0.25
MOST_DISCARDED: Final = 8 * 1024 * 1024
# Before a request; with more of them it is refused.
MOST_EMPTY_LINES: Final = 4
_EMPTY_LINE: Final = b"\r\n"


class _Gone:
    """The transport of a connection that was lost: nothing is sent, and nothing arrives.

    A connection that kept its own would be in a circle with it, and the memory of both, 45 kB with
    TLS, would stay until the garbage collector looks at what is old, thousands of connections later.
    """

    def is_closing(self) -> bool:
        return True

    def resume_reading(self) -> None:
        """Read nothing more."""


_GONE: Final = _Gone()


class WaitingTimes(NamedTuple):
    """How long is waited, in seconds: for a whole head, for another request, for a slow reader."""

    head: float
    idle: float
    write: float


class Connection(asyncio.BufferedProtocol):
    """A client that sends requests; every answer to them is the application's.

    Whatever arrives is put into a buffer that all connections of a loop share: it is taken before
    the next one's arrives. Without one, each message would be read into 256 kB of its own.
    """

    def __init__(
        self,
        app: App,
        times: WaitingTimes,
        connections: "set[Connection]",
        scheme: str,
        arriving: memoryview,
    ) -> None:
        self._app = app
        self._arriving = arriving
        self._times = times
        self._connections = connections
        self._scheme = scheme
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._client: tuple[str, int] | None = None
        self.received = bytearray()
        self._exchange: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._latest: Fields | None = None
        # When to give up, by the clock of the loop; None while the application is at work.
        self._deadline: float | None = None
        self._is_paused = False
        self.is_closing = self._has_ended = False
        self._discarded = 0
        self._silence: asyncio.TimerHandle | None = None
        # Set while the client reads more slowly than is written.
        self._drained: asyncio.Future[None] | None = None
        self._unwritten = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self._client = (peer[0], peer[1]) if isinstance(peer, tuple) else None
        self._connections.add(self)
        self._deadline = self._loop.time() + self._times.head

    def connection_lost(self, _error: Exception | None) -> None:
        """Tell the application that there is nobody any more."""
        self._connections.discard(self)
        self.is_closing = True
        self._deadline = None
        if self._silence is not None:
            self._silence.cancel()
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        if self._exchange is not None:
            self._exchange.note_loss()
        self._transport = _GONE

    def get_buffer(self, _: int) -> memoryview:
        """Say where to put what arrives next."""
        return self._arriving

    def buffer_updated(self, size: int) -> None:
        """Take what arrived."""
        data = self._arriving[:size].tobytes()
        if self._exchange is not None:
            self.received += data
            self._exchange.note_arrival()
            self._hold_back(self._exchange)
        elif self._silence is not None:
            self._discard(len(data))
        elif self.received:
            self.received += data
            self._begin(bytes(self.received))
        else:
            self._deadline = self._loop.time() + self._times.head
            self._begin(data)

    def eof_received(self) -> bool:
        """Answer a client that sends nothing more but still reads; TLS has no such thing."""
        self._has_ended = True
        if self._exchange is None or self._scheme == "https":
            return False
        self.is_closing = True
        self._exchange.note_end()
        return True

    def pause_writing(self) -> None:
        """Stop the application until the client has read."""
        self._drained = self._loop.create_future()
        self._unwritten = self._transport.get_write_buffer_size()
        self._deadline = self._loop.time() + self._times.write

    def resume_writing(self) -> None:
        """Let the application go on."""
        drained, self._drained, self._deadline = self._drained, None, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    def check_time(self, now: float) -> None:
        """Give up if it is time."""
        if self._deadline is None or now < self._deadline:
            return
        if self._transport.is_closing():
            self._transport.abort()
        elif self._drained is not None:
            unwritten = self._transport.get_write_buffer_size()
            if unwritten < self._unwritten:
                self._unwritten, self._deadline = unwritten, now + self._times.write
                return
            self._transport.abort()
        elif self.received.strip() and self._silence is None:
            late = HeadRefusal(408, "The head of the request did not arrive in time.")
            self._refuse(late, bytes(self.received))
        else:
            self.close()

    def stop(self, *, at_once: bool) -> None:
        """Close the connection after the next answer, or now if it is idle."""
        self.is_closing = True
        if at_once and self._exchange is None:
            self.close()

    def close(self) -> None:
        """Send what is written, and close."""
        self.is_closing = True
        self._deadline = self._loop.time() + self._times.write
        self._transport.close()

    def _begin(self, received: bytes) -> None:
        """Begin with the next request, if its head is complete."""
        arrived, received = received, _skip_empty_lines(received)
        try:
            end = find_end(received)
            if end < 0:
                # With its empty lines: they give a head no more time.
                self.received[:] = arrived
                return
            head = read_head(received[:end], self._latest)
            scope = make_scope(head)
        except MalformedHead as error:
            self._refuse(error.refusal, received)
            return
        self._latest = fields = head.fields
        body: BodyReader = NO_BODY if fields.length == 0 else _await_body(fields.length)
        exchange = Exchange(self, self._complete(scope), body, fields)
        if self.received or end < len(received):
            self.received[:] = received[end:]
            exchange.note_arrival()
        self._start(exchange)

    def _complete(self, scope: Scope) -> Scope:
        scope["scheme"] = self._scheme
        scope["client"] = self._client
        scope["server"] = None
        return scope

    def _refuse(self, refusal: HeadRefusal, received: bytes) -> None:
        """Let the application refuse what cannot be read, and end the connection."""
        scope = self._complete(guess_scope(received[:LARGEST_HEAD]))
        scope["refusal"] = refusal
        self.received.clear()
        self._start(Exchange(self, scope, NO_BODY, UNREADABLE))

    def _start(self, exchange: Exchange) -> None:
        self._deadline = None
        self._exchange = exchange
        # The loop knows tasks only weakly.
        self._task = self._loop.create_task(exchange.run(self._app))

    def end_exchange(self, exchange: Exchange) -> None:
        """Wait for the next request, or close."""
        self._exchange = None
        if self._transport.is_closing():
            return
        if self.is_closing or not exchange.can_go_on:
            if exchange.has_all and not self.received:
                self.close()
            else:
                self._discard(0)
            return
        self._deadline = self._loop.time() + self._times.idle
        self.go_on_reading()
        if self.received:
            self._deadline = self._loop.time() + self._times.head
            self._begin(bytes(self.received))

    def _discard(self, size: int) -> None:
        """Close as soon as nothing more comes."""
        self.received.clear()
        self._discarded += size
        if self._discarded > MOST_DISCARDED:
            self._transport.abort()
            return
        if self._has_ended:
            self.close()
            return
        self.go_on_reading()
        if self._silence is not None:
            self._silence.cancel()
        else:
            self._deadline = self._loop.time() + self._times.head
        self._silence = self._loop.call_later(SECONDS_OF_SILENCE, self.close)

    def _hold_back(self, exchange: Exchange) -> None:
        if len(self.received) + exchange.waiting > MOST_WAITING and not self._is_paused:
            self._is_paused = True
            with suppress(RuntimeError):
                self._transport.pause_reading()

    async def write(self, data: bytes) -> None:
        """Send something, and wait while the client reads too slowly."""
        if self._transport.is_closing():
            return
        self._transport.write(data)
        if self._drained is not None:
            await self._drained

    def go_on_reading(self) -> None:
        """Let the client send more."""
        if self._is_paused:
            self._is_paused = False
            with suppress(RuntimeError):
                self._transport.resume_reading()


def _skip_empty_lines(received: bytes) -> bytes:
    """Leave out what old clients send behind a body (RFC 9112, 2.2)."""
    begin = 0
    while begin < len(_EMPTY_LINE) * MOST_EMPTY_LINES and received.startswith(_EMPTY_LINE, begin):
        begin += len(_EMPTY_LINE)
    return received[begin:]


def _await_body(length: int | None) -> BodyReader:
    return ChunkedBody() if length is None else SizedBody(length)
