"""Moving one merchant's clock step by step, each to the next thing that happens."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, literal_column, or_, select, update

from printworks.rules.jobs import JobState
from printworks.store.jobs import Claim, Job
from printworks.store.tables import jobs, merchants


class Sleeper(NamedTuple):
    """The job of a merchant that wakes next."""

    id: int
    due_at: datetime


def begin_advancing(db: Connection, merchant_id: int, *, now: datetime, until: datetime) -> bool:
    """Take a merchant's jobs out of the workers' hands for a while; False if somebody else has."""
    begun = db.execute(
        update(merchants)
        .where(
            merchants.c.id == merchant_id,
            or_(merchants.c.advancing_until.is_(None), merchants.c.advancing_until <= now),
        )
        .values(advancing_until=until)
    )
    if begun.rowcount == 0:
        return False
    db.execute(
        update(jobs)
        .where(jobs.c.merchant_id == merchant_id, jobs.c.state == JobState.DUE)
        .values(state=JobState.SCHEDULED)
    )
    return True


def go_on_advancing(db: Connection, merchant_id: int, *, until: datetime) -> None:
    """Keep a merchant's jobs out of the workers' hands for longer."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(advancing_until=until))


def end_advancing(db: Connection, merchant_id: int) -> None:
    """Give a merchant's jobs back to the workers."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(advancing_until=None))


def count_running(db: Connection, merchant_id: int) -> int:
    """Return how many of a merchant's jobs are in the hands of workers."""
    return db.execute(
        select(func.count()).where(
            jobs.c.state == literal_column("'running'"), jobs.c.merchant_id == merchant_id
        )
    ).scalar_one()


def find_sleeper(db: Connection, merchant_id: int) -> Sleeper | None:
    """Return the job of a merchant that wakes next."""
    row = db.execute(
        select(jobs.c.id, jobs.c.due_at)
        .where(jobs.c.merchant_id == merchant_id, jobs.c.state == literal_column("'scheduled'"))
        .order_by(jobs.c.due_at, jobs.c.id)
        .limit(1)
    ).one_or_none()
    return None if row is None else Sleeper(*row)


def claim_sleeper(db: Connection, job_id: int, *, worker: str, lease_until: datetime) -> Job | None:
    """Claim one job for this worker; None if somebody else has it."""
    row = db.execute(
        update(jobs)
        .where(jobs.c.id == job_id, jobs.c.state == literal_column("'scheduled'"))
        .values(
            state=JobState.RUNNING,
            worker=worker,
            lease_until=lease_until,
            attempts=jobs.c.attempts + 1,
            fence=jobs.c.fence + 1,
        )
        .returning(
            jobs.c.fence,
            jobs.c.kind,
            jobs.c.merchant_id,
            jobs.c.args,
            jobs.c.attempts,
            jobs.c.due_at,
            jobs.c.request_id,
        )
    ).one_or_none()
    return None if row is None else Job(Claim(job_id, row.fence, worker), *row[1:])
