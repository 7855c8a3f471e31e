"""What stands between a merchant's clock and its next scheduled job."""

from datetime import timedelta

from printworks.rules.jobs import JobKind
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.queue.advancing import (
    NextJob,
    begin_advancing,
    find_next_job,
    take_back_jobs,
)
from printworks.store.queue.outcomes import finish
from tests.factories import NOON
from tests.worker.queues import LEASE, a_policy, add_merchant, claim_some, enqueue_one

KIND = JobKind.REMOVE_FILES
POLICIES = {str(KIND): a_policy()}
SECOND = timedelta(seconds=1)


def find_next(database: Database, merchant: Merchant, *, now: timedelta = timedelta(0)) -> NextJob:
    with database.reading() as db:
        return find_next_job(db, merchant.id, now=NOON + now)


def test_without_a_job_nothing_is_held_or_scheduled(database: Database) -> None:
    merchant = add_merchant(database)
    enqueue_one(database, add_merchant(database, "Bob"), kind=KIND)

    assert find_next(database, merchant) == (False, None)


def test_the_first_of_the_scheduled_jobs_is_next(database: Database) -> None:
    merchant = add_merchant(database)
    enqueue_one(database, merchant, kind=KIND, wait=2 * SECOND)
    first = enqueue_one(database, merchant, kind=KIND, wait=SECOND)

    assert find_next(database, merchant) == (False, (first, NOON + SECOND))


def test_a_job_that_runs_is_held_until_its_worker_is_taken_for_dead(database: Database) -> None:
    merchant = add_merchant(database)
    enqueue_one(database, merchant, kind=KIND)
    claim_some(database, policies=POLICIES)

    assert find_next(database, merchant) == (True, None)
    assert find_next(database, merchant, now=LEASE) == (False, None)


def test_what_a_worker_enqueues_as_its_job_ends_holds_the_clock(database: Database) -> None:
    merchant = add_merchant(database)
    enqueue_one(database, merchant, kind=KIND)
    (job,) = claim_some(database, policies=POLICIES).jobs
    with database.writing() as db:
        begin_advancing(db, merchant.id, now=NOON, until=NOON + LEASE)
        take_back_jobs(db, merchant.id, now=NOON)

    with database.writing() as db:
        finish(db, [job.claim], now=NOON)
    # By a worker that had read the merchant before.
    following = enqueue_one(database, merchant, kind=KIND)

    assert find_next(database, merchant) == (True, None)
    with database.writing() as db:
        take_back_jobs(db, merchant.id, now=NOON)
    assert find_next(database, merchant) == (False, (following, NOON))
