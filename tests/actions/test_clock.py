"""A sandbox merchant moves its clock, and whatever waits for it comes nearer."""

from datetime import timedelta

import msgspec
import pytest
from sqlalchemy import select

from printworks.actions.accounts.clock import FURTHEST, advance_clock
from printworks.errors import BadInput
from printworks.rules.jobs import JobKind, JobState
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.tables import jobs, merchants
from tests.factories import NOON, a_merchant, a_work
from tests.worker.queues import add_merchant, claim_some, enqueue_one

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def read_offset(database: Database, merchant: Merchant) -> timedelta:
    """Return how far the merchant's clock is ahead."""
    with database.reading() as db:
        wanted = select(merchants.c.clock_offset).where(merchants.c.id == merchant.id)
        offset: timedelta = db.execute(wanted).scalar_one()
    return offset


def test_one_answer_has_one_time_and_the_next_one_the_new_one(database: Database) -> None:
    mover = add_merchant(database, "Mover")

    with database.reading() as reading:
        begun = msgspec.structs.replace(a_work(reading, mover), is_clock_old=True)
        assert begun.now == NOON
        with database.writing() as db:
            advance_clock(a_work(db, mover, now=NOON), DAY)
        assert begun.now == NOON
        assert msgspec.structs.replace(a_work(reading, mover), is_clock_old=True).now == NOON + DAY


def test_a_moved_clock_moves_the_merchants_jobs_and_nobody_elses(database: Database) -> None:
    mover, other = add_merchant(database, "Mover"), add_merchant(database, "Other")
    moved = enqueue_one(database, mover, wait=5 * DAY)
    enqueue_one(database, other, wait=5 * DAY)

    with database.writing() as db:
        its_time = advance_clock(a_work(db, mover, now=NOON), 5 * DAY)

    assert its_time == NOON + 5 * DAY
    assert [job.id for job in claim_some(database, now=NOON).jobs] == [moved]
    assert read_offset(database, mover) == 5 * DAY
    assert read_offset(database, other) == timedelta(0)


def test_a_moved_clock_does_not_move_what_is_enqueued(database: Database) -> None:
    mover = add_merchant(database)

    with database.writing() as db:
        late = msgspec.structs.replace(a_work(db, mover), is_clock_old=True)
        advance_clock(a_work(db, mover), DAY)
        knowing = a_work(db, get_merchant(db, mover.id), now=NOON + DAY)
        for work in (late, knowing):
            work.enqueue(JobKind.REMOVE_FILES, {"files": []})
            work.enqueue(JobKind.REMOVE_FILES, {"files": []}, wait=HOUR)
            work.enqueue_each(JobKind.REMOVE_FILES, [{"files": []}])
            work.enqueue_each(JobKind.REMOVE_FILES, [{"files": []}] * 2)
        found = db.execute(select(jobs.c.due_at, jobs.c.state).order_by(jobs.c.id)).all()

    due, scheduled = (NOON, JobState.DUE), (NOON + HOUR, JobState.SCHEDULED)
    assert [tuple(job) for job in found] == [due, scheduled, due, due, due] * 2


def test_moves_add_up_even_when_the_second_knows_nothing_of_the_first(
    database: Database,
) -> None:
    merchant = add_merchant(database)
    enqueue_one(database, merchant, wait=2 * DAY)

    with database.writing() as db:
        advance_clock(a_work(db, merchant, now=NOON), DAY)
        its_time = advance_clock(a_work(db, merchant, now=NOON), DAY)

    assert its_time == NOON + 2 * DAY
    assert len(claim_some(database, now=NOON).jobs) == 1


def test_clock_and_jobs_move_by_the_same_whole_milliseconds(database: Database) -> None:
    merchant = add_merchant(database)
    enqueue_one(database, merchant, wait=timedelta(milliseconds=2))

    with database.writing() as db:
        its_time = advance_clock(a_work(db, merchant, now=NOON), timedelta(microseconds=1900))

    assert its_time == NOON + timedelta(milliseconds=1)
    assert claim_some(database, now=NOON).next_due_at == NOON + timedelta(milliseconds=1)


def test_no_clock_goes_back(database: Database) -> None:
    merchant = add_merchant(database)

    with pytest.raises(BadInput), database.writing() as db:
        advance_clock(a_work(db, merchant, now=NOON), -DAY)

    assert read_offset(database, merchant) == timedelta(0)


def test_no_clock_goes_further_than_any_job_is_due(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        advance_clock(a_work(db, merchant), FURTHEST)
        ahead = get_merchant(db, merchant.id)

    with pytest.raises(BadInput, match="at most 36525 days"), database.writing() as db:
        advance_clock(a_work(db, ahead), timedelta(milliseconds=1))

    assert read_offset(database, merchant) == FURTHEST
