"""A worker process that is made to be killed: says which job it begins, and ends when all are done."""

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy import select

from printworks.clock import system_clock
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Job
from printworks.store.tables import jobs
from printworks.worker.loop import Context, Worker
from tests.factories import some_services
from tests.worker.queues import KIND, a_policy

SLOTS: Final = 32
LEASE: Final = timedelta(seconds=1)
# The same job may be in flight at many a kill.
POLICY: Final = a_policy(in_flight=4, attempts=50)


async def say_so(_context: Context, job: Job) -> None:
    """Take a moment; running twice is what the test counts."""
    os.write(sys.stdout.fileno(), f"{job.id}\n".encode())
    await asyncio.sleep(0.005)


def is_all_done(database: Database, kind: str = KIND) -> bool:
    """Say whether nothing of a kind is left to do."""
    unfinished = select(jobs.c.id).where(jobs.c.finished_at.is_(None)).limit(1)
    if kind != KIND:
        unfinished = unfinished.where(jobs.c.kind == kind)
    with database.reading() as db:
        return db.execute(unfinished).one_or_none() is None


async def be_slow(context: Context, job: Job) -> None:
    """Take longer than three leases."""
    await say_so(context, job)
    await asyncio.sleep(3.5 * LEASE.total_seconds())


async def work(database: Database, threads: ThreadPoolExecutor, *, ahead: timedelta) -> None:
    """Work until all is done, with a clock that is so much ahead."""
    context = Context(some_services(database, clock=lambda: system_clock() + ahead), threads)
    worker = Worker(
        context,
        handlers={KIND: say_so, "slow": be_slow},
        policies={KIND: POLICY, "slow": POLICY},
        slots=SLOTS,
        lease=LEASE,
        stop_timeout=LEASE,
    )
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run(stop))
        while not await context.in_thread(is_all_done, database):
            await asyncio.sleep(0.05)
        stop.set()


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    opened = Database(sys.argv[1])
    clock_ahead = timedelta(seconds=float(sys.argv[2]) if len(sys.argv) > 2 else 0)
    with ThreadPoolExecutor(4) as pool:
        asyncio.run(work(opened, pool, ahead=clock_ahead))
    opened.close()
