"""The outbound HTTP client: downloads files from merchants and posts callbacks, within limits."""

import asyncio
import hashlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, Self

import aiohttp
from aiohttp import (
    ClientResponse,
    ClientSession,
    ClientTimeout,
    StreamReader,
    TCPConnector,
    TraceConfig,
)
from aiohttp.http import HttpProcessingError
from yarl import URL

from printworks import __version__
from printworks.net.deadlines import TimeLimits
from printworks.net.errors import BadAddress, BadAnswer, NotThere, TooLarge
from printworks.net.failures import CUT_SHORT, Progress, translate_failures
from printworks.net.guard import Guard
from printworks.net.names import LookUp, Names
from printworks.net.posting import Answering, Posting
from printworks.net.unpacking import Unpacker
from printworks.net.urls import follow, read_url

USER_AGENT: Final = f"Printworks/{__version__}"
CONNECT_WITHIN: Final = timedelta(seconds=10)
POST_WITHIN: Final = timedelta(seconds=15)
STORED_OF_ANSWER: Final = 64 * 1024

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# A retry may succeed after these.
TEMPORARY: Final = frozenset({408, 421, 423, 425, 429})

_BAD_REDIRECT: Final = "The address redirects to one that cannot be used."


class FetchLimits(NamedTuple):
    """How long a download may take, and how large it may be."""

    size: int = 100_000_000
    total: timedelta = timedelta(minutes=2)
    stall: timedelta = timedelta(seconds=15)
    connect: timedelta = CONNECT_WITHIN
    redirects: int = 3


USUAL: Final = FetchLimits()


class Fetched(NamedTuple):
    """A download; a 304 has no file. Size and hashes are those of the unpacked file."""

    status: int
    url: str
    content_type: str
    etag: str
    last_modified: str
    size: int
    md5: str
    sha256: str


class Posted(NamedTuple):
    """The response of a receiver: status, beginning of the body, and when to retry."""

    status: int
    answer: bytes
    duration: timedelta
    retry_after: str


class Outbound:
    """The client; one per process, opened in a running event loop: `async with Outbound(…)`.

    It uses no proxy and no netrc of the environment, and stores no cookies.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        connections: int = 256,
        connections_per_host: int = 32,
        tls: ssl.SSLContext | None = None,
        look_up: LookUp = socket.getaddrinfo,
    ) -> None:
        self._names = Names(guard, look_up=look_up)
        connector = TCPConnector(
            resolver=self._names,
            socket_factory=guard,
            use_dns_cache=False,
            limit=connections,
            limit_per_host=connections_per_host,
            # Most servers close an idle connection after 5 s; a request sent just then is lost.
            keepalive_timeout=4,
            ssl=tls or True,
        )
        self._session = ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
            trace_configs=[_trace_connections()],
        )
        self._posting = Posting(self._session, connector)
        self._limits = TimeLimits()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; requests in flight fail."""
        await self._session.close()
        await self._names.close()

    async def fetch(
        self,
        address: str,
        *,
        into: Callable[[bytes], object],
        limits: FetchLimits = USUAL,
        headers: Mapping[str, str] | None = None,
    ) -> Fetched:
        """Download the file at an address to `into`; raise an `OutboundError` if that fails.

        After a failure, discard what `into` has received. A 304 is a valid result if `headers`
        ask for one (`If-None-Match`, `If-Modified-Since`).
        """
        url = read_url(address)
        progress = Progress()
        timeout = ClientTimeout(
            connect=limits.connect.total_seconds(), sock_read=limits.stall.total_seconds()
        )
        with translate_failures(progress):
            async with asyncio.timeout(limits.total.total_seconds()):
                for _ in range(limits.redirects + 1):
                    async with self._get(url, progress, timeout, headers or {}) as response:
                        if response.status not in REDIRECTS:
                            return await _receive(response, into, limits, headers or {})
                        url = _find_next(response)
            message = f"The address redirects more than {limits.redirects} times."
            raise BadAnswer(message, is_permanent=True)

    async def post(
        self,
        address: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        timeout: timedelta = POST_WITHIN,
        keep: int = STORED_OF_ANSWER,
    ) -> Posted:
        """Send a body and return the response; redirects are not followed.

        Raise an `OutboundError` if no status came in time. The body of the response is read as
        far as it comes in time.
        """
        request = self._posting.prepare(address)
        loop = asyncio.get_running_loop()
        began = loop.time()
        limits = _limit_connecting(timeout)
        progress = Progress()
        response: Answering | None = None
        answer = bytearray()
        with translate_failures(progress):
            try:
                with self._limits.limit(timeout):
                    response = await self._posting.send(
                        request, body, headers, progress=progress, limits=limits
                    )
                    await _read_beginning(response.body, keep, into=answer)
            except (aiohttp.ClientError, TimeoutError, ConnectionError):
                if response is None:
                    raise
            finally:
                if response is not None:
                    # Closes it unless the answer was read to its end.
                    response.connection.release()
        return Posted(
            status=response.message.code,
            answer=bytes(answer),
            duration=timedelta(seconds=loop.time() - began),
            retry_after=response.message.headers.get("Retry-After", ""),
        )

    @asynccontextmanager
    async def _get(
        self, url: URL, progress: Progress, timeout: ClientTimeout, headers: Mapping[str, str]
    ) -> AsyncIterator[ClientResponse]:
        response = await self._request("GET", url, progress, headers=headers, timeout=timeout)
        try:
            yield response
        finally:
            _release(response)

    async def _request(
        self, method: str, url: URL, progress: Progress, **options: Any
    ) -> ClientResponse:
        while True:
            progress.begin(url)
            try:
                response = await self._session.request(
                    method, url, allow_redirects=False, trace_request_ctx=progress, **options
                )
            except aiohttp.ClientConnectionError as error:
                # A server may close an idle connection just when it is used again: that is not a
                # failure. A new connection ends the loop.
                if isinstance(error, TimeoutError) or not progress.is_reused:
                    raise
            else:
                progress.is_answered = True
                return response


@lru_cache(maxsize=16)
def _limit_connecting(timeout: timedelta) -> ClientTimeout:
    return ClientTimeout(connect=min(CONNECT_WITHIN, timeout).total_seconds())


def _release(response: ClientResponse) -> None:
    # Closes the connection unless the answer was read to its end.
    response.release()


def _trace_connections() -> TraceConfig:
    """Note when a connection exists: from then on a timeout is the fault of the server."""

    async def note_new(_session: ClientSession, context: SimpleNamespace, _facts: object) -> None:
        context.trace_request_ctx.is_connected = True

    async def note_old(_session: ClientSession, context: SimpleNamespace, _facts: object) -> None:
        context.trace_request_ctx.is_connected = True
        context.trace_request_ctx.is_reused = True

    watch = TraceConfig()
    watch.on_connection_create_end.append(note_new)
    watch.on_connection_reuseconn.append(note_old)
    return watch


def _find_next(response: ClientResponse) -> URL:
    """Return the target of a redirect; never from https to http."""
    try:
        url = follow(response.url, response.headers["Location"])
    except (KeyError, BadAddress) as error:
        detail = f"{type(error).__name__}: {error}"
        raise BadAnswer(_BAD_REDIRECT, detail=detail, is_permanent=True) from error
    if response.url.scheme == "https" and url.scheme != "https":
        raise BadAnswer(_BAD_REDIRECT, detail="from https to http", is_permanent=True)
    return url


async def _receive(
    response: ClientResponse,
    into: Callable[[bytes], object],
    limits: FetchLimits,
    asked: Mapping[str, str],
) -> Fetched:
    _check_status(response, is_conditional=any(name.lower().startswith("if-") for name in asked))
    md5, sha256, size = hashlib.md5(usedforsecurity=False), hashlib.sha256(), 0
    if response.status == 200:
        async for piece in _read_whole(response, limits.size):
            size += len(piece)
            md5.update(piece)
            sha256.update(piece)
            into(piece)
    return Fetched(
        status=response.status,
        url=str(response.url),
        content_type=response.headers.get("Content-Type", ""),
        etag=_find_validator(response, "ETag"),
        last_modified=_find_validator(response, "Last-Modified"),
        size=size,
        md5=md5.hexdigest(),
        sha256=sha256.hexdigest(),
    )


def _find_validator(response: ClientResponse, name: str) -> str:
    """Return a header that is to be stored and sent back; "" if that is not possible."""
    value = response.headers.get(name, "")
    return value if value.isascii() and value.isprintable() else ""


def _check_status(response: ClientResponse, *, is_conditional: bool) -> None:
    status = response.status
    if status == 200 or (status == 304 and is_conditional):
        return
    if status in (404, 410):
        raise NotThere(f"status {status}")
    message = f"The address answered with status {status} instead of a file."
    raise BadAnswer(message, is_permanent=status < 500 and status not in TEMPORARY)


async def _read_whole(response: ClientResponse, limit: int) -> AsyncIterator[bytes]:
    """Yield the unpacked body; the limit holds for the packed and the unpacked size."""
    if response.content_length is not None and response.content_length > limit:
        raise TooLarge(f"{response.content_length} bytes announced")
    unpacker = Unpacker(response.headers.get("Content-Encoding", ""), limit=limit)
    protocol = response.connection.protocol if response.connection else None
    async for data in response.content.iter_any():
        for piece in unpacker.unpack(data):
            yield piece
    unpacker.finish()
    # More bytes than the announced length came with the last chunk.
    if protocol is not None and isinstance(protocol.exception(), HttpProcessingError):
        raise BadAnswer(CUT_SHORT, detail="more bytes than announced")


async def _read_beginning(body: StreamReader, keep: int, *, into: bytearray) -> None:
    """Read the first bytes of a body; what has arrived stays if the rest fails."""
    while len(into) < keep and (piece := await body.read(keep - len(into))):
        into += piece
