"""What the tests of the client need: servers with a script, names, and a witness of connections."""

import asyncio
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from ipaddress import IPv6Address
from typing import Any, Final

from printworks.net.addresses import read_address
from tests.connections import Connections

# A step of a server: bytes to send, seconds to wait, or None to reset the connection.
Step = bytes | float | None
Script = Callable[[bytes], Sequence[Step]]

_seen: Final[list[list[tuple[str, int]]]] = []


def _witness(event: str, facts: tuple[Any, ...]) -> None:
    if _seen and event == "socket.connect" and isinstance(facts[1], tuple):
        for connections in _seen:
            connections.append((str(facts[1][0]), int(facts[1][1])))


# The interpreter itself reports every connection, whoever makes it and however.
sys.addaudithook(_witness)


@contextmanager
def witness_connections() -> Iterator[list[tuple[str, int]]]:
    """Record every address and port that this process connects to in the block."""
    connections: list[tuple[str, int]] = []
    _seen.append(connections)
    try:
        yield connections
    finally:
        _seen.remove(connections)


@asynccontextmanager
async def a_server(
    script: Script | Sequence[Step], *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Run a server that does what the script says, and give its port.

    The script is a list of steps, or a function of the request's head.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        for step in script(head) if callable(script) else script:
            await _do(step, writer)

    connections = Connections(serve)
    server = await asyncio.start_server(connections.take, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await connections.end(server)


async def _do(step: Step, writer: asyncio.StreamWriter) -> None:
    if step is None:
        writer.transport.abort()
    elif isinstance(step, bytes):
        writer.write(step)
        await writer.drain()
    else:
        await asyncio.sleep(step)


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Write a whole HTTP answer; `content_type="x"` becomes `content-type: x`."""
    lines = {"content-length": str(len(body))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def redirect(to: str, status: str = "302 Found") -> bytes:
    """Write an answer that leads elsewhere."""
    return answer(status=status, location=to, connection="close")


def names(table: Mapping[str, Sequence[str]]) -> Callable[..., list[tuple[Any, ...]]]:
    """Return a look-up that knows these names, and addresses in the ways of the C library."""

    def look_up(host: str, port: int, **options: Any) -> list[tuple[Any, ...]]:
        known = table.get(host.rstrip(".").lower())
        if known is None:
            found = socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST, **options)
            return list(found)
        return answers(known, port)

    return look_up


def answers(addresses: Sequence[str], port: int) -> list[tuple[Any, ...]]:
    """Write addresses as `getaddrinfo` returns them."""
    return [
        (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0))
        if isinstance(read_address(address), IPv6Address)
        else (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))
        for address in addresses
    ]


def nothing(_piece: bytes) -> None:
    """Take the place of a file into which nothing must be written."""
    message = "A file came from an address that must not be asked."
    raise AssertionError(message)


def run(story: Callable[[], Awaitable[None]]) -> None:
    """Run a test that is a coroutine; ten seconds are far more than any of them needs."""

    async def bounded() -> None:
        async with asyncio.timeout(10):
            await story()

    asyncio.run(bounded())
