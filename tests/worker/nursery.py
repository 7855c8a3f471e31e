"""Workers that only tell merchants of events, made to be killed: whoever dies is replaced at once.

Run as a program it forks them, which takes no time, and writes the number of each to its output.
They end when its input is closed.
"""

import asyncio
import logging
import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import structlog
import uvloop

from printworks.actions.services import Services
from printworks.net.client import Outbound
from printworks.net.guard import Guard
from printworks.rules.jobs import POLICIES, JobKind
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.worker.callbacks import deliver_callback
from printworks.worker.loop import Context, Worker
from printworks.worker.resources import Resources
from tests.factories import VAULT

WORKERS: Final = 2
SLOTS: Final = 32
LEASE: Final = timedelta(seconds=1)
PATIENCE: Final = timedelta(seconds=0.4)
KINDS: Final = (JobKind.DELIVER_CALLBACK, JobKind.RETRY_CALLBACK)


async def work(database: Database, threads: ThreadPoolExecutor) -> None:
    """Work until the input is closed."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stop.set)
    settings = Settings.load(Path(), {})
    # No pictures, no labs and no money here: what they need takes long to start.
    services = Services(settings, given={"database": database, "vault": VAULT})
    others: Any = dict.fromkeys(
        ("connect", "cpu_pool", "lab_pool", "payment_pool", "mail_pool", "scratch")
    )
    async with Outbound(Guard.of(settings)) as outbound:
        resources = Resources(
            services=services, outbound=outbound, callback_timeout=PATIENCE, **others
        )
        worker = Worker(
            Context(services, threads, resources),
            handlers=dict.fromkeys(KINDS, deliver_callback),
            policies=POLICIES,
            slots=SLOTS,
            lease=LEASE,
            stop_timeout=LEASE,
        )
        await worker.run(stop)


def live(database_url: str) -> None:
    """Be a worker."""
    # A database belongs to one process, and is opened after the fork.
    database = Database(database_url, connections=4)
    with ThreadPoolExecutor(4) as threads:
        uvloop.run(work(database, threads))
    database.close()


def give_birth(database_url: str) -> int:
    """Fork a worker and say its number."""
    number = os.fork()
    if number == 0:
        status = 1
        try:
            live(database_url)
            status = 0
        except BaseException:  # noqa: BLE001  (nobody else would say it)
            traceback.print_exc()
        finally:
            os._exit(status)
    os.write(sys.stdout.fileno(), f"{number}\n".encode())
    return number


if __name__ == "__main__":
    # The output is for numbers, and nobody reads it when the input is closed.
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    alive = {give_birth(sys.argv[1]) for _ in range(WORKERS)}
    while alive:
        died, how = os.wait()
        alive.discard(died)
        if os.WIFSIGNALED(how):
            alive.add(give_birth(sys.argv[1]))
        elif os.WEXITSTATUS(how):
            sys.exit("A worker failed.")
