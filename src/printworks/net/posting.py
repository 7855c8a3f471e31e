"""Posts over kept connections: aiohttp's connector and parser, without its session.

A session makes a request and a response of many parts for each call. A callback needs a few
lines of text and a status, and that took two thirds of the time. Everything that matters for
safety is the connector's: name lookups, the guard's sockets, TLS, and the limit for each host.
"""

import asyncio
import re
from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Final, NamedTuple

from aiohttp import (
    ClientConnectionError,
    ClientPayloadError,
    ClientRequest,
    ClientSession,
    ClientTimeout,
    ServerDisconnectedError,
    StreamReader,
    TCPConnector,
    TraceConfig,
)
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from aiohttp.tracing import Trace

from printworks.net.failures import Progress
from printworks.net.urls import read_url

SWITCHING_PROTOCOLS: Final = 101

# A value with one of these would add lines of its own.
_UNSAFE: Final = re.compile(r"[\r\n\0]")
_NO_CONTEXT: Final = SimpleNamespace()


class Answering(NamedTuple):
    """An answer whose status has come; release its connection after reading of it."""

    message: RawResponseMessage
    body: StreamReader
    connection: Connection


class _Noting(Trace):
    """Notes in the progress of a request whether its connection is new, and nothing else."""

    def __init__(self, session: ClientSession, rest: TraceConfig, progress: Progress) -> None:
        super().__init__(session, rest, _NO_CONTEXT)
        self._progress = progress

    async def send_connection_create_end(self) -> None:
        self._progress.is_connected = True

    async def send_connection_reuseconn(self) -> None:
        self._progress.is_connected = True
        self._progress.is_reused = True


class Posting:
    """Sends bodies; the connector stays the caller's."""

    def __init__(self, session: ClientSession, connector: TCPConnector) -> None:
        self._session = session
        self._connector = connector
        self._ignoring = TraceConfig()
        self._ignoring.freeze()
        # Callbacks go to the same few addresses again and again, with the same headers.
        self.prepare = lru_cache(maxsize=256)(self._prepare)
        self._write_first = lru_cache(maxsize=256)(self._write_first_lines)

    def _prepare(self, address: str) -> ClientRequest:
        """Read an address, once for many posts; raise `BadAddress` if it is wrong."""
        return ClientRequest("POST", read_url(address), loop=asyncio.get_running_loop())

    async def send(
        self,
        request: ClientRequest,
        body: bytes,
        headers: Mapping[str, str],
        *,
        progress: Progress,
        limits: ClientTimeout,
    ) -> Answering:
        """Send a body, and return what is answered as soon as its status is known."""
        text = self._write_head(request, len(body), headers) + body
        while True:
            progress.begin(request.url)
            noting = _Noting(self._session, self._ignoring, progress)
            connection = await self._connector.connect(request, [noting], limits)
            try:
                answering = await _exchange(connection, text)
            except BaseException as error:
                # What is answered later must not become the answer to another request.
                connection.close()
                # A server may close an idle connection just when it is used again: that is not a
                # failure. A new connection ends the loop.
                if not progress.is_reused or not isinstance(error, ClientConnectionError):
                    raise
            else:
                progress.is_answered = True
                return answering

    def _write_head(self, request: ClientRequest, length: int, headers: Mapping[str, str]) -> bytes:
        if _UNSAFE.search("".join(headers.values())):
            raise ValueError("A header holds a line break.")
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        first = self._write_first(request, tuple(headers))
        return "".join((first, *lines, f"Content-Length: {length}\r\n\r\n")).encode()

    def _write_first_lines(self, request: ClientRequest, given: tuple[str, ...]) -> str:
        """Write where it goes and the headers that the caller, who gives these, leaves to us."""
        where = f"POST {request.url.raw_path_qs} HTTP/1.1\r\nHost: {request.headers['Host']}\r\n"
        fields = {**self._session.headers, "Accept": "*/*"}
        names = {name.lower() for name in given}
        own = [
            f"{name}: {value}\r\n" for name, value in fields.items() if name.lower() not in names
        ]
        return "".join((where, *own))


async def _exchange(connection: Connection, text: bytes) -> Answering:
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None:
        raise ServerDisconnectedError
    protocol.set_response_params(read_until_eof=True, auto_decompress=False)
    transport.write(text)
    while True:
        try:
            message, body = await protocol.read()
        except HttpProcessingError as error:
            raise ClientPayloadError(error.message) from error
        # Others only announce an answer.
        if message.code >= 200 or message.code == SWITCHING_PROTOCOLS:
            return Answering(message, body, connection)
