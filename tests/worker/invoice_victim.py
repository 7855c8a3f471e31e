"""A worker process that issues invoices and is made to be killed; it ends when all is done."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from printworks.clock import system_clock
from printworks.rules.jobs import POLICIES, JobKind
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.worker.invoices import collect_invoices, make_invoice
from printworks.worker.loop import Context, Handler, Worker
from tests.factories import some_services
from tests.worker.victim import LEASE, is_all_done

HANDLERS: Final[Mapping[str, Handler]] = {
    JobKind.MAKE_INVOICE: make_invoice,
    JobKind.COLLECT_INVOICES: collect_invoices,
}


def next_year() -> datetime:
    """Return a time when the month of the orders is over."""
    return system_clock() + timedelta(days=400)


async def work(database: Database, threads: ThreadPoolExecutor, folder: Path) -> None:
    """Work until no invoice is left to be made."""
    context = Context(some_services(database, Settings(data=folder), next_year), threads)
    worker = Worker(
        context,
        handlers=HANDLERS,
        policies=POLICIES,
        slots=4,
        lease=LEASE,
        stop_timeout=LEASE,
    )
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run(stop))
        for kind in HANDLERS:
            while not await context.in_thread(is_all_done, database, kind):
                await asyncio.sleep(0.02)
        stop.set()


def live(database_url: str, folder: Path) -> None:
    """Be a worker."""
    database = Database(database_url)
    with ThreadPoolExecutor(4) as threads:
        asyncio.run(work(database, threads, folder))
    database.close()
