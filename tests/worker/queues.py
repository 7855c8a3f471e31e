"""A queue to test with: policies, promises and claims in a line each."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import select

from printworks.rules.jobs import Acknowledge, Policy
from printworks.rules.pools import Pool
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.queue.claims import Claimant, Claimed, claim
from printworks.store.queue.jobs import Job, NewJob, enqueue
from printworks.store.queue.leases import list_leases, take_back
from printworks.store.queue.shares import Room
from printworks.store.tables import jobs
from printworks.store.views.console.jobs import JobRow, get_job
from tests.factories import NOON, a_merchant

KIND: Final = "print-nothing"
LEASE: Final = timedelta(seconds=30)


def a_policy(**values: Any) -> Policy:
    """Allow much, and state what matters."""
    usual = {
        "in_flight": 1000,
        "attempts": 5,
        "timeout": timedelta(seconds=30),
        "acknowledge": Acknowledge.GROUPED,
        "wait_after": lambda _: timedelta(minutes=1),
    }
    return Policy(**{**usual, **values})


def add_merchant(database: Database, name: str = "A shop") -> Merchant:
    """Add a merchant in a transaction of its own."""
    with database.writing() as db:
        return a_merchant(db, name)


def enqueue_one(
    database: Database,
    merchant: Merchant | None = None,
    *,
    kind: str = KIND,
    now: datetime = NOON,
    **values: Any,
) -> int:
    """Promise one job in a transaction of its own and return its number."""
    with database.writing() as db:
        job_id = enqueue(db, NewJob(kind, merchant.id if merchant else None, {}, **values), now=now)
    assert job_id is not None
    return job_id


def enqueue_many(database: Database, count: int, merchant: Merchant | None = None) -> list[int]:
    """Promise that many jobs in one transaction and return their numbers."""
    with database.writing() as db:
        new = NewJob(KIND, merchant.id if merchant else None, {})
        ids = [enqueue(db, new, now=NOON) for _ in range(count)]
    return [job_id for job_id in ids if job_id is not None]


def claim_some(
    database: Database,
    slots: int = 32,
    *,
    worker: str = "first",
    cursor: str = "",
    now: datetime = NOON,
    lease: timedelta = LEASE,
    policies: Mapping[str, Policy] | None = None,
    **policy: Any,
) -> Claimed:
    """Claim jobs, of the usual kind unless policies are given.

    Leases that end by then have been watched until their end.
    """
    return_ended(database, now=now)
    with database.writing() as db:
        return claim(
            db,
            policies or {KIND: a_policy(**policy)},
            a_claimant(worker, slots, cursor=cursor, lease=lease),
            now=now,
        )


def a_claimant(worker: str, slots: int, *, cursor: str = "", lease: timedelta = LEASE) -> Claimant:
    """Make somebody who has so many slots in every pool, for anybody."""
    rooms = {pool: Room(slots, slots, cursor) for pool in Pool}
    return Claimant(worker=worker, rooms=rooms, lease=lease)


def return_ended(database: Database, *, now: datetime) -> None:
    """Take back jobs, as workers do that have watched them until their leases ended."""
    with database.writing() as db:
        take_back(db, [lease for lease in list_leases(db) if lease.until <= now])


def find_cursor(claimed: Claimed) -> str:
    """Return the last lane that was served, of the usual kind."""
    return claimed.cursors[Pool.UPKEEP]


def claim_one(database: Database, **values: Any) -> Job:
    """Claim the only job there is."""
    (job,) = claim_some(database, **values).jobs
    return job


def read(database: Database, job_id: int) -> JobRow:
    """Return a job as it is stored."""
    with database.reading() as db:
        return get_job(db, job_id)


def list_states(database: Database) -> Sequence[str]:
    """Return the states of all jobs, oldest first."""
    with database.reading() as db:
        return db.execute(select(jobs.c.state).order_by(jobs.c.id)).scalars().all()
