"""Moves a sandbox merchant's clock, and runs the jobs that fall due on the way in order.

The clock stands still while a job runs and then jumps to the next one, so the same orders always
give the same events at the same times, however busy the machine is.
"""

import asyncio
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import structlog

from printworks.actions.accounts.clock import advance_clock
from printworks.actions.services import Services
from printworks.clock import Clock
from printworks.errors import StillRunning
from printworks.rules.jobs import ADVANCING_LEASE, POLICIES
from printworks.rules.quarantine import IN_QUARANTINE
from printworks.settings import Settings
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import find_outages
from printworks.store.queue.advancing import (
    begin_advancing,
    claim_scheduled_job,
    end_advancing,
    extend_advancing,
    find_next_job,
    take_back_jobs,
)
from printworks.store.queue.jobs import Job
from printworks.store.queue.quarantine import find_quarantine
from printworks.worker import HANDLERS
from printworks.worker.loop import Context, Worker
from printworks.worker.resources import open_resources

# Columns store whole milliseconds.
TICK: Final = timedelta(milliseconds=1)
# How long to wait for jobs that workers have already started.
WAIT_FOR_WORKERS: Final = timedelta(seconds=30)
THREADS: Final = 2
# After so many jobs the clock stops where it is; it can be moved again from there.
MOST_JOBS: Final = 20_000
PAUSE: Final = timedelta(milliseconds=20)

log = structlog.get_logger()


class Advanced(NamedTuple):
    """The new time of a clock, and how many jobs ran on the way."""

    # The merchant's time.
    now: datetime
    jobs: int


class _Step(NamedTuple):
    moved: timedelta
    # None if nothing falls due in the time that is left, or workers still run jobs.
    job: Job | None
    is_last: bool


class _Move(NamedTuple):
    """What is needed to move one clock."""

    context: Context
    # The same with a clock that stands still: only the merchant's clock moves.
    frozen: Context
    worker: Worker
    merchant_id: int
    lease: timedelta


async def advance(
    context: Context, merchant_id: int, by: timedelta, *, lease: timedelta = ADVANCING_LEASE
) -> Advanced:
    """Move a merchant's clock, and run every job that falls due until then.

    Meanwhile this process holds a lease on the merchant's jobs, which workers respect.
    """
    began = context.clock()
    frozen = replace(context, services=replace(context.services, clock=lambda: began))
    worker = Worker(
        frozen,
        handlers=HANDLERS,
        policies=POLICIES,
        slots=1,
        lease=lease,
        stop_timeout=context.settings.stop_timeout,
    )
    move = _Move(context, frozen, worker, merchant_id, lease)
    await context.in_thread(_acquire, move)
    renewing = asyncio.create_task(_keep_renewing(move))
    try:
        return await _run_all(move, by)
    finally:
        renewing.cancel()
        await context.in_thread(_release, move)


async def _keep_renewing(move: _Move) -> None:
    """Renew the lease until cancelled: the workers' clocks do not stand still."""
    while True:
        await asyncio.sleep(move.lease.total_seconds() / 3)
        try:
            await move.context.in_thread(_renew, move)
        except find_outages() as error:
            log.warning("lease cannot be renewed", merchant=move.merchant_id, error=str(error))


def _renew(move: _Move) -> None:
    until = move.context.clock() + move.lease
    with move.context.database.writing() as db:
        extend_advancing(db, move.merchant_id, worker=move.worker.name, until=until)


async def _run_all(move: _Move, by: timedelta) -> Advanced:
    left, ran, patience = by, 0, WAIT_FOR_WORKERS // PAUSE
    while True:
        step = await move.context.in_thread(_take_step, move, left, waits=patience > 0)
        left -= step.moved
        # Jobs that are put back again and again, by a full disk for example, must not loop.
        if step.is_last or ran == MOST_JOBS:
            break
        if step.job is None:
            patience -= 1
            await asyncio.sleep(PAUSE.total_seconds())
        else:
            await move.worker.run_one(step.job)
            ran += 1
    now = await move.context.in_thread(_read_clock, move)
    return Advanced(now, ran)


def _acquire(move: _Move) -> None:
    now = move.context.clock()
    with move.context.database.writing() as db:
        if find_quarantine(db) is not None:
            raise StillRunning(f"{IN_QUARANTINE} Clocks cannot be moved until then.")
        if not begin_advancing(db, move.merchant_id, now=now, until=now + move.lease):
            raise StillRunning("The clock is already being moved; wait until that has finished.")


def _take_step(move: _Move, left: timedelta, *, waits: bool) -> _Step:
    """Move the clock to the next job that falls due, or by all that is left, and claim it."""
    now, real_now = move.frozen.clock(), move.context.clock()
    with move.context.database.writing() as db:
        take_back_jobs(db, move.merchant_id, now=real_now)
        is_held, scheduled = find_next_job(db, move.merchant_id, now=real_now)
        # Workers finish what they have started, and what follows from it happens at this time.
        if waits and is_held:
            return _Step(timedelta(0), None, is_last=False)
        wait = timedelta(0) if scheduled is None else max(scheduled.due_at - now, timedelta(0))
        # Rounded up to the next tick, or a job that is almost due would never become due.
        wait = -(-wait // TICK) * TICK
        is_last = scheduled is None or wait > left
        moved = left if is_last else wait
        if moved:
            merchant = get_merchant(db, move.merchant_id)
            advance_clock(move.frozen.work(db, merchant), moved)
        if scheduled is None or is_last:
            return _Step(moved, None, is_last=True)
        job = claim_scheduled_job(
            db, scheduled.id, worker=move.worker.name, now=real_now, lease=move.lease
        )
        return _Step(moved, job, is_last=False)


def _read_clock(move: _Move) -> datetime:
    with move.context.database.reading() as db:
        return move.frozen.clock() + get_merchant(db, move.merchant_id).clock_offset


def _release(move: _Move) -> None:
    with move.context.database.writing() as db:
        end_advancing(db, move.merchant_id)


class ClockMover:
    """Moves clocks for callers without an event loop, in a thread that starts on first use."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready: Future[Context] = Future()

    def advance(self, merchant_id: int, by: timedelta) -> datetime:
        """Move a merchant's clock and return its new time, once all jobs have run."""
        work = advance(self._open(), merchant_id, by)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result().now

    def _open(self) -> Context:
        with self._lock:
            # Retried if it failed to start, because files or database were unavailable.
            if self._thread is None or not self._thread.is_alive():
                self._ready = Future()
                self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
                self._thread.start()
        return self._ready.result()

    def close(self) -> None:
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except Exception as error:
            log.exception("clock cannot be moved")
            self._ready.set_exception(error)

    async def _serve(self) -> None:
        slots = os.cpu_count() or 1
        services = Services(self._settings, self._clock, THREADS, processor_slots=slots)
        try:
            with ThreadPoolExecutor(THREADS) as threads:
                async with open_resources(services) as resources:
                    self._ready.set_result(Context(services, threads, resources))
                    await self._stop.wait()
        finally:
            services.close()
