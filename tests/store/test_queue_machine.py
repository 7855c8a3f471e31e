"""Whatever workers, clocks and operators do: no job is lost, and none is in two hands."""

from datetime import datetime, timedelta
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import delete, select

from printworks.errors import WrongState
from printworks.rules.jobs import MAY_CANCEL, MAY_RETRY
from printworks.store.engine.database import Database
from printworks.store.queue.advancing import bring_forward
from printworks.store.queue.jobs import Job, NewJob, enqueue
from printworks.store.queue.outcomes import (
    Exhausted,
    PutBack,
    exhaust,
    finish,
    put_back,
    release,
    renew,
)
from printworks.store.tables import jobs
from printworks.store.views.console.jobs import cancel_job, retry_job
from tests.factories import NOON
from tests.worker.queues import KIND, LEASE, add_merchant, claim_some

pytestmark = pytest.mark.slow

ATTEMPTS: Final = 4
IN_FLIGHT: Final = 2

a_worker = st.sampled_from(["first", "second", "third"])
a_wait = st.integers(0, 90).map(lambda seconds: timedelta(seconds=seconds))
a_number = st.integers(0, 1000)


class Queue(RuleBasedStateMachine):
    """Remembers every claim ever given, and which of them is the latest of its job."""

    database: Database

    def __init__(self) -> None:
        super().__init__()
        self.now: datetime = NOON
        self.promised: set[int] = set()
        self.given: list[Job] = []
        self.holder: dict[int, Job] = {}
        self.fences: dict[int, int] = {}

    @initialize()
    def begin(self) -> None:
        with self.database.writing() as db:
            db.execute(delete(jobs))
        self.merchants = [None, add_merchant(self.database, "One"), add_merchant(self.database)]

    @rule(which=st.integers(0, 2), wait=a_wait, count=st.integers(1, 4))
    def enqueue(self, which: int, wait: timedelta, count: int) -> None:
        with self.database.writing() as db:
            merchant = self.merchants[which]
            new = NewJob(KIND, merchant.id if merchant else None, {}, wait)
            for _ in range(count):
                job_id = enqueue(db, new, now=self.now)
                assert job_id is not None
                self.promised.add(job_id)

    @rule(worker=a_worker, slots=st.integers(1, 5), cursor=st.sampled_from(["", f"{KIND}:5"]))
    def claim(self, worker: str, slots: int, cursor: str) -> None:
        claimed = claim_some(
            self.database,
            slots,
            worker=worker,
            cursor=cursor,
            now=self.now,
            in_flight=IN_FLIGHT,
            attempts=ATTEMPTS,
        )
        for job in claimed.jobs:
            assert job.due_at <= self.now
            assert job.attempts <= ATTEMPTS
            assert job.claim.fence > self.fences.get(job.id, 0)
            self.given.append(job)
            self.holder[job.id] = job
            self.fences[job.id] = job.claim.fence

    @rule(which=a_number, how=st.sampled_from(["finish", "put back", "give up", "release"]))
    def report(self, which: int, how: str) -> None:
        if not self.given:
            return
        claim = self.given[which % len(self.given)].claim
        is_held = self.is_held(claim.id, claim.fence)
        with self.database.writing() as db:
            if how == "finish":
                changed = finish(db, [claim], now=self.now)
            elif how == "put back":
                changed = put_back(db, [PutBack(claim, LEASE, "Again.")], now=self.now)
            elif how == "give up":
                changed = exhaust(db, [Exhausted(claim, "No.")], now=self.now)
            else:
                changed = release(db, [claim])
        assert changed == int(is_held)

    @rule(which=a_number)
    def renew(self, which: int) -> None:
        if not self.given:
            return
        claim = self.given[which % len(self.given)].claim
        is_held = self.is_held(claim.id, claim.fence)
        with self.database.writing() as db:
            held = renew(db, [claim], until=self.now + LEASE)
        assert held == (frozenset({claim}) if is_held else frozenset())

    @rule(which=a_number, verb=st.sampled_from(["retry", "cancel"]))
    def operate(self, which: int, verb: str) -> None:
        if not self.promised:
            return
        job_id = sorted(self.promised)[which % len(self.promised)]
        state = self.states()[job_id]
        allowed, change = (MAY_RETRY, retry_job) if verb == "retry" else (MAY_CANCEL, cancel_job)
        if state in allowed:
            with self.database.writing() as db:
                change(db, job_id, now=self.now)
        else:
            with pytest.raises(WrongState), self.database.writing() as db:
                change(db, job_id, now=self.now)

    @rule(seconds=st.integers(1, 60))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(which=st.integers(1, 2), seconds=st.integers(0, 60))
    def clock_moves(self, which: int, seconds: int) -> None:
        merchant = self.merchants[which]
        assert merchant is not None
        with self.database.writing() as db:
            bring_forward(db, merchant.id, timedelta(seconds=seconds))

    def states(self) -> dict[int, str]:
        with self.database.reading() as db:
            return dict(db.execute(select(jobs.c.id, jobs.c.state)).all())

    def is_held(self, job_id: int, fence: int) -> bool:
        with self.database.reading() as db:
            stored = db.execute(select(jobs.c.state, jobs.c.fence).where(jobs.c.id == job_id)).one()
        return bool(stored.state == "running" and stored.fence == fence)

    @invariant()
    def no_job_is_lost(self) -> None:
        assert set(self.states()) == self.promised

    @invariant()
    def whoever_runs_a_job_was_the_last_to_be_given_it(self) -> None:
        with self.database.reading() as db:
            for row in db.execute(select(jobs)):
                if row.state == "running":
                    claim = self.holder[row.id].claim
                    assert (row.fence, row.worker) == (claim.fence, claim.worker)
                else:
                    assert (row.worker, row.lease_until) == (None, None)
                assert row.fence >= self.fences.get(row.id, 0)
                assert (row.finished_at is not None) == (
                    row.state in {"done", "failed", "cancelled"}
                )

    @invariant()
    def no_lane_is_too_full(self) -> None:
        with self.database.reading() as db:
            lanes = db.execute(select(jobs.c.lane).where(jobs.c.state == "running"))
            running = lanes.scalars().all()
        assert all(running.count(lane) <= IN_FLIGHT for lane in running)


def test_no_job_is_lost_and_none_is_in_two_hands(database: Database) -> None:
    run_state_machine_as_test(
        type("QueueOnThisDatabase", (Queue,), {"database": database}),
        settings=settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
