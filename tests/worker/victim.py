"""A worker process that is made to be killed: says which job it begins, and ends when all are done."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Final

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


class Chatterbox:
    """Says of each job that it has begun; that one runs twice is what the tests count."""

    def __init__(self, said: Connection) -> None:
        self._said = said

    async def be_quick(self, _context: Context, job: Job) -> None:
        """Take a moment."""
        self._said.send(job.id)
        await asyncio.sleep(0.005)

    async def be_slow(self, _context: Context, job: Job) -> None:
        """Take longer than three leases."""
        self._said.send(job.id)
        await asyncio.sleep(3.5 * LEASE.total_seconds())


def is_all_done(database: Database, kind: str = KIND) -> bool:
    """Say whether nothing of a kind is left to do."""
    unfinished = select(jobs.c.id).where(jobs.c.finished_at.is_(None)).limit(1)
    if kind != KIND:
        unfinished = unfinished.where(jobs.c.kind == kind)
    with database.reading() as db:
        return db.execute(unfinished).one_or_none() is None


async def work(context: Context, chatterbox: Chatterbox) -> None:
    """Work until all is done."""
    worker = Worker(
        context,
        handlers={KIND: chatterbox.be_quick, "slow": chatterbox.be_slow},
        policies={KIND: POLICY, "slow": POLICY},
        slots=SLOTS,
        lease=LEASE,
        stop_timeout=LEASE,
    )
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run(stop))
        while not await context.in_thread(is_all_done, context.database):
            await asyncio.sleep(0.05)
        stop.set()


def live(said: Connection, database_url: str, ahead: timedelta = timedelta(0)) -> None:
    """Work until all is done, with a clock that is so much ahead."""
    database = Database(database_url)
    with ThreadPoolExecutor(4) as threads:
        services = some_services(database, clock=lambda: system_clock() + ahead)
        asyncio.run(work(Context(services, threads), Chatterbox(said)))
    database.close()
