"""The worker: what it does with jobs that succeed, fail, hang, or outlive it."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from sqlalchemy import func, select
from structlog.typing import EventDict

from printworks.rules.jobs import JobKind, PermanentFailure, Policy
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Job, NewJob, enqueue
from printworks.store.tables import jobs
from printworks.worker.loop import Context, Worker
from tests.factories import NOON
from tests.worker.queues import (
    KIND,
    LEASE,
    a_policy,
    add_merchant,
    claim_one,
    claim_some,
    enqueue_many,
    enqueue_one,
    list_states,
    read,
)
from tests.worker.running import BOTH_WAYS, drain, hang, running, work


async def do_nothing(_context: Context, _job: Job) -> None:
    """Succeed."""


def fail_with(error: Exception) -> Callable[[Context, Job], Awaitable[None]]:
    """Make a handler that fails."""

    async def fail(_context: Context, _job: Job) -> None:
        raise error

    return fail


class TestOutcomes:
    @BOTH_WAYS
    def test_a_job_that_succeeds_is_done(self, database: Database, policy: Policy) -> None:
        enqueue_many(database, 20)

        drain(database, do_nothing, policy=policy)

        assert set(list_states(database)) == {"done"}

    @BOTH_WAYS
    def test_a_job_that_fails_is_tried_again_later(
        self, database: Database, policy: Policy
    ) -> None:
        job_id = enqueue_one(database)

        drain(database, fail_with(OSError("connection refused")), policy=policy)

        stored = read(database, job_id)
        assert (stored.state, stored.due_at) == ("scheduled", NOON + timedelta(minutes=1))
        assert stored.last_error == "OSError: connection refused"

    @BOTH_WAYS
    def test_a_job_that_is_hopeless_fails_for_good(
        self, database: Database, policy: Policy
    ) -> None:
        job_id = enqueue_one(database)

        drain(database, fail_with(PermanentFailure("No such order.")), policy=policy)

        stored = read(database, job_id)
        assert (stored.state, stored.last_error) == ("failed", "PermanentFailure: No such order.")

    def test_a_job_has_so_many_attempts_and_no_more(self, database: Database) -> None:
        job_id = enqueue_one(database)
        policy = a_policy(attempts=3, wait_after=lambda _: timedelta(0))

        drain(database, fail_with(OSError()), policy=policy)

        stored = read(database, job_id)
        assert (stored.state, stored.attempts) == ("failed", 3)

    def test_a_job_that_takes_too_long_is_cut_off(self, database: Database) -> None:
        job_id = enqueue_one(database)

        drain(database, hang, policy=a_policy(timeout=timedelta(milliseconds=10)))

        stored = read(database, job_id)
        assert stored.state == "scheduled"
        assert stored.last_error.startswith("The job took longer than 0:00:00.01")

    def test_a_job_may_promise_the_next(self, database: Database) -> None:
        enqueue_one(database)

        async def enqueue_another(context: Context, job: Job) -> None:
            def in_one_transaction() -> None:
                with database.writing() as db:
                    again = NewJob(KIND, None, {}, dedupe_key=f"{job.kind}")
                    enqueue(db, again, now=context.clock())

            await context.in_thread(in_one_transaction)

        drain(database, enqueue_another)

        assert list_states(database) == ["done", "done"]

    def test_a_report_that_comes_too_late_changes_nothing(
        self, database: Database, logged: list[EventDict]
    ) -> None:
        job_id = enqueue_one(database)

        async def lose_the_lease(context: Context, _job: Job) -> None:
            await context.in_thread(claim_some, database, worker="somebody else", now=NOON + LEASE)

        drain(database, lose_the_lease)

        stored = read(database, job_id)
        assert (stored.state, stored.worker) == ("running", "somebody else")
        assert [line["event"] for line in logged] == ["report came too late"]


class TestRunning:
    def test_jobs_run_at_the_same_time(self, database: Database) -> None:
        enqueue_many(database, 8)
        together = asyncio.Barrier(8)

        async def wait_for_the_others(_context: Context, _job: Job) -> None:
            await together.wait()

        drain(database, wait_for_the_others)

        assert set(list_states(database)) == {"done"}

    @BOTH_WAYS
    def test_a_promise_wakes_a_worker_that_had_nothing_to_do(
        self, database: Database, policy: Policy
    ) -> None:
        async def scene(worker: Worker) -> None:
            async with running(worker):
                for _ in range(3):
                    await asyncio.to_thread(enqueue_one, database)
                    await ran.acquire()

        ran = asyncio.Semaphore(0)

        async def say_so(_context: Context, _job: Job) -> None:
            ran.release()

        work(database, say_so, scene, policy=policy)

        assert list_states(database) == ["done"] * 3

    def test_a_full_lane_goes_on_as_soon_as_it_has_room(self, database: Database) -> None:
        merchant = add_merchant(database)
        enqueue_many(database, 30, merchant)
        all_ran = asyncio.Event()
        at_once: list[int] = []
        ran: list[int] = []

        async def count(_context: Context, job: Job) -> None:
            at_once.append(job.id)
            await asyncio.sleep(0)
            ran.append(len(at_once))
            at_once.remove(job.id)
            if len(ran) == 30:
                all_ran.set()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await all_ran.wait()

        work(database, count, scene, policy=a_policy(in_flight=2))

        assert max(ran) <= 2
        assert set(list_states(database)) == {"done"}

    def test_more_jobs_than_slots_all_run_in_the_end(self, database: Database) -> None:
        enqueue_many(database, 20)
        at_once: list[int] = []
        most: list[int] = []
        all_ran = asyncio.Event()

        async def take_turns(_context: Context, job: Job) -> None:
            at_once.append(job.id)
            most.append(len(at_once))
            await asyncio.sleep(0.002)
            at_once.remove(job.id)
            if len(most) == 20:
                all_ran.set()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await all_ran.wait()

        work(database, take_turns, scene, slots=3)

        assert max(most) == 3
        assert set(list_states(database)) == {"done"}

    def test_a_job_that_ended_is_reported_while_another_goes_on(self, database: Database) -> None:
        slow, _quick = enqueue_many(database, 2)
        may_end = asyncio.Event()

        async def be_slow_or_quick(_context: Context, job: Job) -> None:
            if job.id == slow:
                await may_end.wait()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                while await asyncio.to_thread(list_states, database) != ["running", "done"]:
                    await asyncio.sleep(0)
                may_end.set()

        work(database, be_slow_or_quick, scene)

        assert list_states(database) == ["done", "done"]

    def test_lanes_of_unknown_kinds_do_not_keep_a_worker_from_its_own(
        self, database: Database
    ) -> None:
        for number in range(60):
            enqueue_one(database, add_merchant(database, f"Shop {number}"), kind="future")
        enqueue_one(database)
        ran = asyncio.Event()

        async def say_so(_context: Context, _job: Job) -> None:
            ran.set()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await ran.wait()

        work(database, say_so, scene, slots=1)

        assert list_states(database)[-1] == "done"

    def test_a_sleeper_runs_when_its_time_has_come(self, database: Database) -> None:
        enqueue_one(database, wait=timedelta(hours=1))
        ran = asyncio.Event()
        times = [NOON]

        async def say_so(_context: Context, _job: Job) -> None:
            ran.set()

        looked = threading.Event()

        def clock() -> datetime:
            looked.set()
            return times[-1]

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await asyncio.to_thread(looked.wait)
                times.append(NOON + timedelta(hours=1))
                await ran.wait()

        work(database, say_so, scene, clock=clock)

        assert list_states(database) == ["done"]

    def test_a_job_of_a_dead_worker_is_taken_over(self, database: Database) -> None:
        enqueue_one(database)
        short = timedelta(milliseconds=60)
        claim_one(database, worker="dead", lease=short)
        ran = asyncio.Event()

        async def say_so(_context: Context, _job: Job) -> None:
            ran.set()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await ran.wait()

        work(database, say_so, scene, lease=short)

        assert list_states(database) == ["done"]


class TestEveryHour:
    def test_whichever_worker_comes_first_it_is_promised_once(self, database: Database) -> None:
        for _worker in range(2):
            drain(
                database,
                do_nothing,
                handlers={JobKind.PURGE_JOBS: do_nothing},
                policies={JobKind.PURGE_JOBS: a_policy()},
                hourly=[JobKind.PURGE_JOBS],
            )

        with database.reading() as db:
            keys = db.execute(select(jobs.c.dedupe_key)).scalars().all()
        assert keys == ["purge-jobs:2026-11-15T12"]
        assert list_states(database) == ["done"]

    def test_the_next_hour_has_a_promise_of_its_own(self, database: Database) -> None:
        times = [NOON]

        async def scene(worker: Worker) -> None:
            await worker.drain()
            await worker.drain()
            times.append(NOON + timedelta(hours=1))
            await worker.drain()

        def clock() -> datetime:
            return times[-1]

        work(
            database,
            do_nothing,
            scene,
            clock=clock,
            handlers={JobKind.PURGE_JOBS: do_nothing},
            policies={JobKind.PURGE_JOBS: a_policy()},
            hourly=[JobKind.PURGE_JOBS],
        )

        with database.reading() as db:
            assert db.execute(select(func.count()).select_from(jobs)).scalar() == 2
