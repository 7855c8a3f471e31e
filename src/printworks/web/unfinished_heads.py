"""Closes connections on which the head of a request does not arrive in time.

The server has one timer for both this and connections that are idle between two requests, so its
limit is that of idle ones. Here the two are told apart by what the system knows of each
connection: an idle one has sent an answer after it last received something.
"""

import os
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final, NamedTuple, Self

from printworks.web.receiving import Receive, Scope, Send

App = Callable[[Scope, Receive, Send], Awaitable[None]]
# An address and a port, spelled as the server does.
Peer = tuple[str, str]

_EVERY: Final = timedelta(seconds=1)
# The beginning of Linux' `tcp_info`: the state, and the milliseconds since data was last sent and
# last received.
_TCP_INFO: Final = struct.Struct("=B43xI4xI")
_ESTABLISHED: Final = 1


class _Traffic(NamedTuple):
    """What the system knows of a connection."""

    peer: Peer
    state: int
    sent_ms_ago: int
    received_ms_ago: int

    @classmethod
    def of(cls, number: int) -> Self | None:
        """Look at an open file of the server, and leave it to the server; None for other files."""
        try:
            borrowed = socket.SocketType(socket.AF_INET, socket.SOCK_STREAM, 0, number)
        except OSError:
            return None
        try:
            info = borrowed.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
            return cls(_find_peer(borrowed), *_TCP_INFO.unpack(info))
        except OSError:
            return None
        finally:
            borrowed.detach()


class HeadWatch:
    """Passes requests on, and closes connections whose next request does not arrive in time."""

    def __init__(self, app: App, port: int, within: timedelta) -> None:
        self._app = app
        self._port = port
        self._within = within.total_seconds()
        # Who has sent a request on this connection, and whose is not answered yet.
        self._known: set[Peer] = set()
        self._answering: set[Peer] = set()
        # Since when the others have been waited for.
        self._since: dict[Peer, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = scope["client"]
        self._known.add(peer)
        self._answering.add(peer)
        try:
            await self._app(scope, receive, send)
        finally:
            self._answering.discard(peer)

    def start(self) -> None:
        """Look at the connections of this process every second, in a thread."""
        threading.Thread(target=self._run, name="head-watch", daemon=True).start()

    def _run(self) -> None:
        took = 0.0
        while True:
            # Less often while there are thousands: it may take a twentieth of a core.
            time.sleep(max(_EVERY.total_seconds(), 20 * took))
            began = time.monotonic()
            files = os.listdir("/proc/self/fd")  # noqa: PTH208  (numbers, and there may be many)
            self.look(map(int, files), now=began)
            took = time.monotonic() - began

    def look(self, files: Iterable[int], *, now: float) -> None:
        """Close the connections among open files that have been waited for too long."""
        # Before: who comes meanwhile is not forgotten.
        gone = set(self._known)
        since = {}
        for number in files:
            traffic = _Traffic.of(number)
            if traffic is None:
                continue
            peer = traffic.peer
            gone.discard(peer)
            if self._is_awaited(traffic):
                since[peer] = self._find_begin(traffic, now)
                if now - since[peer] >= self._within:
                    self._close(number, peer)
        self._since = since
        self._known -= gone

    def _is_awaited(self, traffic: _Traffic) -> bool:
        """Say whether a request is to come: the first one, or one that has begun."""
        if traffic.peer in self._answering or traffic.state != _ESTABLISHED:
            return False
        return traffic.peer not in self._known or traffic.received_ms_ago < traffic.sent_ms_ago

    def _find_begin(self, traffic: _Traffic, now: float) -> float:
        began = self._since.get(traffic.peer, now)
        # If there was an answer since, another request is awaited now.
        is_older = traffic.peer in self._known and traffic.sent_ms_ago / 1000 < now - began
        return now if is_older else began

    def _close(self, number: int, peer: Peer) -> None:
        # It may be closed by now, and its number used for something else.
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as copy:
            # The process has connections to others, too, such as a database.
            if copy.getsockname()[1] == self._port and _find_peer(copy) == peer:
                copy.shutdown(socket.SHUT_RDWR)


def _find_peer(connection: socket.SocketType) -> Peer:
    host, port, *_ = connection.getpeername()
    return host, str(port)
