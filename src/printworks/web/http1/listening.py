"""Accepts connections on a listening socket until it is told to stop."""

import asyncio
import errno
import socket
import ssl
from contextlib import suppress
from typing import Final, NamedTuple

import structlog

from printworks.web.http1.connection import Connection, WaitingTimes
from printworks.web.http1.exchange import App
from printworks.web.http1.spreading import Spread

log = structlog.get_logger(__name__)

SECONDS_TO_SHAKE_HANDS: Final = 10.0
# A client that does not say goodbye is not waited for.
SECONDS_TO_PART: Final = 2.0
_EVERY: Final = 1.0
# If the system has no files left for connections, others have to end first.
_SECONDS_AFTER_SHORTAGE: Final = 0.2
# As long as it takes another process to accept a connection, if it is not busy.
_SECONDS_TO_GIVE_WAY: Final = 0.002
# A proxy may be sending a request just now on a connection that looks idle. Until then it gets an
# answer, and reads in it that the connection ends.
SECONDS_TO_LEAVE: Final = 1.0
# What is read of a connection at a time.
LARGEST_ARRIVAL: Final = 64 * 1024


class Limits(NamedTuple):
    """How many connections there may be, and how long each may wait."""

    connections: int
    times: WaitingTimes


class Listener:
    """Answers on one socket, which other processes may listen on as well."""

    def __init__(
        self,
        app: App,
        listening: socket.socket,
        tls: ssl.SSLContext | None,
        limits: Limits,
        spread: Spread,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = listening
        self._tls = tls
        self._limits = limits
        self._open: set[Connection] = set()
        self._arriving = memoryview(bytearray(LARGEST_ARRIVAL))
        # Those that have not shaken hands yet, too.
        self._starting: set[asyncio.Task[None]] = set()
        self._app = app
        self._is_accepting = self._is_stopped = False
        self._spread = spread
        # Whether others could have had the next connection.
        self._gave_way = False
        self._listen()
        self._loop.call_later(_EVERY, self._look)

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._open)

    def use(self, tls: ssl.SSLContext) -> None:
        """Present another certificate to those who come from now on; the others go on."""
        self._tls = tls

    async def stop(self) -> None:
        """Answer those who are here, and those who come until the socket is shut down."""
        self._is_stopped = True
        ends_at = self._loop.time() + SECONDS_TO_LEAVE
        while self._open or self._starting or self._is_accepting:
            is_over = self._loop.time() >= ends_at
            if is_over:
                self._pause()
                for task in list(self._starting):
                    task.cancel()
            for connection in list(self._open):
                connection.stop(at_once=is_over)
            await asyncio.sleep(0.02)

    def _listen(self) -> None:
        if not self._is_accepting and not self._is_stopped:
            self._is_accepting = True
            self._loop.add_reader(self._socket, self._accept)

    def _pause(self) -> None:
        if self._is_accepting:
            self._is_accepting = False
            self._loop.remove_reader(self._socket)

    def _accept(self) -> None:
        """Accept one connection: other processes shall get their share."""
        count = len(self._open) + len(self._starting)
        if count >= self._limits.connections:
            self._pause()
            return
        self._spread.note(count)
        if self._spread.is_ahead() and not self._gave_way:
            self._give_way()
            return
        self._gave_way = False
        try:
            accepted, _ = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return
        except OSError as error:
            self._pause()
            if error.errno == errno.EINVAL:
                # It was shut down: there will be nobody any more.
                return
            log.warning("connection not accepted", error=error.strerror)
            self._loop.call_later(_SECONDS_AFTER_SHORTAGE, self._listen)
            return
        task = self._loop.create_task(self._begin(accepted))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    def _give_way(self) -> None:
        """Let another process accept; if none does, because it hangs, this one will."""
        self._gave_way = True
        self._loop.remove_reader(self._socket)
        self._loop.call_later(_SECONDS_TO_GIVE_WAY, self._go_on)

    def _go_on(self) -> None:
        if self._is_accepting:
            self._loop.add_reader(self._socket, self._accept)

    def _make(self) -> Connection:
        scheme = "https" if self._tls else "http"
        times = self._limits.times
        connection = Connection(self._app, times, self._open, scheme, self._arriving)
        connection.is_closing = self._is_stopped
        return connection

    async def _begin(self, accepted: socket.socket) -> None:
        accepted.settimeout(0)
        is_secure = self._tls is not None
        connection = self._make()
        try:
            if accepted.family != socket.AF_UNIX:
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._loop.connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self._tls,
                ssl_handshake_timeout=SECONDS_TO_SHAKE_HANDS if is_secure else None,
                ssl_shutdown_timeout=SECONDS_TO_PART if is_secure else None,
            )
        except (OSError, asyncio.CancelledError):
            # Somebody who does not speak TLS, or has gone. The loop does not say so to a connection
            # that had just begun, and a process that stops would wait for it for ever.
            connection.connection_lost(None)
            with suppress(OSError):
                accepted.close()

    def _look(self) -> None:
        now = self._loop.time()
        for connection in list(self._open):
            connection.check_time(now)
        if not self._is_stopped:
            count = len(self._open) + len(self._starting)
            if count < self._limits.connections:
                self._listen()
            self._spread.note(count)
            self._loop.call_later(_EVERY, self._look)
