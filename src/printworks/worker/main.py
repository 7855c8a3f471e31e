"""Puts the worker process together."""

import asyncio
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import uvloop

from printworks import log
from printworks.clock import system_clock
from printworks.rules.jobs import HOURLY, POLICIES
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.worker import HANDLERS
from printworks.worker.loop import Context, Worker
from printworks.worker.tools import open_tools

THREADS: Final = 6


def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then let jobs end in time and hand back the rest."""
    log.configure(settings)
    database = Database(settings.database_url, connections=THREADS)
    try:
        with (
            ThreadPoolExecutor(THREADS, thread_name_prefix="database") as threads,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_work(settings, database, threads))
    finally:
        database.close()


async def _work(settings: Settings, database: Database, threads: ThreadPoolExecutor) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_tools(settings, database) as tools:
        context = Context(database, settings, system_clock, threads, tools)
        await _make_worker(context).run(stop)


def _make_worker(context: Context) -> Worker:
    return Worker(
        context,
        handlers=HANDLERS,
        policies=POLICIES,
        slots=context.settings.worker_slots,
        lease=context.settings.worker_lease,
        stop_timeout=context.settings.stop_timeout,
        hourly=HOURLY,
    )
