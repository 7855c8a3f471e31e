"""Time limits that share a timer: each ends its own block, and no other."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from printworks.net.deadlines import SharedTimer, TimeLimits

SHORT = timedelta(milliseconds=20)
LONG = timedelta(seconds=30)


def play(scene: Callable[[], Awaitable[None]]) -> None:
    """Play a scene in an event loop, within seconds."""

    async def limited() -> None:
        async with asyncio.timeout(10):
            await scene()

    asyncio.run(limited())


def test_a_block_that_takes_too_long_raises() -> None:
    async def scene() -> None:
        limit = TimeLimits().limit(SHORT)
        with pytest.raises(TimeoutError), limit:
            await asyncio.Event().wait()
        assert limit.is_over
        # The task itself is not cancelled.
        await asyncio.sleep(0)

    play(scene)


def test_a_block_that_ends_in_time_does_not() -> None:
    async def scene() -> None:
        limits = TimeLimits()
        with limits.limit(LONG), limits.limit(SHORT) as limit:
            await asyncio.sleep(0)
        await asyncio.sleep(2 * SHORT.total_seconds())
        assert not limit.is_over

    play(scene)


def test_each_has_its_whole_time_even_if_others_began_before() -> None:
    async def scene() -> None:
        limits, loop = TimeLimits(), asyncio.get_running_loop()

        async def hang() -> float:
            began = loop.time()
            with pytest.raises(TimeoutError), limits.limit(SHORT):
                await asyncio.Event().wait()
            return loop.time() - began

        tasks = []
        for _ in range(5):
            tasks.append(asyncio.create_task(hang()))
            await asyncio.sleep(SHORT.total_seconds() / 4)
            with limits.limit(SHORT):
                pass
        # A millisecond is what the clock of an event loop shows.
        assert min(await asyncio.gather(*tasks)) >= SHORT.total_seconds() - 0.001

    play(scene)


def test_an_outer_limit_is_not_taken_for_an_inner_one() -> None:
    async def scene() -> None:
        limits = TimeLimits()
        outer, inner = limits.limit(SHORT), limits.limit(LONG)
        with pytest.raises(TimeoutError), outer, inner:
            await asyncio.Event().wait()
        assert (outer.is_over, inner.is_over) == (True, False)

    play(scene)


def test_whoever_cancels_the_task_meanwhile_still_does() -> None:
    async def scene() -> None:
        limits = TimeLimits()

        async def hang() -> None:
            with limits.limit(SHORT) as limit:
                try:
                    await asyncio.Event().wait()
                finally:
                    # Both at the same time.
                    limit.time_is_up()

        task = asyncio.create_task(hang())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    play(scene)


def test_an_error_of_the_block_is_passed_on() -> None:
    async def scene() -> None:
        with pytest.raises(KeyError), TimeLimits().limit(LONG):
            raise KeyError

    play(scene)


def test_there_is_no_limit_without_a_task() -> None:
    with pytest.raises(RuntimeError), TimeLimits().limit(LONG):
        pass


def test_whoever_is_stopped_is_not_told() -> None:
    class Waiter:
        def __init__(self) -> None:
            self.is_told = asyncio.Event()

        def time_is_up(self) -> None:
            self.is_told.set()

    async def scene() -> None:
        timer, first, second = SharedTimer(SHORT), Waiter(), Waiter()
        timer.start(first)
        timer.start(second)
        timer.stop(first)
        timer.stop(first)
        await second.is_told.wait()
        assert not first.is_told.is_set()
        timer.start(first)
        await first.is_told.wait()

    play(scene)
