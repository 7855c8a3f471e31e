"""What is asked of one host at a time, and which hosts count as slow, in time that a test moves."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import pytest

from printworks.rules.hosts import CALLBACKS, DOWNLOADS, MANY_SLOW_HOSTS, SLOW_FOR
from printworks.rules.jobs import RetryLater
from printworks.worker.hosts import Hosts

A = "https://a.example/cat.jpg"
B = "https://b.example/cat.jpg"
RATE = 256 * 1024


class QuickLoop(asyncio.SelectorEventLoop):
    """An event loop in which time passes as soon as everybody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self._moved = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def skip(timeout: float | None = None) -> Any:
            self._moved += timeout or 0
            return select(0)

        self._selector.select = skip  # type: ignore[attr-defined]

    def time(self) -> float:
        return super().time() + self._moved


def play(scene: Callable[[], Awaitable[None]]) -> None:
    """Play a scene in which nobody waits."""

    async def play_it() -> None:
        await scene()

    with asyncio.Runner(loop_factory=QuickLoop) as runner:
        runner.run(play_it())


async def ask_slowly(hosts: Hosts, merchant_id: int, url: str, seconds: float = 3) -> None:
    """Ask a host that sends nothing."""
    with hosts.slot(merchant_id, url):
        await asyncio.sleep(seconds)


def test_no_host_is_flooded_by_one_merchant_or_by_all() -> None:
    async def scene() -> None:
        hosts = Hosts(DOWNLOADS)
        with ExitStack() as slots:
            for _ in range(DOWNLOADS.most_for_merchant):
                slots.enter_context(hosts.slot(1, A))
            with pytest.raises(RetryLater, match=r"6 downloads from a\.example are under way"):
                slots.enter_context(hosts.slot(1, A))
            slots.enter_context(hosts.slot(1, B))
            for merchant_id in range(2, 20):
                slots.enter_context(hosts.slot(merchant_id, A))
            with pytest.raises(RetryLater, match="24 downloads"):
                slots.enter_context(hosts.slot(20, A))
        with hosts.slot(1, A):
            assert not hosts.is_slow(1, A)

    play(scene)


def test_a_host_is_slow_for_the_merchant_that_waits_and_for_nobody_else() -> None:
    async def scene() -> None:
        hosts = Hosts(DOWNLOADS)
        waiting = asyncio.create_task(ask_slowly(hosts, 1, A))
        await asyncio.sleep(1.9)
        assert not hosts.is_slow(1, A)
        await asyncio.sleep(0.2)
        assert hosts.is_slow(1, A)
        assert not hosts.is_slow(1, B)
        assert not hosts.is_slow(2, A)
        await waiting
        assert hosts.is_slow(1, A)

    play(scene)


def test_it_is_slow_until_it_answers_quickly_or_for_a_while() -> None:
    async def scene() -> None:
        hosts = Hosts(CALLBACKS)
        await ask_slowly(hosts, 1, A)
        await ask_slowly(hosts, 1, B)
        with hosts.slot(1, A):
            assert hosts.is_slow(1, A)
        assert not hosts.is_slow(1, A)
        assert hosts.is_slow(1, B)
        await asyncio.sleep(SLOW_FOR.total_seconds())
        assert not hosts.is_slow(1, B)

    play(scene)


def test_a_large_file_that_comes_fast_is_not_slow_until_it_stalls() -> None:
    async def scene() -> None:
        hosts = Hosts(DOWNLOADS)
        pieces: list[bytes] = []
        with hosts.slot(1, A) as exchange:
            write = exchange.count(pieces.append)
            for _ in range(20):
                write(bytes(RATE))
                await asyncio.sleep(0.9)
            assert not hosts.is_slow(1, A)
            await asyncio.sleep(10)
            assert hosts.is_slow(1, A)
        assert sum(map(len, pieces)) == 20 * RATE

    play(scene)


def test_a_merchant_with_many_slow_hosts_is_slow_everywhere() -> None:
    async def scene() -> None:
        hosts = Hosts(DOWNLOADS)
        for number in range(MANY_SLOW_HOSTS):
            assert not hosts.is_slow(1, A)
            await ask_slowly(hosts, 1, f"https://{number}.example/cat.jpg")
        assert hosts.is_slow(1, A)
        assert not hosts.is_slow(2, A)

    play(scene)
