"""Answers a request before its body has arrived, in a way that the client still reads the answer.

Closing a connection on which data is still arriving makes the client's system discard the answer:
the merchant's program sees a broken pipe instead of a 401. So the rest of the body is received and
discarded after the answer, within limits, and only then is the connection closed.
"""

from contextlib import suppress
from typing import Any, Final

from printworks.web.receiving import (
    BodyLimits,
    BodyStalled,
    BodyTooLarge,
    ClientGone,
    Receive,
    Scope,
    Send,
    limit_body,
)

# At once, in a web process. Others are closed without this courtesy.
MOST_DISCARDED: Final = 64
# A body that is announced to be this small is not worth a new connection.
_SMALL: Final = 64 * 1024
_STALLED: Final = 408
_CLOSE: Final = (b"connection", b"close")


class Leftovers:
    """Receives what is left of the bodies of requests that were answered early."""

    def __init__(self, limits: BodyLimits) -> None:
        self._limits = limits
        self._running = 0

    async def discard(self, body: "ArrivingBody") -> None:
        """Receive and discard the rest of a body, unless it is too much or too slow."""
        if body.is_over or self._running >= MOST_DISCARDED:
            return
        self._running += 1
        try:
            with suppress(BodyTooLarge, BodyStalled, ClientGone):
                receive = limit_body(body.receive, {}, self._limits)
                while not body.is_over:
                    await receive()
        finally:
            self._running -= 1


class ArrivingBody:
    """The two ends of a request, which know whether its body has arrived completely."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._announced = _find_length(scope)
        # Whether nothing more will arrive, and whether all of it did.
        self.is_over = self._is_complete = self._announced == 0

    async def receive(self) -> Any:
        message = await self._receive()
        self.is_over = not message.get("more_body", False)
        self._is_complete = self.is_over and message["type"] == "http.request"
        return message

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message; an early answer tells the client to stop sending."""
        if message["type"] == "http.response.start" and not self._is_complete:
            is_small = self._announced is not None and self._announced <= _SMALL
            if not is_small or message["status"] == _STALLED:
                message = {**message, "headers": [*message["headers"], _CLOSE]}
        await self._send(message)


def _find_length(scope: Scope) -> int | None:
    """Return the announced size of the body; None if it comes in chunks."""
    length = 0
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length" and value.isdigit():
            length = int(value)
    return length
