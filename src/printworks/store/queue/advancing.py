"""Moving one merchant's clock step by step, each to the next thing that happens."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, literal_column, or_, select, update

from printworks.rules.jobs import JobKind, JobState
from printworks.store.queue.jobs import Claim, Job, lane_of
from printworks.store.tables import jobs, merchants


class ScheduledJob(NamedTuple):
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
    return begun.rowcount == 1


def go_on_advancing(db: Connection, merchant_id: int, *, worker: str, until: datetime) -> None:
    """Keep a merchant's jobs, and the one in hand, out of the workers' hands for longer."""
    db.execute(
        update(merchants)
        # Whoever comes to this after the end must not begin again.
        .where(merchants.c.id == merchant_id, merchants.c.advancing_until.is_not(None))
        .values(advancing_until=until)
    )
    db.execute(
        update(jobs)
        .where(
            jobs.c.state == literal_column("'running'"),
            jobs.c.lane.in_(_lanes_of(merchant_id)),
            jobs.c.worker == worker,
        )
        .values(lease_until=until)
    )


def put_to_sleep(db: Connection, merchant_id: int, *, now: datetime) -> None:
    """Take back what workers could begin: jobs that are due, and those whose worker has died.

    They become due meanwhile too: by a request that began before, or a worker that stops.
    """
    for is_free in (
        jobs.c.state == literal_column("'due'"),
        and_(jobs.c.state == literal_column("'running'"), jobs.c.lease_until <= now),
    ):
        db.execute(
            update(jobs)
            .where(is_free, jobs.c.lane.in_(_lanes_of(merchant_id)))
            .values(state=JobState.SCHEDULED, worker=None, lease_until=None)
        )


def _lanes_of(merchant_id: int) -> list[str]:
    # The indexes of what is due and what runs go by lane.
    return [lane_of(kind, merchant_id) for kind in JobKind]


def end_advancing(db: Connection, merchant_id: int) -> None:
    """Give a merchant's jobs back to the workers."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(advancing_until=None))


def count_running(db: Connection, merchant_id: int, *, now: datetime) -> int:
    """Return how many of a merchant's jobs are in the hands of workers that live."""
    return db.execute(
        select(func.count()).where(
            jobs.c.state == literal_column("'running'"),
            jobs.c.lane.in_(_lanes_of(merchant_id)),
            jobs.c.lease_until > now,
        )
    ).scalar_one()


def find_scheduled_job(db: Connection, merchant_id: int) -> ScheduledJob | None:
    """Return the job of a merchant that wakes next."""
    row = db.execute(
        select(jobs.c.id, jobs.c.due_at)
        .where(jobs.c.merchant_id == merchant_id, jobs.c.state == literal_column("'scheduled'"))
        .order_by(jobs.c.due_at, jobs.c.id)
        .limit(1)
    ).one_or_none()
    return None if row is None else ScheduledJob(*row)


def claim_scheduled_job(
    db: Connection, job_id: int, *, worker: str, lease_until: datetime
) -> Job | None:
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
