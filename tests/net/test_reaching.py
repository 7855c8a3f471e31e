"""Getting there: what cannot be reached all looks the same, and who answers must prove the name."""

import asyncio
import ssl
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import pytest
import trustme

from printworks.net.client import FetchLimits, Outbound
from printworks.net.errors import AddressRefused, BadAnswer, BadCertificate, Unreachable
from printworks.net.guard import Guard
from tests.net.running import a_server, answer, names, nothing, redirect, run

SHORT: Final = FetchLimits(connect=timedelta(seconds=0.3))


class TestUnreachable:
    def test_addresses_all_say_the_same(self) -> None:
        errors: list[Unreachable] = []

        def no_such_name(host: str, port: int, **_options: object) -> list[tuple[object, ...]]:
            if host == "slow.example":
                time.sleep(0.5)
            message = "No address associated with hostname"
            raise OSError(-5, message)

        async def story() -> None:
            async with a_server([]) as port:
                pass
            closed = f"http://127.0.0.1:{port}/"
            async with Outbound(Guard(allow_loopback=True), look_up=no_such_name) as outbound:
                for url in (closed, "http://10.0.0.5/", "http://a.example/", "http://slow.example"):
                    with pytest.raises(Unreachable) as failed:
                        await outbound.fetch(url, into=nothing, limits=SHORT)
                    errors.append(failed.value)

        run(story)

        assert [type(error) for error in errors] == [
            Unreachable,
            AddressRefused,
            Unreachable,
            Unreachable,
        ]
        assert len({(error.message, str(error), error.is_permanent) for error in errors}) == 1
        assert "10.0.0.5" in errors[1].detail

    def test_a_filtered_port_and_a_port_that_is_forbidden_do_too(self) -> None:
        messages: set[str] = set()

        async def story() -> None:
            # A full queue of connections drops the next one as a filter would.
            server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0, backlog=0)
            port = server.sockets[0].getsockname()[1]
            server.get_loop().remove_reader(server.sockets[0].fileno())
            waiting = [asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
            tasks = [asyncio.ensure_future(connection) for connection in waiting]
            await asyncio.sleep(0.05)
            table = {"public.example": ["93.184.215.14"]}
            async with Outbound(Guard(allow_loopback=True), look_up=names(table)) as outbound:
                for url in (f"http://127.0.0.1:{port}/", "http://public.example:22/"):
                    with pytest.raises(Unreachable) as failed:
                        await outbound.fetch(url, into=nothing, limits=SHORT)
                    messages.add(failed.value.message)
            await _abandon(tasks)
            server.close()

        run(story)

        assert len(messages) == 1


async def _abandon(
    tasks: Sequence[asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]],
) -> None:
    for task in tasks:
        if task.done():
            task.result()[1].close()
        else:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class TestTls:
    def test_needs_a_certificate_for_the_name(self) -> None:
        authority, outcomes = trustme.CA(), []
        serving, asking = _contexts(authority, "right.example")
        table = {"right.example": ["127.0.0.1"], "wrong.example": ["127.0.0.1"]}

        async def story() -> None:
            outbound = Outbound(Guard(allow_loopback=True), tls=asking, look_up=names(table))
            async with outbound, a_server([answer(b"hello")], tls=serving) as port:
                fetched = await outbound.fetch(f"https://right.example:{port}/", into=len)
                outcomes.append(fetched.size)
                with pytest.raises(BadCertificate):
                    await outbound.fetch(f"https://wrong.example:{port}/", into=nothing)

        run(story)

        assert outcomes == [5]

    def test_an_unknown_authority_is_not_trusted(self) -> None:
        serving, _ = _contexts(trustme.CA(), "localhost")

        async def story() -> None:
            outbound = Outbound(Guard(allow_loopback=True))
            async with outbound, a_server([answer(b"hello")], tls=serving) as port:
                with pytest.raises(BadCertificate):
                    await outbound.fetch(f"https://localhost:{port}/", into=nothing)

        run(story)

    def test_is_not_given_up_by_a_redirect(self) -> None:
        serving, asking = _contexts(trustme.CA(), "127.0.0.1")

        async def story() -> None:
            outbound = Outbound(Guard(allow_loopback=True), tls=asking)
            async with outbound, a_server([answer(b"x")]) as plain:
                leads = [redirect(f"http://127.0.0.1:{plain}/")]
                async with a_server(leads, tls=serving) as port:
                    with pytest.raises(BadAnswer, match="one that cannot be used") as failed:
                        await outbound.fetch(f"https://127.0.0.1:{port}/", into=nothing)
                    assert failed.value.detail == "from https to http"

        run(story)


def _contexts(authority: trustme.CA, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    serving, asking = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert(name).configure_cert(serving)
    authority.configure_trust(asking)
    return serving, asking
