"""Lanes take turns, and a full queue is emptied from its longest lane."""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial

import pytest

from printworks.web.lanes import Lanes
from printworks.web.pool import GroupThread, PoolFull, ThreadPool


def fill(lanes: Lanes[str], words: str) -> None:
    """Put items such as `a1` into the lanes that they begin with."""
    for word in words.split():
        lanes.put(word[0], word)


def take_all(lanes: Lanes[str]) -> list[str]:
    """Take one item after the other, each finished before the next."""
    taken = []
    while (found := lanes.take()) is not None:
        taken.append(found[1])
        lanes.finish(found[0])
    return taken


def test_one_of_each_lane_in_turn_however_long_it_is() -> None:
    lanes: Lanes[str] = Lanes(3)
    fill(lanes, "a1 a2 a3 a4 a5 b1 c1 c2")

    assert take_all(lanes) == ["a1", "b1", "c1", "a2", "c2", "a3", "a4", "a5"]


def test_no_more_of_one_lane_than_it_may_have_even_if_nobody_else_is_there() -> None:
    lanes: Lanes[str] = Lanes(2)
    fill(lanes, "a1 a2 a3")

    assert lanes.take() == ("a", "a1")
    assert lanes.take() == ("a", "a2")
    assert lanes.take() is None
    fill(lanes, "b1")
    assert lanes.take() == ("b", "b1")
    assert lanes.finish("b") is False
    assert lanes.finish("a") is True
    assert lanes.take() == ("a", "a3")
    fill(lanes, "a4")
    assert lanes.take() is None
    assert lanes.finish("a") is True
    assert lanes.finish("a") is True
    assert lanes.take() == ("a", "a4")
    assert lanes.finish("a") is False


def test_the_end_opens_all_lanes() -> None:
    lanes: Lanes[str] = Lanes(1)
    fill(lanes, "a1 a2 a3")
    lanes.take()

    lanes.open_up()

    assert [lanes.take(), lanes.take(), lanes.take()] == [("a", "a2"), ("a", "a3"), None]


def test_the_newest_of_the_longest_lane_makes_room() -> None:
    lanes: Lanes[str] = Lanes(1)
    fill(lanes, "a1 a2 a3 b1 b2")

    assert lanes.take_back("c") == "a3"
    # Now a and b have two each, and one more of theirs would be the longest.
    assert lanes.take_back("a") is None
    assert lanes.take_back("b") is None
    assert take_all(lanes) == ["a1", "b1", "a2", "b2"]
    assert lanes.take_back("a") is None


def test_a_full_pool_refuses_whoever_has_most_in_it() -> None:
    async def story() -> None:
        pool = ThreadPool("test", threads=2, queue=4)
        gate = threading.Event()
        begun = threading.Semaphore(0)

        def begin_and_wait() -> bool:
            begun.release()
            return gate.wait()

        greedy = [pool.run(begin_and_wait, "greedy") for _ in range(6)]
        with pytest.raises(PoolFull):
            await pool.run(gate.wait, "greedy")
        modest = [pool.run(begin_and_wait, "modest")]
        for _ in (greedy, modest):
            await asyncio.to_thread(begun.acquire)
        modest += [pool.run(gate.wait, "modest") for _ in range(2)]
        done = await asyncio.gather(*greedy[-2:], return_exceptions=True)
        assert [type(each) for each in done] == [PoolFull, PoolFull]
        gate.set()
        kept = await asyncio.gather(*greedy[:-3], *modest)
        assert kept == [True] * 6
        assert isinstance((await asyncio.gather(greedy[-3], return_exceptions=True))[0], PoolFull)
        pool.close()

    asyncio.run(asyncio.wait_for(story(), 30))


def test_whoever_comes_finds_a_thread_that_one_lane_could_not_take() -> None:
    async def story() -> None:
        pool = ThreadPool("test", threads=3, queue=100)
        gate = threading.Event()
        greedy = [pool.run(gate.wait, "greedy") for _ in range(50)]
        assert await pool.run(lambda: "at once", "modest") == "at once"
        assert not any(future.done() for future in greedy)
        gate.set()
        assert await asyncio.gather(*greedy) == [True] * 50
        pool.close()

    asyncio.run(asyncio.wait_for(story(), 30))


def test_closing_finishes_what_a_lane_was_not_allowed_to_begin() -> None:
    async def story() -> None:
        pool = ThreadPool("test", threads=2, queue=100)
        gate = threading.Event()
        futures = [pool.run(partial(gate.wait, 30), "one") for _ in range(20)]
        gate.set()
        pool.close()
        assert [future.result() for future in futures] == [True] * 20

    asyncio.run(asyncio.wait_for(story(), 30))


def test_a_group_has_some_of_everybody() -> None:
    groups: list[list[str]] = []
    gate = threading.Event()

    def work_on(group: Sequence[str]) -> Sequence[str]:
        gate.wait(30)
        groups.append(list(group))
        return group

    async def story() -> None:
        writer = GroupThread("test", work_on, queue=100)
        futures = [writer.run(f"a{number}", "a") for number in range(60)]
        futures.append(writer.run("b0", "b"))
        gate.set()
        await asyncio.gather(*futures)
        writer.close()

    asyncio.run(asyncio.wait_for(story(), 30))
    # At most one group was taken before it came.
    assert any("b0" in group for group in groups[:2])
