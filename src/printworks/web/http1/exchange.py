"""One request and its answer, as the application sees them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import structlog

from printworks.web.http1.answers import BODILESS, write_head
from printworks.web.http1.bodies import BodyReader, BrokenChunks
from printworks.web.http1.heads import Fields, HeadRefusal
from printworks.web.receiving import Receive, Scope, Send

log = structlog.get_logger(__name__)

App = Callable[[Scope, Receive, Send], Awaitable[None]]

# What is known of the headers of a request that cannot be read.
UNREADABLE: Final = Fields(
    b"", is_old=False, headers=[], texts={}, length=0, keeps_alive=False, asks_first=False
)
_GONE: Final = {"type": "http.disconnect"}
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_FAILED: Final = HeadRefusal(500, "Something went wrong here; the request ID is in the headers.")


class Wire(Protocol):
    """The connection of an exchange."""

    # What has arrived and belongs to no request yet.
    received: bytearray
    is_closing: bool

    async def write(self, data: bytes) -> None:
        """Send something."""

    def go_on_reading(self) -> None:
        """Let the client send more."""

    def end_exchange(self, exchange: "Exchange") -> None:
        """Go on with the next request, or close."""


class Exchange:
    """A request whose body may still be arriving, and its answer."""

    __slots__ = (
        "_arrival",
        "_asks_first",
        "_body",
        "_is_answered",
        "_is_begun",
        "_is_chunked",
        "_is_gone",
        "_is_readable",
        "_keeps_alive",
        "_pieces",
        "_scope",
        "_start",
        "_was_taken",
        "_wire",
        "waiting",
    )

    def __init__(self, wire: Wire, scope: Scope, body: BodyReader, fields: Fields) -> None:
        self._wire = wire
        self._scope = scope
        self._body = body
        self._is_readable = fields is not UNREADABLE
        self._keeps_alive = fields.keeps_alive
        self._asks_first = fields.asks_first
        self._pieces: list[bytes] = []
        # How much of the body waits for the application.
        self.waiting = 0
        self._was_taken = self._is_gone = self._is_answered = False
        self._arrival: asyncio.Future[None] | None = None
        self._start: dict[str, Any] | None = None
        self._is_begun = self._is_chunked = False

    @property
    def can_go_on(self) -> bool:
        """Whether another request may follow on the connection."""
        return self._is_answered and self._keeps_alive and self._body.is_over and not self._is_gone

    @property
    def has_all(self) -> bool:
        """Whether the request arrived to its end and was answered: nothing more is expected."""
        return self._is_answered and self._is_readable and self._body.is_over and not self._is_gone

    def note_arrival(self) -> None:
        """Take what belongs to the body from what has arrived."""
        if self._body.is_over or self._is_gone:
            return
        try:
            piece = self._body.take(self._wire.received)
        except BrokenChunks:
            self.note_loss()
            return
        if piece:
            self._pieces.append(piece)
            self.waiting += len(piece)
        if piece or self._body.is_over:
            self._wake()

    def note_end(self) -> None:
        """Remember that nothing more will come."""
        if not self._body.is_over:
            self.note_loss()

    def note_loss(self) -> None:
        """Remember that the rest of the body will never be known."""
        self._is_gone = True
        self._keeps_alive = False
        self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def run(self, app: App) -> None:
        """Let the application answer."""
        try:
            await app(self._scope, self.receive, self.send)
        except Exception:
            log.exception("request failed", method=self._scope["method"])
            await self._fail(app)
        finally:
            self._wire.end_exchange(self)

    async def _fail(self, app: App) -> None:
        if self._is_begun:
            return
        self._start = None
        try:
            await app({**self._scope, "refusal": _FAILED}, self.receive, self.send)
        except Exception:
            log.exception("failure not answered")

    async def receive(self) -> Any:
        """Return the next piece of the body; at the end, wait until the client is gone."""
        while (
            not self._pieces and not self._is_gone and (self._was_taken or not self._body.is_over)
        ):
            if self._asks_first and not self._is_begun:
                await self._wire.write(_CONTINUE)
            self._asks_first = False
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival
        if not self._pieces and self._is_gone:
            return _GONE
        content = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self.waiting = 0
        self._wire.go_on_reading()
        self._was_taken = self._body.is_over
        more = not self._body.is_over
        return {"type": "http.request", "body": content, "more_body": more}

    async def send(self, message: dict[str, Any]) -> None:
        """Send a part of the answer; its head goes with the first part of its body."""
        if self._start is None:
            self._start = message
            return
        content = message.get("body", b"")
        more = message.get("more_body", False)
        head = b"" if self._is_begun else self._begin(self._start, len(content), more=more)
        framed = head + self._frame(content, more=more)
        self._is_answered = not more
        if framed:
            await self._wire.write(framed)

    def _has_body(self) -> bool:
        status = self._start["status"] if self._start else 0
        return self._scope["method"] != "HEAD" and status not in BODILESS

    def _begin(self, start: dict[str, Any], size: int, *, more: bool) -> bytes:
        self._is_begun = True
        headers = start["headers"]
        has_length = False
        for name, value in headers:
            if name == b"content-length":
                has_length = True
            elif name == b"connection" and value == b"close":
                self._keeps_alive = False
        framing = b"" if has_length else self._choose_framing(size, more=more)
        if self._wire.is_closing:
            self._keeps_alive = False
        return write_head(start["status"], headers, framing, keeps_alive=self._keeps_alive)

    def _choose_framing(self, size: int, *, more: bool) -> bytes:
        if not more:
            return b"content-length: %d\r\n" % size if self._has_body() else b""
        if self._scope["http_version"] == "1.0":
            self._keeps_alive = False
            return b""
        self._is_chunked = True
        return b"transfer-encoding: chunked\r\n"

    def _frame(self, content: bytes, *, more: bool) -> bytes:
        if not self._has_body():
            return b""
        if not self._is_chunked:
            return content
        framed = b"%x\r\n%b\r\n" % (len(content), content) if content else b""
        return framed if more else framed + b"0\r\n\r\n"
