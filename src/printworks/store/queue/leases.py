"""Leases of jobs, and what follows when clocks are set.

Nobody relies on a clock alone: workers watch leases by elapsed time (`worker/leases.py`).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, literal_column, select, update

from printworks.rules.jobs import ADVANCING_LEASE, JobState
from printworks.store.engine.columns import Timestamp
from printworks.store.queue.jobs import Claim, wake_workers
from printworks.store.tables import jobs, merchants

# Waits that one transaction begins anew.
AT_ONCE: Final = 500
# Longer than any reservation of a merchant's jobs.
_LONGEST: Final = 2 * ADVANCING_LEASE


class Lease(NamedTuple):
    """A claim as others see it; it is another one after each renewal."""

    claim: Claim
    until: datetime
    seconds: float


def list_leases(db: Connection) -> list[Lease]:
    """Return the leases of all jobs that are running."""
    return [
        Lease(Claim(job_id, fence, worker), until, seconds)
        for job_id, fence, worker, until, seconds in db.execute(_LEASES)
    ]


def take_back(db: Connection, ended: Sequence[Lease]) -> int:
    """Make jobs due again whose leases have ended and were not renewed since; return how many."""
    if not ended:
        return 0
    # A row that is just being reported on is left alone.
    rows = db.execute(
        _LEASES.where(jobs.c.id.in_([lease.claim.id for lease in ended])).with_for_update(
            skip_locked=True
        )
    )
    current = {
        Lease(Claim(job_id, fence, worker), until, seconds)
        for job_id, fence, worker, until, seconds in rows
    }
    taken = [lease.claim.id for lease in ended if lease in current]
    if taken:
        what_happened = "The worker " + jobs.c.worker + " did not report in time."
        db.execute(
            update(jobs)
            .where(jobs.c.id.in_(taken))
            .values(state=JobState.DUE, worker=None, lease_until=None, last_error=what_happened)
        )
        wake_workers(db)
    return len(taken)


def restart_waits(db: Connection, *, now: datetime, skew: timedelta) -> int:
    """Let jobs wait anew that began to wait in the future; return how many.

    The clock was set back since, and they would wait for that long in addition. None waits
    longer than twice its time.
    """
    since = func.coalesce(jobs.c.put_back_at, jobs.c.created_at)
    rows = db.execute(
        select(jobs.c.id, jobs.c.due_at, since.label("since"))
        .where(jobs.c.state == literal_column("'scheduled'"), since > now + skew)
        .limit(AT_ONCE)
        .with_for_update(skip_locked=True)
    ).all()
    if rows:
        changed = [
            {"this": row.id, "due": now + max(row.due_at - row.since, timedelta(0)), "at": now}
            for row in rows
        ]
        db.execute(_RESTART, sorted(changed, key=lambda change: change["this"]))
    return len(rows)


def is_clock_set_back(db: Connection, *, now: datetime, skew: timedelta) -> bool:
    """Say whether a job waits since a time, or is reserved until one, that is yet to come."""
    waiting = select(jobs.c.id).where(jobs.c.state == literal_column("'scheduled'"))
    since = func.coalesce(jobs.c.put_back_at, jobs.c.created_at)
    reserved = select(merchants.c.id).where(merchants.c.advancing_until > now + _LONGEST)
    return (
        db.execute(waiting.where(since > now + skew).limit(1)).first() is not None
        or db.execute(reserved.limit(1)).first() is not None
    )


def end_reservations(db: Connection, *, now: datetime) -> int:
    """End reservations of merchants' jobs that are longer than any; return how many.

    The clock was set back since they were made.
    """
    ended = update(merchants).where(merchants.c.advancing_until > now + _LONGEST)
    return db.execute(ended.values(advancing_until=None)).rowcount


_LEASES: Final = select(
    jobs.c.id, jobs.c.fence, jobs.c.worker, jobs.c.lease_until, jobs.c.lease_seconds
).where(jobs.c.state == literal_column("'running'"))

_RESTART: Final = (
    update(jobs)
    .where(jobs.c.id == bindparam("this"))
    .values(due_at=bindparam("due", type_=Timestamp), put_back_at=bindparam("at", type_=Timestamp))
)
