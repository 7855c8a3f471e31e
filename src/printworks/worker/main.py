"""Sets up the worker process."""

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import uvloop

from printworks import log
from printworks.actions.services import Services
from printworks.rules.jobs import HOURLY, POLICIES
from printworks.settings import Settings
from printworks.starting import keep_for_good
from printworks.watch.counts import Counts
from printworks.watch.exporter import keep_exporting
from printworks.watch.observing import Observer
from printworks.watch.shared_counts import WORKER, keep_sharing
from printworks.watch.traces import open_tracer
from printworks.worker import HANDLERS, NEEDS
from printworks.worker.loop import Context, Worker
from printworks.worker.resources import open_resources
from printworks.worker.watchdog import Watchdog

THREADS: Final = 6


def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then let jobs finish in time and put back the rest."""
    log.configure(settings)
    services = Services(settings, connections=THREADS + 2, processor_slots=os.cpu_count() or 1)
    try:
        with (
            ThreadPoolExecutor(THREADS, thread_name_prefix="database") as threads,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_work(services, threads))
    finally:
        services.close()


async def _work(services: Services, threads: ThreadPoolExecutor) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_resources(services) as resources:
        observer = Observer(Counts(), open_tracer(services.settings, "worker"))
        context = Context(services, threads, resources, observer=observer)
        beside = [
            asyncio.create_task(keep_sharing(observer.counts, services.settings.data, WORKER)),
            asyncio.create_task(keep_exporting(services)),
        ]
        worker = _make_worker(context)
        if services.settings.watchdog_url:
            beside.append(asyncio.create_task(Watchdog(context, worker.name).keep_telling()))
        keep_for_good()
        try:
            await worker.run(stop)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            if observer.tracer is not None:
                observer.tracer.close()


def _make_worker(context: Context) -> Worker:
    return Worker(
        context,
        handlers=HANDLERS,
        policies=POLICIES,
        needs=NEEDS,
        slots=context.settings.worker_slots,
        lease=context.settings.worker_lease,
        stop_timeout=context.settings.stop_timeout,
        hourly=HOURLY,
    )
