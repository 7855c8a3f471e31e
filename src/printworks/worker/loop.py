"""The worker: claims jobs, runs them, and reports what became of them.

One event loop runs the handlers; whatever touches the database runs in a few threads. A job
is in one of three places here: running, ended but not yet reported, or gone. Whatever is lost
with the process comes back when its lease ends, so nothing needs saving on the way down.
"""

import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, Final, NamedTuple, TypeAlias

import structlog
from sqlalchemy import Connection

from printworks.log import context as log_context
from printworks.rules.jobs import (
    Acknowledge,
    GiveUp,
    JobKind,
    Policy,
    Retry,
    decide,
    hourly_key,
)
from printworks.store.engine.database import OUTAGES
from printworks.store.queue.claims import Claimed, claim
from printworks.store.queue.holding import find_held
from printworks.store.queue.jobs import (
    Claim,
    Exhausted,
    Job,
    PutBack,
    enqueue,
    exhaust,
    finish,
    put_back,
    release,
    renew,
)
from printworks.store.queue.wakeup import watch
from printworks.worker.context import Context, Ending, Handler

# Handlers and those who make workers need no more than this.
__all__ = ["Context", "Ending", "Handler", "Worker"]

# Reports that are written together: as many as there are after this wait, or this many.
SECONDS_TO_GROUP: Final = 0.01
LARGEST_GROUP: Final = 64
# How often a worker looks for work that nothing woke it for, such as a dead worker's jobs.
LONGEST_PAUSE: Final = 1.0
# While some jobs run, others end in a moment: one claim for many costs far less than many.
SECONDS_BETWEEN_CLAIMS: Final = 0.005
# The wait when a claim saw a part of the lanes only and all of that was not for this worker.
SHORT_PAUSE: Final = 0.02
# Jobs that only wait for others give up their slot after so long, and so many of them may wait
# aside for each slot: a few receivers that hang must not hold up the rest.
SECONDS_IN_SLOT: Final = 1.0
ASIDE_PER_SLOT: Final = 4
# How long to leave a database alone that has just failed.
SECONDS_TO_RECOVER: Final = 1.0

log = structlog.get_logger()


class JobDone(NamedTuple):
    """A job that came to its end, and what is to be written about that."""

    claim: Claim
    ending: Ending | None


Outcome: TypeAlias = JobDone | PutBack | Exhausted


class Worker:
    """Runs jobs until it is told to stop. Make it inside the event loop that runs it."""

    def __init__(
        self,
        context: Context,
        *,
        handlers: Mapping[str, Handler],
        policies: Mapping[str, Policy],
        slots: int,
        lease: timedelta,
        stop_timeout: timedelta,
        hourly: Sequence[JobKind] = (),
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{token_hex(3)}"
        self._context = context
        self._handlers = handlers
        self._policies = {kind: policies[kind] for kind in handlers}
        self._slots = slots
        self._lease = lease
        self._stop_timeout = stop_timeout
        self._hourly = hourly
        self._enqueued_hour = ""
        self._cursor = ""
        self._has_more = False
        self._running: dict[Claim, asyncio.Task[None]] = {}
        # Those of them that only wait for others, and have done so for long.
        self._aside: set[Claim] = set()
        self._ended: list[Outcome] = []
        self._has_ended = asyncio.Event()
        self._is_group = asyncio.Event()
        self._reporting = asyncio.Lock()
        self._wake = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop; then let jobs end in time and hand back the rest."""
        log.info("worker started", worker=self.name, slots=self._slots)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(watch(self._context.database, self._wake.set)),
                group.create_task(self._keep_reporting()),
                group.create_task(self._keep_renewing()),
                group.create_task(self._wake_at(stop)),
            ]
            while not stop.is_set():
                self._wake.clear()
                pause = await self._claim_and_start()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                if self._busy:
                    await asyncio.sleep(SECONDS_BETWEEN_CLAIMS)
            await self._wind_up()
            for task in tasks:
                task.cancel()
        log.info("worker stopped", worker=self.name)

    async def drain(self) -> int:
        """Run what is due, and what becomes due by it, and return how many jobs that were."""
        ran = 0
        while (claimed := await self._context.in_thread(self._claim, self._slots)).jobs:
            ran += len(claimed.jobs)
            await asyncio.gather(*(self._start(job) for job in claimed.jobs))
            await self._report_ended()
        return ran

    async def run_one(self, job: Job) -> None:
        """Run a job that somebody has claimed for this worker, and report what became of it."""
        with log_context(job=job.id, kind=job.kind, request=job.request_id):
            outcome = await self._attempt(job, self._policies[job.kind])
        await self._report([outcome])

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    async def _claim_and_start(self) -> float:
        """Fill the free slots and return how long to wait before the next look."""
        free = self._slots - self._busy
        if free == 0:
            return LONGEST_PAUSE
        try:
            claimed = await self._context.in_thread(self._claim, free)
        except OUTAGES as error:
            # No trace: while a database is away, there would be one every second.
            log.error("database unusable", worker=self.name, error=type(error).__name__)
            return SECONDS_TO_RECOVER
        except Exception:
            log.exception("claim failed", worker=self.name)
            return SECONDS_TO_RECOVER
        for job in claimed.jobs:
            _task = self._start(job)
        self._has_more = claimed.has_more
        return self._pause_after(claimed)

    @property
    def _busy(self) -> int:
        """How many slots are taken."""
        return len(self._running) - len(self._aside)

    @property
    def _has_room_aside(self) -> bool:
        return len(self._aside) < ASIDE_PER_SLOT * self._slots

    def _pause_after(self, claimed: Claimed) -> float:
        if claimed.has_more and self._busy < self._slots:
            return 0 if claimed.jobs else SHORT_PAUSE
        if claimed.next_due_at is None:
            return LONGEST_PAUSE
        ahead = (claimed.next_due_at - self._context.clock()).total_seconds()
        return min(max(ahead, SHORT_PAUSE), LONGEST_PAUSE)

    def _claim(self, slots: int) -> Claimed:
        now = self._context.clock()
        self._enqueue_hourly(now)
        policies = self._policies
        if not self._has_room_aside:
            # What may take long again would take the slots of all the others.
            policies = {kind: one for kind, one in policies.items() if not one.comes_last}
        with self._context.database.writing() as db:
            claimed = claim(
                db,
                policies,
                worker=self.name,
                slots=slots,
                cursor=self._cursor,
                lease=self._lease,
                now=now,
            )
        self._cursor = claimed.cursor
        return claimed

    def _enqueue_hourly(self, now: datetime) -> None:
        """Promise what happens every hour: every worker does, and the first one counts."""
        hour = f"{now:%Y-%m-%dT%H}"
        if not self._hourly or hour == self._enqueued_hour:
            return
        with self._context.database.writing() as db:
            for kind in self._hourly:
                enqueue(db, kind, {}, merchant=None, now=now, dedupe_key=hourly_key(kind, now))
        self._enqueued_hour = hour

    def _start(self, job: Job) -> asyncio.Task[None]:
        task = asyncio.create_task(self._run(job))
        self._running[job.claim] = task
        return task

    async def _run(self, job: Job) -> None:
        policy = self._policies[job.kind]
        stepping_aside = None
        if policy.steps_aside:
            timer = asyncio.get_running_loop()
            stepping_aside = timer.call_later(SECONDS_IN_SLOT, self._step_aside, job.claim)
        try:
            with log_context(job=job.id, kind=job.kind, request=job.request_id):
                outcome = await self._attempt(job, policy)
            if policy.acknowledge is Acknowledge.SINGLY:
                await self._report([outcome])
                self._wake.set()
            else:
                self._ended.append(outcome)
                self._has_ended.set()
        finally:
            if stepping_aside is not None:
                stepping_aside.cancel()
            self._aside.discard(job.claim)
            del self._running[job.claim]
            if not self._busy or len(self._ended) >= LARGEST_GROUP:
                self._is_group.set()
            if self._has_more:
                self._wake.set()

    def _step_aside(self, claim: Claim) -> None:
        if self._has_room_aside:
            self._aside.add(claim)
            self._wake.set()

    async def _attempt(self, job: Job, policy: Policy) -> Outcome:
        """Run the handler; whatever it raises becomes a decision."""
        try:
            async with asyncio.timeout(policy.timeout.total_seconds()) as limit:
                ending = await self._handlers[job.kind](self._context, job)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            if limit.expired():
                what = f"The job took longer than {policy.timeout}."
            match decide(policy, job.attempts, error):
                case Retry(wait, counts):
                    say = log.warning if counts else log.info
                    say("job failed, will retry", attempts=job.attempts, error=what)
                    return PutBack(job.claim, wait, what, counts)
                case GiveUp():
                    log.exception("job failed for good", attempts=job.attempts)
                    return Exhausted(job.claim, what)
        return JobDone(job.claim, ending)

    async def _keep_reporting(self) -> None:
        while True:
            await self._has_ended.wait()
            if self._busy and len(self._ended) < LARGEST_GROUP:
                self._is_group.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(SECONDS_TO_GROUP):
                        await self._is_group.wait()
            await self._report_ended()
            # Their lanes have room again.
            self._wake.set()

    async def _report_ended(self) -> None:
        # One group at a time, so that whoever stops the worker waits for the last one too.
        async with self._reporting:
            self._has_ended.clear()
            group, self._ended = self._ended, []
            if group:
                await self._report(group)

    async def _report(self, outcomes: Sequence[Outcome]) -> None:
        """Write down what became of jobs, if need be again and again until their lease ends."""
        deadline = self._context.clock() + self._lease
        while True:
            try:
                written = await self._context.in_thread(self._write, outcomes)
            except Exception:
                log.exception("report failed", worker=self.name, jobs=len(outcomes))
                if self._context.clock() >= deadline:
                    return
                await asyncio.sleep(SECONDS_TO_RECOVER)
            else:
                if written < len(outcomes):
                    log.warning("report came too late", late=len(outcomes) - written)
                return

    def _write(self, outcomes: Sequence[Outcome]) -> int:
        now = self._context.clock()
        done = [end for end in outcomes if isinstance(end, JobDone)]
        with self._context.database.writing() as db:
            _write_endings(db, done, now=now)
            return (
                finish(db, [end.claim for end in done], now=now)
                + put_back(db, [end for end in outcomes if isinstance(end, PutBack)], now=now)
                + exhaust(db, [end for end in outcomes if isinstance(end, Exhausted)], now=now)
            )

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            claims = list(self._running)
            if not claims:
                continue
            try:
                held = await self._context.in_thread(self._renew, claims)
            except Exception:
                log.exception("renewal failed", worker=self.name)
                continue
            for lost in set(claims) - held:
                # Somebody else has it by now, and this worker's report would not count.
                if task := self._running.get(lost):
                    log.warning("lease lost", worker=self.name, job=lost.id)
                    task.cancel()

    def _renew(self, claims: Sequence[Claim]) -> frozenset[Claim]:
        with self._context.database.writing() as db:
            return renew(db, claims, until=self._context.clock() + self._lease)

    async def _wind_up(self) -> None:
        """Let what runs come to an end, and hand back what does not in time."""
        tasks = dict(self._running)
        if tasks:
            await asyncio.wait(tasks.values(), timeout=self._stop_timeout.total_seconds())
        unfinished = list(self._running)
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        await self._report_ended()
        if not unfinished:
            return
        try:
            released = await self._context.in_thread(self._release, unfinished)
            log.warning("jobs handed back", worker=self.name, jobs=released)
        except Exception:
            log.exception("jobs left to their leases", worker=self.name, jobs=len(unfinished))

    def _release(self, claims: Sequence[Claim]) -> int:
        with self._context.database.writing() as db:
            return release(db, claims)


def _write_endings(db: Connection, done: Sequence[JobDone], *, now: datetime) -> None:
    noted = {end.claim: end.ending for end in done if end.ending is not None}
    together: dict[Any, list[Any]] = {}
    for held in find_held(db, list(noted)):
        ending = noted[held]
        together.setdefault(ending.write, []).append(ending.note)
    for write, notes in together.items():
        write(db, notes, now)
