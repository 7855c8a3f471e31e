"""Moves a sandbox merchant's clock: whatever falls due on the way happens then, in order.

Time stands still while a job runs and jumps to the next one afterwards, so the same orders give
the same events at the same times, however busy the machine is.
"""

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import structlog

from printworks.actions.accounts.clock import advance_clock
from printworks.clock import Clock
from printworks.errors import StillRunning
from printworks.rules.jobs import POLICIES
from printworks.settings import Settings
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import OUTAGES, Database
from printworks.store.queue.advancing import (
    begin_advancing,
    claim_scheduled_job,
    count_running,
    end_advancing,
    find_scheduled_job,
    go_on_advancing,
    put_to_sleep,
)
from printworks.store.queue.jobs import Job
from printworks.worker import HANDLERS
from printworks.worker.loop import Context, Worker
from printworks.worker.tools import open_tools

# For so long workers keep away from the merchant's jobs, unless this goes on.
KEEP_AWAY: Final = timedelta(minutes=3)
# Columns keep whole milliseconds.
TICK: Final = timedelta(milliseconds=1)
# How long what workers have begun is waited for.
PATIENCE: Final = timedelta(seconds=30)
THREADS: Final = 2
# Beyond so many jobs the clock stays where it has come to; it can be moved again from there.
MOST_JOBS: Final = 20_000
PAUSE: Final = timedelta(milliseconds=20)

log = structlog.get_logger()


class Advanced(NamedTuple):
    """Where a clock was moved to, and what happened on the way."""

    # The merchant's time.
    now: datetime
    jobs: int


class _Step(NamedTuple):
    moved: timedelta
    # None if nothing falls due in the time that is left, or workers are still at something.
    job: Job | None
    is_last: bool


class _Move(NamedTuple):
    """What moving one clock needs."""

    context: Context
    # The same, but time stands still in it: only the merchant's clock moves.
    still: Context
    worker: Worker
    merchant_id: int
    keep_away: timedelta


async def advance(
    context: Context, merchant_id: int, by: timedelta, *, keep_away: timedelta = KEEP_AWAY
) -> Advanced:
    """Move a merchant's clock, and let everything happen that falls due until then.

    Workers keep away for a while at a time: so long they wait if this process dies.
    """
    began = context.clock()
    still = replace(context, clock=lambda: began)
    worker = Worker(
        still,
        handlers=HANDLERS,
        policies=POLICIES,
        slots=1,
        lease=keep_away,
        stop_timeout=context.settings.stop_timeout,
    )
    move = _Move(context, still, worker, merchant_id, keep_away)
    await context.in_thread(_begin, move)
    keeping = asyncio.create_task(_keep_workers_away(move))
    try:
        return await _run_all(move, by)
    finally:
        keeping.cancel()
        await context.in_thread(_end, move)


async def _keep_workers_away(move: _Move) -> None:
    """Go on for as long as it takes: the workers' clocks do not stand still."""
    while True:
        await asyncio.sleep(move.keep_away.total_seconds() / 3)
        try:
            await move.context.in_thread(_go_on, move)
        except OUTAGES as error:
            log.warning("clock cannot be kept", merchant=move.merchant_id, error=str(error))


def _go_on(move: _Move) -> None:
    until = move.context.clock() + move.keep_away
    with move.context.database.writing() as db:
        go_on_advancing(db, move.merchant_id, worker=move.worker.name, until=until)


async def _run_all(move: _Move, by: timedelta) -> Advanced:
    left, ran, patience = by, 0, PATIENCE // PAUSE
    while True:
        step = await move.context.in_thread(_take_step, move, left, waits=patience > 0)
        left -= step.moved
        # What keeps being put off, by a disk that is full for one, would go on for ever.
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


def _begin(move: _Move) -> None:
    now = move.context.clock()
    with move.context.database.writing() as db:
        if not begin_advancing(db, move.merchant_id, now=now, until=now + move.keep_away):
            message = "The clock is being moved already; wait until that has come to its end."
            raise StillRunning(message)


def _take_step(move: _Move, left: timedelta, *, waits: bool) -> _Step:
    """Move the clock to the next job that falls due, or by all that is left, and claim it."""
    now, real_now = move.still.clock(), move.context.clock()
    with move.context.database.writing() as db:
        put_to_sleep(db, move.merchant_id, now=real_now)
        # Workers end what they have begun, and what follows from that belongs to this moment.
        if waits and count_running(db, move.merchant_id, now=real_now):
            return _Step(timedelta(0), None, is_last=False)
        scheduled = find_scheduled_job(db, move.merchant_id)
        wait = timedelta(0) if scheduled is None else max(scheduled.due_at - now, timedelta(0))
        # Up to the next tick: a job that has not quite come yet would never come.
        wait = -(-wait // TICK) * TICK
        is_last = scheduled is None or wait > left
        moved = left if is_last else wait
        if moved:
            merchant = get_merchant(db, move.merchant_id)
            advance_clock(db, merchant, moved, now=now + merchant.clock_offset)
        if scheduled is None or is_last:
            return _Step(moved, None, is_last=True)
        job = claim_scheduled_job(
            db, scheduled.id, worker=move.worker.name, lease_until=real_now + move.keep_away
        )
        return _Step(moved, job, is_last=False)


def _read_clock(move: _Move) -> datetime:
    with move.context.database.reading() as db:
        return move.still.clock() + get_merchant(db, move.merchant_id).clock_offset


def _end(move: _Move) -> None:
    with move.context.database.writing() as db:
        end_advancing(db, move.merchant_id)


class ClockMover:
    """Moves clocks for whoever has no event loop, in a thread that begins with the first move."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready: Future[Context] = Future()

    def advance(self, merchant_id: int, by: timedelta) -> datetime:
        """Move a merchant's clock and return its new time, once all has happened."""
        work = advance(self._open(), merchant_id, by)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result().now

    def _open(self) -> Context:
        with self._lock:
            # A start that failed, because files or database were away, is tried again.
            if self._thread is None or not self._thread.is_alive():
                self._ready = Future()
                self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
                self._thread.start()
        return self._ready.result()

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._live())
        except Exception as error:
            log.exception("clock cannot be moved")
            self._ready.set_exception(error)

    async def _live(self) -> None:
        database = Database(self._settings.database_url, connections=THREADS)
        try:
            with ThreadPoolExecutor(THREADS) as threads:
                async with open_tools(self._settings, database) as tools:
                    context = Context(database, self._settings, self._clock, threads, tools)
                    self._ready.set_result(context)
                    await self._stop.wait()
        finally:
            database.close()
