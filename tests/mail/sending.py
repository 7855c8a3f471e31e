"""A worker that does what there is to do about mail, and nothing else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from typing import Final

from printworks.clock import Clock
from printworks.rules.jobs import POLICIES, JobKind
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.worker import HANDLERS
from printworks.worker.loop import Context, Worker
from printworks.worker.resources import open_resources
from tests.factories import some_services

MAIL_JOBS: Final = (
    *(JobKind.SEND_MAIL, JobKind.SEND_NOTICE, JobKind.WRITE_NOTICES),
    *(JobKind.START_RESET, JobKind.CHECK_ACCOUNTS, JobKind.PURGE_MAILS),
)


def work_on_mail(database: Database, settings: Settings, clock: Clock) -> int:
    """Run the jobs about mail that are due; return how many."""

    async def work() -> int:
        with (
            ThreadPoolExecutor(2) as threads,
            closing(some_services(database, settings, clock)) as services,
        ):
            async with open_resources(services) as resources:
                worker = Worker(
                    Context(services, threads, resources),
                    handlers={kind: HANDLERS[kind] for kind in MAIL_JOBS},
                    policies=POLICIES,
                    slots=8,
                    lease=timedelta(seconds=30),
                    stop_timeout=timedelta(seconds=10),
                )
                return await worker.drain()

    return asyncio.run(work())
