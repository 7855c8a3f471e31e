"""The worker: claims jobs, runs them, and reports their outcomes.

One event loop runs the handlers; everything that uses the database runs in a few threads. A job is
running here, ended but not yet reported, or gone. Jobs that are lost with the process come back
when their lease ends, so nothing has to be saved on shutdown.
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
from printworks.rules.jobs import Acknowledge, GiveUp, JobKind, Policy, Retry, decide, hourly_key
from printworks.store.engine.database import find_outages
from printworks.store.queue.claims import Claimant, Claimed, claim, find_held
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
from printworks.worker.context import Completion, Context, Handler

__all__ = ["Completion", "Context", "Handler", "Worker"]

# Outcomes are written together: those that arrive within this time, at most this many.
SECONDS_TO_GROUP: Final = 0.01
LARGEST_GROUP: Final = 64
# How often a worker polls for jobs without being woken, such as those of a dead worker.
LONGEST_PAUSE: Final = 1.0
# Other running jobs soon end too: one claim for many is much cheaper than many claims.
SECONDS_BETWEEN_CLAIMS: Final = 0.005
# The wait after a claim that saw only some lanes and found nothing for this worker.
SHORT_PAUSE: Final = 0.02
# Jobs that wait for other servers leave their slot after this time, and so many of them may wait
# aside for each slot: a few hanging receivers must not block the rest.
SECONDS_IN_SLOT: Final = 1.0
ASIDE_PER_SLOT: Final = 4
# How long to wait after a database error.
SECONDS_TO_RECOVER: Final = 1.0

log = structlog.get_logger()


class JobDone(NamedTuple):
    """A job that succeeded, and what is to be written with that."""

    claim: Claim
    completion: Completion | None


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
        # Those of them that have waited for another server for long.
        self._aside: set[Claim] = set()
        self._ended: list[Outcome] = []
        self._has_ended = asyncio.Event()
        self._is_group = asyncio.Event()
        self._reporting = asyncio.Lock()
        self._wake = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop; then let jobs finish in time and put back the rest."""
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
            await self._shut_down()
            for task in tasks:
                task.cancel()
        log.info("worker stopped", worker=self.name)

    async def drain(self) -> int:
        """Run all due jobs and those that follow from them; return how many."""
        ran = 0
        while (claimed := await self._context.in_thread(self._claim, self._slots)).jobs:
            ran += len(claimed.jobs)
            await asyncio.gather(*self._start(claimed.jobs))
            await self._report_ended()
        return ran

    async def run_one(self, job: Job) -> None:
        """Run a job that is claimed for this worker already, and report its outcome."""
        with log_context(job=job.id, kind=job.kind, request=job.request_id):
            outcome = await self._attempt(job, self._policies[job.kind])
        await self._report([outcome])

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    async def _claim_and_start(self) -> float:
        """Fill the free slots and return how long to wait before the next claim."""
        free = self._slots - self._busy
        if free == 0:
            return LONGEST_PAUSE
        try:
            claimed = await self._context.in_thread(self._claim, free)
        except find_outages() as error:
            # No traceback: there would be one every second while the database is unavailable.
            log.error("database unavailable", worker=self.name, error=type(error).__name__)
            return SECONDS_TO_RECOVER
        except Exception:
            log.exception("claim failed", worker=self.name)
            return SECONDS_TO_RECOVER
        _tasks = self._start(claimed.jobs)
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
            # Jobs that may take long would take the slots of all others.
            policies = {kind: one for kind, one in policies.items() if not one.comes_last}
        with self._context.database.writing() as db:
            claimed = claim(
                db,
                policies,
                Claimant(worker=self.name, slots=slots, cursor=self._cursor, lease=self._lease),
                now=now,
            )
        self._cursor = claimed.cursor
        return claimed

    def _enqueue_hourly(self, now: datetime) -> None:
        """Enqueue the hourly jobs: every worker does, and the first one counts."""
        hour = f"{now:%Y-%m-%dT%H}"
        if not self._hourly or hour == self._enqueued_hour:
            return
        with self._context.database.writing() as db:
            for kind in self._hourly:
                enqueue(db, kind, {}, merchant=None, now=now, dedupe_key=hourly_key(kind, now))
        self._enqueued_hour = hour

    def _start(self, jobs: Sequence[Job]) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self._run(job)) for job in jobs]
        self._running.update(zip((job.claim for job in jobs), tasks, strict=True))
        waiting = [job.claim for job in jobs if self._policies[job.kind].steps_aside]
        if waiting:
            # One timer for all that begin together.
            asyncio.get_running_loop().call_later(SECONDS_IN_SLOT, self._step_aside, waiting)
        return tasks

    async def _run(self, job: Job) -> None:
        policy = self._policies[job.kind]
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
            self._aside.discard(job.claim)
            del self._running[job.claim]
            if not self._busy or len(self._ended) >= LARGEST_GROUP:
                self._is_group.set()
            if self._has_more:
                self._wake.set()

    def _step_aside(self, claims: Sequence[Claim]) -> None:
        for held in claims:
            if held in self._running and self._has_room_aside:
                self._aside.add(held)
                self._wake.set()

    async def _attempt(self, job: Job, policy: Policy) -> Outcome:
        """Run the handler; an exception becomes a retry or a failure."""
        try:
            async with asyncio.timeout(policy.timeout.total_seconds()) as limit:
                completion = await self._handlers[job.kind](self._context, job)
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
        return JobDone(job.claim, completion)

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
        # One group at a time, so that a shutdown waits for the last one too.
        async with self._reporting:
            self._has_ended.clear()
            group, self._ended = self._ended, []
            if group:
                await self._report(group)

    async def _report(self, outcomes: Sequence[Outcome]) -> None:
        """Write the outcomes of jobs; retry until their lease ends."""
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
            _write_completions(db, done, now=now)
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
                # Another worker may have it now, and this one's report would not count.
                if task := self._running.get(lost):
                    log.warning("lease lost", worker=self.name, job=lost.id)
                    task.cancel()

    def _renew(self, claims: Sequence[Claim]) -> frozenset[Claim]:
        with self._context.database.writing() as db:
            return renew(db, claims, until=self._context.clock() + self._lease)

    async def _shut_down(self) -> None:
        """Let running jobs finish, and put back those that do not finish in time."""
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
            log.warning("jobs put back", worker=self.name, jobs=released)
        except Exception:
            log.exception("jobs left to their leases", worker=self.name, jobs=len(unfinished))

    def _release(self, claims: Sequence[Claim]) -> int:
        with self._context.database.writing() as db:
            return release(db, claims)


def _write_completions(db: Connection, done: Sequence[JobDone], *, now: datetime) -> None:
    noted = {end.claim: end.completion for end in done if end.completion is not None}
    together: dict[Any, list[Any]] = {}
    for held in find_held(db, list(noted)):
        completion = noted[held]
        together.setdefault(completion.write, []).append(completion.note)
    for write, notes in together.items():
        write(db, notes, now)
