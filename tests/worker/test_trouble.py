"""The worker when things go wrong: lost leases, a lost database, and no time to finish."""

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import text, update
from structlog.typing import EventDict

from printworks.rules.jobs import Policy
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Job
from printworks.store.tables import jobs
from printworks.worker.loop import Context, Worker
from tests.factories import NOON
from tests.worker.queues import enqueue_many, enqueue_one, list_states, read
from tests.worker.running import BOTH_WAYS, hang, running, work


class TestLeases:
    def test_a_long_job_keeps_its_lease(self, database: Database) -> None:
        job_id = enqueue_one(database)
        times = [NOON]
        started, renewed = asyncio.Event(), asyncio.Event()

        async def wait(_context: Context, _job: Job) -> None:
            started.set()
            await renewed.wait()

        def is_renewed() -> bool:
            return bool(read(database, job_id).lease_until > NOON + timedelta(hours=1))

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await started.wait()
                times.append(NOON + timedelta(hours=1))
                while not await asyncio.to_thread(is_renewed):
                    await asyncio.sleep(0)
                renewed.set()

        work(database, wait, scene, clock=lambda: times[-1], lease=timedelta(milliseconds=300))

        assert read(database, job_id).state == "done"

    def test_a_job_whose_lease_was_lost_is_broken_off(self, database: Database) -> None:
        job_id = enqueue_one(database)
        started, broken_off = asyncio.Event(), asyncio.Event()

        async def wait(_context: Context, _job: Job) -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                broken_off.set()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await started.wait()
                await asyncio.to_thread(give_to_somebody_else, database, job_id)
                await broken_off.wait()

        work(database, wait, scene, lease=timedelta(milliseconds=60))

        assert read(database, job_id).worker == "somebody else"

    def test_a_renewal_that_fails_is_tried_again(
        self, database: Database, logged: list[EventDict]
    ) -> None:
        enqueue_one(database)
        renewed = asyncio.Event()

        async def lose_the_database(context: Context, _job: Job) -> None:
            await context.in_thread(rename, database, "jobs", "gone")
            while not any(line["event"] == "renewal failed" for line in logged):
                await asyncio.sleep(0)
            await context.in_thread(rename, database, "gone", "jobs")
            renewed.set()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await renewed.wait()

        work(database, lose_the_database, scene, lease=timedelta(milliseconds=300))

        assert list_states(database) == ["done"]


class TestStopping:
    @BOTH_WAYS
    def test_what_runs_may_end(self, database: Database, policy: Policy) -> None:
        enqueue_many(database, 3)
        started = asyncio.Semaphore(0)
        stopping = asyncio.Event()

        async def end_late(_context: Context, _job: Job) -> None:
            started.release()
            await stopping.wait()

        async def scene(worker: Worker) -> None:
            async with running(worker):
                for _ in range(3):
                    await started.acquire()
                stopping.set()

        work(database, end_late, scene, policy=policy)

        assert list_states(database) == ["done"] * 3

    def test_what_does_not_end_in_time_is_handed_back_as_if_never_begun(
        self, database: Database
    ) -> None:
        job_id = enqueue_one(database)
        started = asyncio.Event()

        async def begin_and_hang(context: Context, job: Job) -> None:
            started.set()
            await hang(context, job)

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await started.wait()

        work(database, begin_and_hang, scene, stop_timeout=timedelta(0))

        stored = read(database, job_id)
        assert (stored.state, stored.attempts, stored.fence) == ("due", 0, 1)


class TestTrouble:
    def test_a_database_that_fails_for_a_while_costs_nothing_but_time(
        self, database: Database
    ) -> None:
        job_id = enqueue_one(database)
        looked = asyncio.Semaphore(0)
        ran = asyncio.Event()
        loops: list[asyncio.AbstractEventLoop] = []

        def clock() -> datetime:
            loops[0].call_soon_threadsafe(looked.release)
            return NOON

        async def say_so(_context: Context, _job: Job) -> None:
            ran.set()

        async def scene(worker: Worker) -> None:
            loops.append(asyncio.get_running_loop())
            rename(database, "jobs", "gone")
            async with running(worker):
                await looked.acquire()
                await looked.acquire()  # the second look, so the first one has failed
                rename(database, "gone", "jobs")
                await ran.wait()

        work(database, say_so, scene, clock=clock)

        assert read(database, job_id).state == "done"

    def test_a_report_is_repeated_until_the_database_takes_it(self, database: Database) -> None:
        job_id = enqueue_one(database)
        reported = asyncio.Semaphore(0)
        loops: list[asyncio.AbstractEventLoop] = []

        def clock() -> datetime:
            loops[0].call_soon_threadsafe(reported.release)
            return NOON

        async def lose_the_database(context: Context, _job: Job) -> None:
            await context.in_thread(rename, database, "jobs", "gone")

        async def scene(worker: Worker) -> None:
            loops.append(asyncio.get_running_loop())
            draining = asyncio.create_task(worker.drain())
            for _ in range(4):  # one claim, one deadline, and two reports
                await reported.acquire()
            rename(database, "gone", "jobs")
            await draining

        work(database, lose_the_database, scene, clock=clock)

        assert read(database, job_id).state == "done"

    def test_a_report_that_no_database_takes_is_left_to_the_lease(self, database: Database) -> None:
        job_id = enqueue_one(database)

        async def lose_the_database(context: Context, _job: Job) -> None:
            await context.in_thread(rename, database, "jobs", "gone")

        async def scene(worker: Worker) -> None:
            with pytest.raises(database.engine.dialect.loaded_dbapi.Error):
                await worker.drain()

        try:
            work(database, lose_the_database, scene, lease=timedelta(milliseconds=60))
        finally:
            rename(database, "gone", "jobs")

        assert read(database, job_id).state == "running"

    def test_jobs_that_cannot_be_handed_back_do_not_keep_a_worker_from_stopping(
        self, database: Database
    ) -> None:
        job_id = enqueue_one(database)
        lost = asyncio.Event()

        async def lose_the_database(context: Context, job: Job) -> None:
            await context.in_thread(rename, database, "jobs", "gone")
            lost.set()
            await hang(context, job)

        async def scene(worker: Worker) -> None:
            async with running(worker):
                await lost.wait()

        try:
            work(database, lose_the_database, scene, stop_timeout=timedelta(0))
        finally:
            rename(database, "gone", "jobs")

        assert read(database, job_id).state == "running"


def rename(database: Database, old: str, new: str) -> None:
    """Make a table vanish or come back."""
    with database.writing() as db:
        db.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))


def give_to_somebody_else(database: Database, job_id: int) -> None:
    """Do what a claim does after the lease has ended."""
    with database.writing() as db:
        db.execute(
            update(jobs)
            .where(jobs.c.id == job_id)
            .values(worker="somebody else", fence=jobs.c.fence + 1)
        )
