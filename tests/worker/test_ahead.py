"""Jobs that are claimed before there is a slot for them, and what is read for them meanwhile."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from structlog.typing import EventDict

from printworks.rules.pools import Pool
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Claim, Job
from printworks.worker import context as reading
from printworks.worker.context import JobNeed
from printworks.worker.loop import Context, Worker
from printworks.worker.slots import Slots
from printworks.worker.waiting import Waiting
from tests.factories import NOON
from tests.worker.queues import KIND, a_policy, add_merchant, enqueue_many, list_states
from tests.worker.running import running, work
from tests.worker.shops import Shop

CALL = a_policy(pool=Pool.CALLBACKS)


def a_job(number: int, merchant_id: int = 1) -> Job:
    """Make a job that is claimed."""
    return Job(Claim(number, 1, "w"), KIND, merchant_id, {"number": number}, 1, NOON, None)


def play(scene: object) -> None:
    """Play a scene in an event loop."""
    asyncio.run(scene())  # type: ignore[operator]


def prove(waiting: Waiting, *merchants: int) -> None:
    """Let the servers of these merchants have answered."""
    for merchant_id in merchants:
        with waiting.of(a_job(0, merchant_id)):
            pass


class TestSlots:
    def make(self, waiting: Waiting) -> Slots:
        """Make the slots of a worker that has eight."""
        return Slots({KIND: CALL}, waiting, of_worker=8)

    def test_as_many_are_claimed_ahead_as_will_soon_get_a_slot(self) -> None:
        async def scene() -> None:
            waiting = Waiting()
            prove(waiting, 1)
            slots = self.make(waiting)
            assert slots.find_rooms()[Pool.CALLBACKS].slots == 8
            jobs = [a_job(number) for number in range(8)]
            assert len(slots.take(jobs)) == 8
            assert not slots.find_rooms()

            for job in jobs[:2]:
                slots.leave(job)
            assert slots.find_rooms()[Pool.CALLBACKS][:2] == (2 + 4, 2)
            assert slots.find_rooms(ahead=False)[Pool.CALLBACKS].slots == 2
            slots.begin_claim()
            assert slots.find_rooms()[Pool.CALLBACKS].slots == 2
            for job in jobs[2:]:
                slots.leave(job)
            assert slots.find_rooms()[Pool.CALLBACKS].slots == 8 + 12
            for job in slots.take([a_job(number) for number in range(8, 16)]):
                slots.leave(job)
            assert slots.find_rooms()[Pool.CALLBACKS].slots == 8 + 28
            for job in slots.take([a_job(number) for number in range(16, 24)]):
                slots.leave(job)
            # Never more than four times the slots.
            assert slots.find_rooms()[Pool.CALLBACKS].slots == 8 + 32

        play(scene)

    def test_jobs_are_many_if_they_fill_a_quarter_of_their_pool(self) -> None:
        async def scene() -> None:
            slots = Slots({KIND: CALL}, Waiting(), of_worker=16)
            jobs = [a_job(number) for number in range(16)]

            assert not any(slots.are_many(jobs[:number]) for number in (0, 1, 3))
            assert all(slots.are_many(jobs[:number]) for number in (4, 16))
            # Two are few, even where there are no more slots.
            of_two = Slots({KIND: CALL}, Waiting(), of_worker=2)
            assert [of_two.are_many(jobs[:number]) for number in (2, 3)] == [False, True]

        play(scene)

    def test_one_that_is_ready_takes_the_next_slot_that_is_free(self) -> None:
        async def scene() -> None:
            waiting = Waiting()
            prove(waiting, 1)
            slots = self.make(waiting)
            jobs = [a_job(number) for number in range(11)]

            assert slots.take(jobs) == jobs[:8]
            assert slots.ready == [job.claim for job in jobs[8:]]
            assert not slots.take_ready(Pool.CALLBACKS)
            slots.leave(jobs[3])
            assert slots.take_ready(Pool.CALLBACKS) == [jobs[8]]
            # Another worker has one of them.
            lost = jobs[9].claim
            assert slots.drop_ready([lost, jobs[0].claim]) == [lost]
            slots.leave(jobs[4])
            assert slots.take_ready(Pool.CALLBACKS) == [jobs[10]]
            assert (slots.taken, slots.ready) == (8, [])

        play(scene)

    def test_who_is_in_doubt_is_not_claimed_ahead(self) -> None:
        async def scene() -> None:
            waiting = Waiting()
            prove(waiting, 1)
            slots = self.make(waiting)
            known, strange = ([a_job(100 * who + n, who) for n in range(8)] for who in (1, 2))
            slots.take(known)
            for job in known[:3]:
                slots.leave(job)

            assert slots.find_rooms()[Pool.CALLBACKS][:2] == (3 + 6, 3)
            # They were claimed together, and those in doubt begin.
            began = slots.take([*(a_job(n) for n in (11, 12)), *strange[:3]])
            assert began == strange[:3]

        play(scene)

    def test_one_that_came_into_doubt_lets_others_pass(self) -> None:
        async def scene() -> None:
            waiting = Waiting()
            prove(waiting, 1, 2)
            slots = self.make(waiting)
            doubted = [a_job(n, 3) for n in range(6)]
            others = [a_job(n) for n in range(6, 8)]
            ready = [a_job(10, 2), a_job(11)]
            slots.take([*doubted, *others])
            slots.take(ready)
            waiting._proven.pop(ready[0].lane)

            slots.leave(others[0])
            assert slots.take_ready(Pool.CALLBACKS) == [ready[1]]
            slots.leave(doubted[0])
            assert slots.take_ready(Pool.CALLBACKS) == [ready[0]]

        play(scene)


class TestWorking:
    @pytest.mark.parametrize("in_flight", [3, 100])
    def test_no_more_run_than_there_are_slots_and_no_more_are_held_than_a_lane_allows(
        self, database: Database, in_flight: int
    ) -> None:
        enqueue_many(database, 60, add_merchant(database))
        policy = a_policy(pool=Pool.CALLBACKS, in_flight=in_flight)
        at_once: list[int] = []
        most: list[int] = []
        held: list[int] = []
        all_ran = asyncio.Event()

        async def take_turns(context: Context, job: Job) -> None:
            at_once.append(job.id)
            most.append(len(at_once))
            with context.waiting.of(job):
                await asyncio.sleep(0.001)
            if len(most) % 10 == 0:
                states = await asyncio.to_thread(list_states, database)
                held.append(Counter(states)["running"])
            at_once.remove(job.id)
            if len(most) == 60:
                all_ran.set()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await all_ran.wait()

        work(database, take_turns, scene, slots=4, policy=policy)

        assert max(most) <= min(4, in_flight)
        assert max(held) <= in_flight
        assert set(list_states(database)) == {"done"}

    def test_a_worker_that_stops_puts_back_what_has_not_begun(self, database: Database) -> None:
        enqueue_many(database, 40, add_merchant(database))
        are_slow = asyncio.Event()
        may_end = asyncio.Event()
        began: list[int] = []

        async def be_quick_at_first(context: Context, job: Job) -> None:
            began.append(job.id)
            with context.waiting.of(job):
                if len(began) > 12:
                    are_slow.set()
                    await may_end.wait()

        async def scene(worker: Worker) -> None:
            stop = asyncio.Event()
            task = asyncio.create_task(worker.run(stop))
            await are_slow.wait()
            while Counter(await asyncio.to_thread(list_states, database))["running"] <= 4:
                await asyncio.sleep(0.001)
            stop.set()
            while Counter(await asyncio.to_thread(list_states, database))["running"] > 4:
                await asyncio.sleep(0.001)
            may_end.set()
            await task

        work(database, be_quick_at_first, scene, slots=4, policy=CALL)

        states = Counter(list_states(database))
        assert states == {"done": len(began), "due": 40 - len(began)}


class TestReading:
    def find(self, _db: object, keys: Sequence[int]) -> dict[int, str | None]:
        """Find all but one, and remember who asked."""
        self.asked.append(list(keys))
        return {key: str(key) for key in keys if key != 3}

    @pytest.fixture(autouse=True)
    def _ask(self) -> None:
        self.asked: list[list[int]] = []
        self.need = JobNeed(self.find, "number")
        self.jobs = [a_job(number) for number in (1, 2, 3)]

    def load(self, shop: Shop, *, ahead: bool) -> list[str | None]:
        """Load what the jobs need, all in the same moment."""

        async def scene() -> list[str | None]:
            with ThreadPoolExecutor(2) as threads:
                context = Context(shop.resources.services, threads, shop.resources)
                if ahead:
                    context.read_ahead([*self.jobs, a_job(4)], {KIND: self.need})
                    context.forget(a_job(4).claim)
                found = await asyncio.gather(*(context.load(self.need, job) for job in self.jobs))
                assert not context._known
                return found

        return shop._loop.run(scene())

    def test_what_many_need_in_the_same_moment_is_found_once(self, shop: Shop) -> None:
        assert self.load(shop, ahead=False) == ["1", "2", None]
        assert self.asked == [[1, 2, 3]]

    def test_what_a_claim_has_read_is_not_read_again(self, shop: Shop) -> None:
        assert self.load(shop, ahead=True) == ["1", "2", None]
        assert self.asked == [[1, 2, 3, 4]]

    def test_what_was_read_long_ago_is_read_again(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "SECONDS_KNOWN", 0.0)
        assert self.load(shop, ahead=True) == ["1", "2", None]
        assert self.asked == [[1, 2, 3, 4], [1, 2, 3]]

    def test_a_claim_that_cannot_read_leaves_it_to_its_jobs(
        self, shop: Shop, logged: list[EventDict]
    ) -> None:
        find, fails = self.find, [True]

        def fail_once(db: object, keys: Sequence[int]) -> dict[int, str | None]:
            if fails.pop() if fails else False:
                raise OSError
            return find(db, keys)

        self.need = JobNeed(fail_once, "number")
        assert self.load(shop, ahead=True) == ["1", "2", None]
        assert self.asked == [[1, 2, 3]]
        assert [line["event"] for line in logged] == ["nothing read ahead"]
