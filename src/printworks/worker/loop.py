"""The worker: claims jobs, runs them, and reports their outcomes.

One event loop runs the handlers; everything that uses the database runs in a few threads. A job is
running here, ended but not yet reported, or gone. Jobs that are lost with the process come back
when their lease ends, so nothing has to be saved on shutdown.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Final

import structlog

from printworks.log import context as log_context
from printworks.net.deadlines import TimeLimits
from printworks.redaction import redact
from printworks.rules.jobs import Acknowledge, GiveUp, JobKind, Policy, Retry, decide, hourly_key
from printworks.rules.pools import Pool
from printworks.rules.quarantine import hold_back
from printworks.store.engine.database import find_outages
from printworks.store.queue.claims import Claimant, Claimed, claim
from printworks.store.queue.jobs import Claim, Job, NewJob, enqueue, lane_of
from printworks.store.queue.outcomes import Exhausted, PutBack, release, renew
from printworks.store.queue.shares import Room
from printworks.store.queue.wakeup import watch
from printworks.worker.context import Completion, Context, Handler, JobNeed
from printworks.worker.heartbeats import Heart, Pulse
from printworks.worker.leases import LeaseWatch
from printworks.worker.outcomes import JobDone, Outcome, name_outcome, write_outcomes
from printworks.worker.slots import Slots

__all__ = ["Completion", "Context", "Handler", "Worker"]

# Outcomes are written together: those that arrive within this time, at most this many.
SECONDS_TO_GROUP: Final = 0.01
LARGEST_GROUP: Final = 64
# How often a worker polls for jobs without being woken, such as those of a dead worker.
LONGEST_PAUSE: Final = 1.0
# The wait after a claim that took many jobs: others soon end or come, and one claim for many is much
# cheaper than many claims. Whoever comes alone does not wait for those that hang. Slots do not stay
# empty meanwhile where jobs are claimed ahead.
SECONDS_BETWEEN_CLAIMS: Final = 0.01
# The wait after a claim that saw only some lanes, or lost what it saw to another worker.
SHORT_PAUSE: Final = 0.02
# How often those that wait for other servers are asked to leave their slots.
SECONDS_BETWEEN_LOOKS: Final = 0.25
# How long to wait after a database error.
SECONDS_TO_RECOVER: Final = 1.0

log = structlog.get_logger()


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
        needs: Mapping[str, JobNeed] | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{token_hex(3)}"
        self._context = context
        self._handlers = handlers
        self._policies = {kind: policies[kind] for kind in handlers}
        self._slots = Slots(self._policies, context.waiting, of_worker=slots)
        self._lease = lease
        self._stop_timeout = stop_timeout
        self._hourly = hourly
        self._needs = needs or {}
        self._limits = TimeLimits()
        self._enqueued_hour = ""
        # The pools in which something is left to claim.
        self._more: frozenset[Pool] = frozenset()
        self._is_busy = False
        self._running: dict[Claim, asyncio.Task[None]] = {}
        self._finished = 0
        self._ended: list[Outcome] = []
        self._has_ended = asyncio.Event()
        self._is_group = asyncio.Event()
        self._reporting = asyncio.Lock()
        self._wake = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop; then let jobs finish in time and put back the rest."""
        log.info("worker started", worker=self.name)
        heart = Heart(self._context, self.name)
        watch_leases = LeaseWatch(self._context, lease=self._lease).keep_watching
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(watch(self._context.database, self._wake.set)),
                group.create_task(self._keep_reporting()),
                group.create_task(self._keep_renewing()),
                group.create_task(self._keep_slots_free()),
                group.create_task(watch_leases(self._list_claims)),
                group.create_task(heart.keep_beating(self._feel_pulse)),
                group.create_task(self._wake_at(stop)),
            ]
            while not stop.is_set():
                self._wake.clear()
                pause = await self._claim_and_start()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                if self._is_busy:
                    await asyncio.sleep(SECONDS_BETWEEN_CLAIMS)
            await self._shut_down()
            for task in tasks:
                task.cancel()
        await heart.stop()
        log.info("worker stopped", worker=self.name)

    async def drain(self) -> int:
        """Run all due jobs and those that follow from them; return how many."""
        ran = 0
        while True:
            rooms = self._slots.find_rooms(ahead=False)
            claimed = await self._context.in_thread(self._claim, rooms)
            if not claimed.jobs:
                return ran
            ran += len(claimed.jobs)
            await asyncio.gather(*self._start(claimed))
            await self._report_ended()

    async def run_one(self, job: Job) -> None:
        """Run a job that is claimed for this worker already, and report its outcome."""
        with log_context(job=job.id, kind=job.kind, request=job.request_id):
            outcome = await self._attempt(job, self._policies[job.kind])
        await self._report([outcome])

    def _feel_pulse(self) -> Pulse:
        return Pulse(len(self._running), self._finished)

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    async def _claim_and_start(self) -> float:
        """Fill the free slots and return how long to wait before the next claim."""
        rooms = self._slots.find_rooms()
        if not rooms:
            return LONGEST_PAUSE
        self._slots.begin_claim()
        try:
            claimed = await self._context.in_thread(self._claim, rooms)
        except find_outages() as error:
            # No traceback: there would be one every second while the database is unavailable.
            log.error("database unavailable", worker=self.name, error=type(error).__name__)
            return SECONDS_TO_RECOVER
        except Exception:
            log.exception("claim failed", worker=self.name)
            return SECONDS_TO_RECOVER
        _tasks = self._start(claimed)
        self._is_busy = self._slots.are_many(claimed.jobs)
        self._more = (self._more - rooms.keys()) | claimed.more
        return self._pause_after(claimed)

    def _pause_after(self, claimed: Claimed) -> float:
        rooms = self._slots.find_rooms()
        if any(pool in rooms and rooms[pool].for_doubted for pool in claimed.more):
            return 0 if claimed.jobs else SHORT_PAUSE
        if any(pool in rooms for pool in claimed.unseen):
            return SHORT_PAUSE
        if claimed.next_due_at is None:
            return LONGEST_PAUSE
        ahead = (claimed.next_due_at - self._context.clock()).total_seconds()
        return min(max(ahead, SHORT_PAUSE), LONGEST_PAUSE)

    def _claim(self, rooms: Mapping[Pool, Room]) -> Claimed:
        now = self._context.clock()
        self._enqueue_hourly(now)
        proven = self._context.waiting.proven
        claimant = Claimant(worker=self.name, rooms=rooms, lease=self._lease, proven=proven)
        policies = self._policies
        if self._context.services.quarantine.is_on():
            policies = hold_back(policies)
        with self._context.database.writing() as db:
            claimed = claim(db, policies, claimant, now=now)
        self._context.read_ahead(claimed.jobs, self._needs)
        return claimed

    def _enqueue_hourly(self, now: datetime) -> None:
        """Enqueue the hourly jobs: every worker does, and the first one counts."""
        hour = f"{now:%Y-%m-%dT%H}"
        if not self._hourly or hour == self._enqueued_hour:
            return
        with self._context.database.writing() as db:
            for kind in self._hourly:
                enqueue(db, NewJob(kind, None, {}, dedupe_key=hourly_key(kind, now)), now=now)
        self._enqueued_hour = hour

    def _start(self, claimed: Claimed) -> list[asyncio.Task[None]]:
        self._slots.continue_from(claimed.cursors)
        return [self._begin(job) for job in self._slots.take(claimed.jobs)]

    def _begin(self, job: Job) -> asyncio.Task[None]:
        task = self._running[job.claim] = asyncio.create_task(self._run(job))
        return task

    def _begin_ready(self, pool: Pool) -> None:
        for job in self._slots.take_ready(pool):
            _task = self._begin(job)

    async def _run(self, job: Job) -> None:
        policy = self._policies[job.kind]
        try:
            outcome = await self._observe(job, policy)
            if policy.acknowledge is Acknowledge.SINGLY:
                await self._report([outcome])
                self._wake.set()
            else:
                self._ended.append(outcome)
                self._has_ended.set()
        finally:
            pool = self._slots.leave(job)
            del self._running[job.claim]
            self._finished += 1
            self._begin_ready(pool)
            if not self._slots.taken or len(self._ended) >= LARGEST_GROUP:
                self._is_group.set()
            if pool in self._more:
                self._wake.set()

    async def _observe(self, job: Job, policy: Policy) -> Outcome:
        """Run the handler, and let others see how it went."""
        counts, tracer = self._context.observer
        began = time.perf_counter()
        with (
            log_context(job=job.id, kind=job.kind, request=job.request_id),
            nullcontext() if tracer is None else tracer.job(job) as span,
        ):
            outcome = await self._attempt(job, policy)
            how = name_outcome(outcome)
            if span is not None:
                span.set_attribute("printworks.outcome", how)
        counts.note_job(job.kind, how, time.perf_counter() - began)
        return outcome

    async def _keep_slots_free(self) -> None:
        """Let jobs that wait for others for long leave their slots."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            for pool in self._slots.step_aside():
                self._begin_ready(pool)
                self._wake.set()

    async def _attempt(self, job: Job, policy: Policy) -> Outcome:
        """Run the handler; an exception becomes a retry or a failure."""
        limit = self._limits.limit(policy.timeout)
        try:
            with limit:
                completion = await self._handlers[job.kind](self._context, job)
        except Exception as error:
            what = redact(f"{type(error).__name__}: {error}")
            if limit.is_over:
                what = f"The job took longer than {policy.timeout}."
            match decide(policy, job.attempts, error):
                case Retry(wait, counts, kind):
                    say = log.warning if counts else log.info
                    say("job failed, will retry", attempts=job.attempts, error=what)
                    lane = kind and lane_of(kind, job.merchant_id)
                    return PutBack(job.claim, wait, what, counts, kind, lane)
                case GiveUp():
                    log.exception("job failed for good", attempts=job.attempts)
                    return Exhausted(job.claim, what)
        return JobDone(job.claim, completion)

    async def _keep_reporting(self) -> None:
        while True:
            await self._has_ended.wait()
            if self._slots.taken and len(self._ended) < LARGEST_GROUP:
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
        deadline = asyncio.get_running_loop().time() + self._lease.total_seconds()
        while True:
            try:
                written = await self._context.in_thread(self._write, outcomes)
            except Exception:
                log.exception("report failed", worker=self.name, jobs=len(outcomes))
                if asyncio.get_running_loop().time() >= deadline:
                    return
                await asyncio.sleep(SECONDS_TO_RECOVER)
            else:
                if written < len(outcomes):
                    log.warning("report came too late", late=len(outcomes) - written)
                return

    def _write(self, outcomes: Sequence[Outcome]) -> int:
        with self._context.database.writing() as db:
            return write_outcomes(db, outcomes, now=self._context.clock())

    def _list_claims(self) -> list[Claim]:
        return [*self._running, *self._slots.ready]

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            claims = self._list_claims()
            if not claims:
                continue
            try:
                held = await self._context.in_thread(self._renew, claims)
            except Exception:
                log.exception("renewal failed", worker=self.name)
                continue
            self._drop(set(claims) - held)

    def _drop(self, lost: Iterable[Claim]) -> None:
        """Let go of jobs that another worker may have now: reports of this one would not count."""
        for one in lost:
            if task := self._running.get(one):
                log.warning("lease lost", worker=self.name, job=one.id)
                task.cancel()
        for one in self._slots.drop_ready(lost):
            self._context.forget(one)

    def _renew(self, claims: Sequence[Claim]) -> frozenset[Claim]:
        with self._context.database.writing() as db:
            return renew(db, claims, until=self._context.clock() + self._lease)

    async def _shut_down(self) -> None:
        """Let running jobs finish, and put back those that do not finish in time."""
        # Nothing has happened to those that were only claimed ahead.
        await self._release(self._slots.drop_ready(self._slots.ready), log.info)
        tasks = dict(self._running)
        if tasks:
            await asyncio.wait(tasks.values(), timeout=self._stop_timeout.total_seconds())
        unfinished = list(self._running)
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        await self._report_ended()
        await self._release(unfinished, log.warning)

    async def _release(self, claims: Sequence[Claim], say: Callable[..., object]) -> None:
        """Put back jobs that have not begun or not finished."""
        if not claims:
            return
        try:
            released = await self._context.in_thread(self._write_release, claims)
            say("jobs put back", worker=self.name, jobs=released)
        except Exception:
            log.exception("jobs left to their leases", worker=self.name, jobs=len(claims))

    def _write_release(self, claims: Sequence[Claim]) -> int:
        with self._context.database.writing() as db:
            return release(db, claims)
