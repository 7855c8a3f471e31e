"""Moving one merchant's clock step by step, each to its next scheduled job."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import (
    Connection,
    Interval,
    and_,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
    type_coerce,
    update,
)

from printworks.rules.jobs import JobKind, JobState
from printworks.store.engine.columns import Timestamp
from printworks.store.queue.jobs import CLAIMED, Job, lane_of, read_claimed, wake_workers
from printworks.store.tables import jobs, merchants


class ScheduledJob(NamedTuple):
    id: int
    due_at: datetime


class NextJob(NamedTuple):
    """What a merchant's clock can be moved to."""

    # Whether a worker that is alive runs jobs of this merchant, or may be about to.
    is_held: bool
    scheduled: ScheduledJob | None


def begin_advancing(db: Connection, merchant_id: int, *, now: datetime, until: datetime) -> bool:
    """Reserve a merchant's jobs for this process for a while; False if another process has them."""
    begun = db.execute(
        update(merchants)
        .where(
            merchants.c.id == merchant_id,
            or_(merchants.c.advancing_until.is_(None), merchants.c.advancing_until <= now),
        )
        .values(advancing_until=until)
    )
    return begun.rowcount == 1


def extend_advancing(db: Connection, merchant_id: int, *, worker: str, until: datetime) -> None:
    """Extend the reservation of a merchant's jobs, and the lease of the job that is running."""
    db.execute(
        update(merchants)
        # A late call, after the end, must not begin again.
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


def take_back_jobs(db: Connection, merchant_id: int, *, now: datetime) -> None:
    """Take back what workers could begin: jobs that are due, and those whose worker has died.

    New ones become due in the meantime: by a request that began before, or a worker that stops.
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
    # The indexes of due and of running jobs begin with the lane.
    return [lane_of(kind, merchant_id) for kind in JobKind]


def end_advancing(db: Connection, merchant_id: int) -> None:
    """Return a merchant's jobs to the workers."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(advancing_until=None))


def find_next_job(db: Connection, merchant_id: int, *, now: datetime) -> NextJob:
    """Return a merchant's next scheduled job, and whether workers have others.

    One statement, because what follows from a job becomes visible as the job ends: whoever asked
    for the running jobs and then for the scheduled ones would miss both in between.
    """
    is_of_merchant = jobs.c.lane.in_(_lanes_of(merchant_id))
    is_alive = and_(jobs.c.state == literal_column("'running'"), jobs.c.lease_until > now)
    # One that was taken back and is due all the same has just been enqueued, or is being claimed.
    is_due = jobs.c.state == literal_column("'due'")
    is_held = or_(*(exists().where(is_of_merchant, each) for each in (is_alive, is_due)))
    held = select(is_held.label("is_held")).subquery()
    scheduled = (
        select(jobs.c.id, jobs.c.due_at)
        .where(jobs.c.merchant_id == merchant_id, jobs.c.state == literal_column("'scheduled'"))
        .order_by(jobs.c.due_at, jobs.c.id)
        .limit(1)
        .subquery()
    )
    wanted = select(held.c.is_held, scheduled.c.id, scheduled.c.due_at)
    row = db.execute(wanted.select_from(held.outerjoin(scheduled, true()))).one()
    return NextJob(row.is_held, None if row.id is None else ScheduledJob(row.id, row.due_at))


def claim_scheduled_job(
    db: Connection, job_id: int, *, worker: str, now: datetime, lease: timedelta
) -> Job | None:
    """Claim one job for this worker; None if another worker has it."""
    row = db.execute(
        update(jobs)
        .where(jobs.c.id == job_id, jobs.c.state == literal_column("'scheduled'"))
        .values(
            state=JobState.RUNNING,
            worker=worker,
            lease_until=now + lease,
            lease_seconds=lease.total_seconds(),
            attempts=jobs.c.attempts + 1,
            fence=jobs.c.fence + 1,
        )
        .returning(*CLAIMED)
    ).one_or_none()
    return None if row is None else read_claimed(row, worker)


def bring_forward(db: Connection, merchant_id: int, by: timedelta) -> int:
    """Bring a merchant's scheduled jobs forward; return how many there are."""
    due_at = jobs.c.due_at - literal(by, Interval)
    if db.dialect.name == "sqlite":
        # SQLite calculates in milliseconds: the last three digits stay as they are.
        seconds, milliseconds = divmod(by // timedelta(milliseconds=1), 1000)
        to_milliseconds = func.strftime(
            "%Y-%m-%d %H:%M:%f",
            func.substr(jobs.c.due_at, 1, 23),
            f"-{seconds}.{milliseconds:03d} seconds",
        )
        due_at = type_coerce(to_milliseconds.concat(func.substr(jobs.c.due_at, 24)), Timestamp)
    moved = db.execute(
        update(jobs)
        .where(jobs.c.merchant_id == merchant_id, jobs.c.state == literal_column("'scheduled'"))
        .values(due_at=due_at)
    ).rowcount
    wake_workers(db)
    return moved
