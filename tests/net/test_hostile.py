"""No connection to a forbidden address is even opened, however it is written or reached."""

import asyncio
import re
from ipaddress import IPv4Network, IPv6Network
from typing import Final

import aiohttp
import pytest
from dnslib import QTYPE, RR, A, DNSRecord  # type: ignore[import-untyped]
from dnslib.server import BaseResolver, DNSLogger, DNSServer  # type: ignore[import-untyped]

from printworks.net.addresses import is_forbidden
from printworks.net.client import Outbound
from printworks.net.errors import AddressRefused, OutboundError
from printworks.net.guard import Guard
from printworks.net.names import Names
from tests.net.hostile import NAMES, list_hostile
from tests.net.running import (
    a_server,
    answer,
    answers,
    names,
    nothing,
    redirect,
    run,
    witness_connections,
)

HOSTILE: Final = list_hostile()
HERE: Final = IPv4Network("127.0.0.1/32")


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 250


@pytest.mark.parametrize("address", HOSTILE)
def test_a_hostile_address_is_never_connected_to(address: str) -> None:
    async def story() -> None:
        async with Outbound(Guard(), look_up=names(NAMES)) as outbound:
            with witness_connections() as connections:
                with pytest.raises(OutboundError):
                    await outbound.fetch(address, into=nothing)
                with pytest.raises(OutboundError):
                    await outbound.post(address, b"{}", {})

        assert connections == []

    run(story)


@pytest.mark.parametrize("address", HOSTILE)
def test_the_guard_alone_holds_whatever_the_text_looks_like(address: str) -> None:
    async def story() -> None:
        guard = Guard()
        connector = aiohttp.TCPConnector(
            socket_factory=guard, resolver=Names(guard, look_up=names(NAMES))
        )
        async with aiohttp.ClientSession(connector=connector) as session:
            with witness_connections() as connections:
                if address.isprintable() and address not in _MEANS_PUBLIC:
                    with pytest.raises((aiohttp.ClientError, ValueError, AssertionError)):
                        await session.get(address)

        assert connections == []

    run(story)


@pytest.mark.parametrize(
    "name", [name for name, known in NAMES.items() if all(map(is_forbidden, known))]
)
def test_the_socket_is_refused_even_if_the_look_up_was_not(name: str) -> None:
    lenient = Guard([IPv4Network("0.0.0.0/0"), IPv6Network("::/0")])

    async def story() -> None:
        resolver = Names(lenient, look_up=names(NAMES))
        connector = aiohttp.TCPConnector(socket_factory=Guard(), resolver=resolver)
        async with aiohttp.ClientSession(connector=connector) as session:
            with (
                witness_connections() as connections,
                pytest.raises(aiohttp.ClientConnectorError),
            ):
                await session.get(f"http://{name}/")

        assert connections == []

    run(story)


# Refused for their form alone: what they name is public, on a port that is allowed.
_MEANS_PUBLIC: Final = frozenset(
    address
    for address in HOSTILE
    if address.endswith("@public.example/")
    or address.startswith(("ws", "http://public.example/", "http://1.2.3.0x4/"))
    or address
    in (f"http://public.example:{port}/" for port in ("+80", "\uff18\uff10", " 80", "000080"))
)


@pytest.mark.parametrize(
    "address",
    # Whatever can be written into a header, and does not lead back to the first server.
    [address for address in HOSTILE if not re.search("[\r\n\0]|a{5000}|^[/?]|^$", address)],
)
def test_a_redirect_to_a_hostile_address_is_never_followed(address: str) -> None:
    async def story() -> None:
        outbound = Outbound(Guard([HERE]), look_up=names({**NAMES, "first.example": ["127.0.0.1"]}))
        async with outbound, a_server([redirect(address)]) as port:
            with witness_connections() as connections, pytest.raises(OutboundError):
                await outbound.fetch(f"http://first.example:{port}/", into=nothing)

        # The first server may be reached, so a redirect to its own address is no leak.
        leaks = [where for where in connections if where[0] != "127.0.0.1"]
        assert leaks == []
        assert ("127.0.0.1", port) in connections

    run(story)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (["127.0.0.1"], ["10.0.0.5"]),
        (["127.0.0.1"], ["::1"]),
        (["127.0.0.1"], ["127.0.0.1", "169.254.169.254"]),
        (["127.0.0.1"], ["::ffff:127.0.0.1"]),
    ],
)
def test_a_name_that_changes_is_judged_by_the_address_that_is_used(
    first: list[str], then: list[str]
) -> None:
    asked: list[str] = []

    def look_up(host: str, port: int, **_options: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return answers(first if len(asked) == 1 else then, port)

    async def story() -> None:
        outbound = Outbound(Guard([HERE]), look_up=look_up)
        async with outbound, a_server([redirect("/again")]) as port:
            with witness_connections() as connections, pytest.raises(AddressRefused):
                await outbound.fetch(f"http://rebound.example:{port}/", into=nothing)

        # One look-up for one connection: there is no second one that could answer otherwise.
        assert asked == ["rebound.example"] * 2
        assert connections == [("127.0.0.1", port)]

    run(story)


class _Changing(BaseResolver):  # type: ignore[misc]
    """A name server that gives each of its answers in turn, to be forgotten at once."""

    def __init__(self, addresses: list[str]) -> None:
        self._addresses = iter(addresses)

    def resolve(self, request: DNSRecord, handler: object) -> DNSRecord:
        reply = request.reply()
        reply.add_answer(RR(request.q.qname, QTYPE.A, rdata=A(next(self._addresses)), ttl=0))
        return reply


def test_a_name_server_that_changes_its_mind_gains_nothing() -> None:
    server = DNSServer(
        _Changing(["127.0.0.1", "127.0.0.1", "192.168.0.5", "127.0.0.1"]),
        address="127.0.0.1",
        port=0,
        logger=DNSLogger(log="", prefix=False),
    )
    server.start_thread()

    def look_up(host: str, port: int, **_options: object) -> list[tuple[object, ...]]:
        packet = DNSRecord.question(host).send(*server.server.server_address, timeout=5)
        found = [str(record.rdata) for record in DNSRecord.parse(packet).rr]
        return answers(found, port)

    async def story() -> None:
        outbound = Outbound(Guard([HERE]), look_up=look_up)
        async with outbound, a_server([answer(b"hello", connection="close")]) as port:
            url = f"http://changing.example:{port}/"
            with witness_connections() as connections:
                outcomes = []
                for _ in range(4):
                    try:
                        outcomes.append((await outbound.fetch(url, into=len)).size)
                    except AddressRefused:
                        outcomes.append(-1)

        assert outcomes == [5, 5, -1, 5]
        assert connections == [("127.0.0.1", port)] * 3

    try:
        run(story)
    finally:
        server.stop()
        server.server.server_close()


def test_a_listener_on_loopback_hears_nothing_while_loopback_is_not_allowed() -> None:
    heard: list[bytes] = []

    def note(head: bytes) -> list[bytes]:
        heard.append(head)
        return [answer(b"secret")]

    async def story() -> None:
        async with Outbound(Guard(), look_up=names(NAMES)) as outbound, a_server(note) as port:
            for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "loopback.example"):
                with pytest.raises(AddressRefused):
                    await outbound.fetch(f"http://{host}:{port}/", into=nothing)
            await asyncio.sleep(0.01)

        assert heard == []

    run(story)
