"""A worker process that works off lots and is made to be killed; it ends when all is done."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from printworks.clock import system_clock
from printworks.rules.jobs import POLICIES, JobKind
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.worker.loop import Context, Worker
from printworks.worker.lots import run_lot
from tests.factories import some_services
from tests.worker.victim import LEASE, is_all_done

KIND: Final = JobKind.RUN_LOT


async def work(database: Database, threads: ThreadPoolExecutor, folder: Path) -> None:
    """Work until nothing of this kind is left."""
    context = Context(some_services(database, Settings(data=folder), system_clock), threads)
    worker = Worker(
        context,
        handlers={KIND: run_lot},
        policies=POLICIES,
        slots=4,
        lease=LEASE,
        stop_timeout=LEASE,
    )
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run(stop))
        while not await context.in_thread(is_all_done, database, KIND):
            await asyncio.sleep(0.05)
        stop.set()


def live(database_url: str, folder: Path) -> None:
    """Be a worker."""
    database = Database(database_url)
    with ThreadPoolExecutor(4) as threads:
        asyncio.run(work(database, threads, folder))
    database.close()
