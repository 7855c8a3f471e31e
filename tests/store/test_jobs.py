"""Promising a job, reporting on it, and what an operator can do."""

import contextlib
from datetime import timedelta

import pytest

from printworks.errors import NotFound, WrongState
from printworks.rules.jobs import JobState
from printworks.store.engine.database import Database
from printworks.store.queue.advancing import bring_forward
from printworks.store.queue.jobs import NewJob, enqueue
from printworks.store.queue.outcomes import (
    LONGEST_ERROR,
    Exhausted,
    PutBack,
    exhaust,
    finish,
    put_back,
    release,
    renew,
)
from printworks.store.views.console.jobs import (
    JobFilter,
    cancel_job,
    get_job,
    list_jobs,
    retry_job,
)
from tests.factories import NOON
from tests.worker.queues import (
    KIND,
    LEASE,
    add_merchant,
    claim_one,
    claim_some,
    enqueue_many,
    enqueue_one,
    list_states,
    read,
)

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


class TestPromise:
    def test_a_rolled_back_transaction_promises_nothing(self, database: Database) -> None:
        with contextlib.suppress(ZeroDivisionError), database.writing() as db:
            enqueue(db, NewJob(KIND, None, {}), now=NOON)
            raise ZeroDivisionError

        assert list_states(database) == []

    def test_a_job_keeps_what_it_was_promised_with(self, database: Database) -> None:
        merchant = add_merchant(database)

        with database.writing() as db:
            args = {"order": 42, "é": [None]}
            enqueue(db, NewJob(KIND, merchant.id, args, request_id="r-1"), now=NOON)

        job = claim_one(database)
        assert job.kind == KIND
        assert job.args == {"order": 42, "é": [None]}
        assert job.merchant_id == merchant.id
        assert job.request_id == "r-1"
        assert job.due_at == NOON
        assert job.attempts == 1

    def test_the_same_dedupe_key_promises_once(self, database: Database) -> None:
        enqueue_one(database, dedupe_key="sweep:01")

        with database.writing() as db:
            again = enqueue(db, NewJob(KIND, None, {}, dedupe_key="sweep:01"), now=NOON)
            other = enqueue(db, NewJob(KIND, None, {}, dedupe_key="sweep:02"), now=NOON)

        assert again is None
        assert other is not None
        assert list_states(database) == ["due", "due"]


class TestReports:
    def test_a_finished_job_is_done(self, database: Database) -> None:
        job_id = enqueue_one(database)
        job = claim_one(database)

        with database.writing() as db:
            finished = finish(db, [job.claim], now=NOON + SECOND)

        stored = read(database, job_id)
        assert finished == 1
        assert (stored.state, stored.finished_at) == ("done", NOON + SECOND)
        assert (stored.worker, stored.lease_until) == (None, None)

    def test_a_failed_job_waits_for_its_next_attempt(self, database: Database) -> None:
        job_id = enqueue_one(database)
        job = claim_one(database)

        with database.writing() as db:
            put_back(db, [PutBack(job.claim, HOUR, "Refused.")], now=NOON)

        stored = read(database, job_id)
        assert (stored.state, stored.due_at) == ("scheduled", NOON + HOUR)
        assert (stored.attempts, stored.last_error) == (1, "Refused.")

    def test_a_failed_job_without_a_wait_is_due_at_once(self, database: Database) -> None:
        enqueue_one(database)
        job = claim_one(database)

        with database.writing() as db:
            put_back(db, [PutBack(job.claim, timedelta(0), "Refused.")], now=NOON)

        assert claim_one(database).attempts == 2

    def test_a_hopeless_job_stays_for_a_person_to_see(self, database: Database) -> None:
        job_id = enqueue_one(database)
        job = claim_one(database)

        with database.writing() as db:
            exhaust(db, [Exhausted(job.claim, "No such order.")], now=NOON)

        stored = read(database, job_id)
        assert (stored.state, stored.last_error) == ("failed", "No such order.")
        assert stored.finished_at == NOON

    def test_an_error_is_cut_and_cleaned_before_it_is_stored(self, database: Database) -> None:
        job_id = enqueue_one(database)
        job = claim_one(database)
        error = "\0bad\ud800" + "x" * 10_000

        with database.writing() as db:
            put_back(db, [PutBack(job.claim, HOUR, error)], now=NOON)

        stored = read(database, job_id).last_error
        assert stored.startswith("bad?x")
        assert len(stored) == LONGEST_ERROR

    def test_a_late_report_changes_nothing_and_says_so(self, database: Database) -> None:
        job_id = enqueue_one(database)
        late = claim_one(database, worker="first").claim
        claim_one(database, worker="second", now=NOON + LEASE)

        with database.writing() as db:
            changed = [
                finish(db, [late], now=NOON),
                put_back(db, [PutBack(late, HOUR, "")], now=NOON),
                exhaust(db, [Exhausted(late, "")], now=NOON),
                release(db, [late]),
            ]
            held = renew(db, [late], until=NOON + HOUR)

        stored = read(database, job_id)
        assert changed == [0, 0, 0, 0]
        assert held == frozenset()
        assert (stored.state, stored.worker, stored.attempts) == ("running", "second", 2)

    def test_a_worker_that_claims_its_own_lost_job_is_fenced_too(self, database: Database) -> None:
        enqueue_one(database)
        late = claim_one(database)
        again = claim_one(database, now=NOON + LEASE)

        with database.writing() as db:
            by_late = finish(db, [late.claim], now=NOON)
            by_holder = finish(db, [again.claim], now=NOON)

        assert (by_late, by_holder) == (0, 1)

    def test_a_group_with_one_late_report_counts_the_others(self, database: Database) -> None:
        enqueue_many(database, 3)
        claims = [job.claim for job in claim_some(database).jobs]

        with database.writing() as db:
            finish(db, claims[:1], now=NOON)
            finished = finish(db, claims, now=NOON)

        assert finished == 2
        assert list_states(database) == ["done", "done", "done"]

    def test_a_released_job_has_its_attempt_back_but_not_its_fence(
        self, database: Database
    ) -> None:
        enqueue_one(database)
        job = claim_one(database)

        with database.writing() as db:
            release(db, [job.claim])

        again = claim_one(database, worker="second")
        assert again.attempts == 1
        assert again.claim.fence > job.claim.fence

    def test_a_renewed_lease_keeps_others_away(self, database: Database) -> None:
        enqueue_one(database)
        job = claim_one(database)

        with database.writing() as db:
            held = renew(db, [job.claim], until=NOON + 2 * LEASE)

        assert held == {job.claim}
        assert claim_some(database, now=NOON + LEASE).jobs == []
        assert len(claim_some(database, now=NOON + 2 * LEASE).jobs) == 1

    def test_renewing_nothing_holds_nothing(self, database: Database) -> None:
        with database.writing() as db:
            assert renew(db, [], until=NOON) == frozenset()


class TestBringForward:
    def test_sleepers_wake_earlier_by_exactly_as_much(self, database: Database) -> None:
        merchant = add_merchant(database)
        wait = timedelta(days=40, microseconds=123_457)
        job_id = enqueue_one(database, merchant, wait=wait)
        by = timedelta(days=31, hours=5, milliseconds=7)

        with database.writing() as db:
            moved = bring_forward(db, merchant.id, by)

        assert moved == 1
        assert read(database, job_id).due_at == NOON + wait - by

    def test_nobody_elses_jobs_move(self, database: Database) -> None:
        mover, other = add_merchant(database, "Mover"), add_merchant(database, "Other")
        others = enqueue_one(database, other, wait=HOUR)
        nobodys = enqueue_one(database, wait=HOUR)

        with database.writing() as db:
            moved = bring_forward(db, mover.id, HOUR)

        assert moved == 0
        assert read(database, others).due_at == NOON + HOUR
        assert read(database, nobodys).due_at == NOON + HOUR


class TestOperator:
    def test_a_job_that_is_not_there_is_not_found(self, database: Database) -> None:
        with database.reading() as db, pytest.raises(NotFound):
            get_job(db, 42)

    def test_the_newest_come_first_and_filters_combine(self, database: Database) -> None:
        merchant = add_merchant(database)
        old = enqueue_one(database, merchant)
        new = enqueue_one(database, merchant)
        enqueue_one(database, merchant, wait=HOUR)
        enqueue_one(database, merchant, kind="other")
        enqueue_one(database)

        with database.reading() as db:
            wanted = JobFilter(state=JobState.DUE, kind=KIND, merchant=merchant.code)
            found = list_jobs(db, wanted, limit=10)
            limited = list_jobs(db, limit=2)

        assert [job.id for job in found] == [new, old]
        assert found[0].merchant == merchant.code
        assert [job.merchant for job in limited] == [None, merchant.code]

    @pytest.mark.parametrize("ends", ["failed", "cancelled", "scheduled"])
    def test_a_retried_job_has_all_its_attempts_again(self, database: Database, ends: str) -> None:
        job_id = enqueue_one(database)
        bring_to(database, job_id, ends)

        with database.writing() as db:
            retry_job(db, job_id, now=NOON)

        job = claim_one(database)
        assert (job.id, job.attempts) == (job_id, 1)
        assert read(database, job_id).finished_at is None

    @pytest.mark.parametrize("state", ["due", "running", "done"])
    def test_other_jobs_cannot_be_retried(self, database: Database, state: str) -> None:
        job_id = enqueue_one(database)
        bring_to(database, job_id, state)

        refused = pytest.raises(WrongState, match=f"is {state} cannot become due")
        with refused, database.writing() as db:
            retry_job(db, job_id, now=NOON)

    @pytest.mark.parametrize("state", ["due", "scheduled", "failed"])
    def test_a_job_that_nobody_has_begun_or_that_was_given_up_can_be_cancelled(
        self, database: Database, state: str
    ) -> None:
        job_id = enqueue_one(database)
        bring_to(database, job_id, state)

        with database.writing() as db:
            cancel_job(db, job_id, now=NOON)

        assert read(database, job_id).state == "cancelled"
        assert claim_some(database, now=NOON + 2 * HOUR).jobs == []

    @pytest.mark.parametrize("state", ["running", "done", "cancelled"])
    def test_other_jobs_cannot_be_cancelled(self, database: Database, state: str) -> None:
        job_id = enqueue_one(database)
        bring_to(database, job_id, state)

        refused = pytest.raises(WrongState, match=f"is {state} cannot become cancelled")
        with refused, database.writing() as db:
            cancel_job(db, job_id, now=NOON)


def bring_to(database: Database, job_id: int, state: str) -> None:
    """Bring a job that is due into another state, by the way that leads there."""
    if state == "due":
        return
    if state == "cancelled":
        with database.writing() as db:
            cancel_job(db, job_id, now=NOON)
        return
    claim = claim_one(database).claim
    with database.writing() as db:
        if state == "done":
            finish(db, [claim], now=NOON)
        elif state == "failed":
            exhaust(db, [Exhausted(claim, "No.")], now=NOON)
        elif state == "scheduled":
            put_back(db, [PutBack(claim, HOUR, "Later.")], now=NOON)
