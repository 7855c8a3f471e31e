"""Threads for the core: bounded, in order, and nothing gets lost on the way back."""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial

import pytest

from printworks.web.pool import LARGEST_GROUP, GroupThread, PoolFull, ThreadPool


def test_a_pool_hands_on_results_and_errors() -> None:
    async def story() -> None:
        pool = ThreadPool("test", threads=2, queue=1)
        assert await pool.run(lambda: 42) == 42
        with pytest.raises(ZeroDivisionError):
            await pool.run(lambda: 1 // 0)
        pool.close()

    asyncio.run(story())


def test_a_full_pool_refuses_at_once_and_takes_more_later() -> None:
    async def story() -> None:
        pool = ThreadPool("test", threads=2, queue=1)
        gate = threading.Event()
        held = [pool.run(gate.wait) for _ in range(3)]
        with pytest.raises(PoolFull):
            await pool.run(gate.wait)
        held[0].cancel()
        gate.set()
        assert await asyncio.gather(*held[1:]) == [True, True]
        assert await pool.run(lambda: "again") == "again"
        pool.close()

    asyncio.run(story())


def test_work_that_no_thread_can_be_started_for_is_not_done_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def story() -> None:
        done: list[int] = []
        pool = ThreadPool("test", threads=2, queue=1)
        with monkeypatch.context() as limited:
            limited.setattr(threading.Thread, "start", refuse)
            with pytest.raises(RuntimeError, match="can't start"):
                await pool.run(partial(done.append, 1))
        await pool.run(partial(done.append, 2))
        pool.close()
        assert done == [2]

    asyncio.run(story())


def test_a_thousand_results_come_back_to_those_who_asked() -> None:
    async def story() -> None:
        pool = ThreadPool("test", threads=4, queue=1000)
        futures = [pool.run(partial(pow, number, 2)) for number in range(1000)]
        assert await asyncio.gather(*futures) == [number * number for number in range(1000)]
        pool.close()

    asyncio.run(story())


class Scribe:
    """Writes down which groups it was given."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.gate = threading.Event()

    def work_on(self, group: Sequence[int]) -> list[int]:
        """Double each number, once the gate is open."""
        self.gate.wait(30)
        self.groups.append(list(group))
        if 13 in group:
            message = "unlucky"
            raise ValueError(message)
        return [2 * number for number in group]


def test_what_waits_is_done_together_and_in_order() -> None:
    scribe = Scribe()

    async def story() -> None:
        writer = GroupThread("test", scribe.work_on, queue=100)
        futures = [writer.run(number) for number in range(100, 100 + 2 * LARGEST_GROUP)]
        scribe.gate.set()
        assert await asyncio.gather(*futures) == [
            2 * number for number in range(100, 100 + 2 * LARGEST_GROUP)
        ]
        writer.close()

    asyncio.run(story())
    assert [number for group in scribe.groups for number in group] == list(
        range(100, 100 + 2 * LARGEST_GROUP)
    )
    assert max(len(group) for group in scribe.groups) <= LARGEST_GROUP
    assert len(scribe.groups) <= 4


def test_a_group_is_smaller_if_its_work_weighs_more() -> None:
    scribe = Scribe()

    async def story() -> None:
        writer = GroupThread(
            "test", scribe.work_on, queue=100, weigh=lambda number: LARGEST_GROUP if number else 1
        )
        futures = [writer.run(number) for number in (0, 0, 0, 1, 1, 0)]
        scribe.gate.set()
        await asyncio.gather(*futures)
        writer.close()

    asyncio.run(story())
    assert [number for group in scribe.groups for number in group] == [0, 0, 0, 1, 1, 0]
    assert all(1 not in group[:-1] for group in scribe.groups)


def test_a_group_that_fails_fails_for_all_of_it_and_the_thread_goes_on() -> None:
    scribe = Scribe()
    scribe.gate.set()

    async def story() -> None:
        writer = GroupThread("test", scribe.work_on, queue=10)
        with pytest.raises(ValueError, match="unlucky"):
            await writer.run(13)
        assert await writer.run(4) == 8
        writer.close()

    asyncio.run(story())


def test_closing_finishes_what_was_begun() -> None:
    scribe = Scribe()

    async def story() -> None:
        writer = GroupThread("test", scribe.work_on, queue=10)
        futures = [writer.run(number) for number in range(5)]
        scribe.gate.set()
        writer.close()
        assert [future.result() for future in futures] == [0, 2, 4, 6, 8]

    asyncio.run(story())
