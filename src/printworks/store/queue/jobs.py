"""The queue: jobs are enqueued in the caller's transaction.

How workers claim them is in `claims.py`, and what becomes of them in `outcomes.py`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from printworks.rules.jobs import JobState
from printworks.store.engine.many import InsertMany
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.purging import delete_oldest
from printworks.store.tables import jobs
from printworks.trace_parent import current_parent

# The channel on which PostgreSQL notifies the workers that something is due.
CHANNEL: Final = "printworks_jobs"


# Until when the clock of each merchant is being moved, if it is.
Advancing: TypeAlias = Mapping[int | None, datetime | None]


class NewJob(NamedTuple):
    """A job that is to be enqueued."""

    kind: str
    merchant_id: int | None
    args: Mapping[str, Any]
    wait: timedelta = timedelta(0)
    dedupe_key: str | None = None
    request_id: str | None = None
    # The order that it ends with.
    order_id: int | None = None
    # The span that caused it, if not the one at hand.
    trace_parent: str | None = None


class Claim(msgspec.Struct, frozen=True):
    """The right to report on a job, until another worker claims it.

    The worker is part of it for one case: if PostgreSQL crashes and loses the latest claims,
    two workers can come to hold the same job with the same fence.
    """

    id: int
    fence: int
    worker: str


class Job(msgspec.Struct, frozen=True):
    """What a worker needs to know to run a job."""

    claim: Claim
    kind: str
    merchant_id: int | None
    args: Mapping[str, Any]
    attempts: int
    due_at: datetime
    request_id: str | None
    trace_parent: str | None = None

    @property
    def id(self) -> int:
        return self.claim.id

    @property
    def lane(self) -> str:
        """The lane in which it waited."""
        return lane_of(self.kind, self.merchant_id)


_ROW: Final = (
    *("kind", "merchant_id", "order_id", "lane", "args", "state", "due_at"),
    *("dedupe_key", "request_id", "trace_parent", "created_at"),
)
# The columns that a claim returns, for `read_claimed`.
CLAIMED: Final = (
    *(jobs.c.id, jobs.c.fence, jobs.c.kind, jobs.c.merchant_id),
    *(jobs.c.args, jobs.c.attempts, jobs.c.due_at, jobs.c.request_id, jobs.c.trace_parent),
)
_INSERT_ONE: Final = {
    name: PreparedStatement(
        dialect.insert(jobs)
        .values({column: bindparam(column) for column in _ROW})
        .on_conflict_do_nothing(index_elements=[jobs.c.dedupe_key])
        .returning(jobs.c.id)
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}
_INSERT_MANY: Final = PreparedStatement(
    insert(jobs).inline().values({column: bindparam(column) for column in _ROW})
)
_INSERT_ALIKE: Final = InsertMany(
    jobs,
    shared=[name for name in _ROW if name != "args"],
    each=["args"],
)
_WAKE: Final = PreparedStatement(select(func.pg_notify(CHANNEL, "")))


def enqueue(
    db: Connection, new: NewJob, advancing_until: datetime | None = None, *, now: datetime
) -> int | None:
    """Enqueue a job; return its id, or None if its dedupe key is taken.

    `now` is the real time, and `advancing_until` says until when the clock of its merchant is
    being moved, if it is.
    """
    row = _write_row(new, advancing_until, now=now)
    added = _INSERT_ONE[db.dialect.name].first(db, row)
    if added is None:
        return None
    if row["state"] is JobState.DUE:
        wake_workers(db)
    return int(added[0])


def enqueue_each(
    db: Connection,
    like: NewJob,
    each: Iterable[Mapping[str, Any]],
    advancing_until: datetime | None = None,
    *,
    now: datetime,
) -> None:
    """Enqueue a job like this one for each of these arguments, without dedupe keys.

    The times are those of `enqueue`.
    """
    own = [{"args": one} for one in each]
    if not own:
        return
    row = _write_row(like, advancing_until, now=now)
    if len(own) == 1:
        _INSERT_MANY.run(db, row | own[0])
    else:
        del row["args"]
        _INSERT_ALIKE.run(db, row, own)
    if row["state"] is JobState.DUE:
        wake_workers(db)


def enqueue_all(
    db: Connection, new: Iterable[NewJob], advancing: Advancing, *, now: datetime
) -> None:
    """Enqueue jobs of merchants, without dedupe keys. `now` is the real time."""
    rows = [_write_row(job, advancing[job.merchant_id], now=now) for job in new]
    _INSERT_MANY.run_each(db, rows)
    if any(row["state"] is JobState.DUE for row in rows):
        wake_workers(db)


def _write_row(new: NewJob, advancing_until: datetime | None, *, now: datetime) -> dict[str, Any]:
    # While a merchant's clock is being moved, its scheduled jobs run one by one.
    is_advancing = advancing_until is not None and advancing_until > now
    is_due = new.wait <= timedelta(0) and not is_advancing
    return {
        "kind": new.kind,
        "merchant_id": new.merchant_id,
        "order_id": new.order_id,
        "lane": lane_of(new.kind, new.merchant_id),
        "args": dict(new.args),
        "state": JobState.DUE if is_due else JobState.SCHEDULED,
        "due_at": now + new.wait,
        "dedupe_key": new.dedupe_key,
        "request_id": new.request_id,
        "trace_parent": new.trace_parent or current_parent(),
        "created_at": now,
    }


def cancel_jobs_of_order(db: Connection, order_id: int, *, now: datetime) -> None:
    """Cancel the jobs that end with an order and have not begun. `now` is the real time."""
    # One that a worker is claiming now is left to its handler: nobody waits for a lock.
    waiting = (
        select(jobs.c.id)
        .where(jobs.c.order_id == order_id, jobs.c.state.in_([JobState.SCHEDULED, JobState.DUE]))
        .with_for_update(skip_locked=True)
    )
    db.execute(
        update(jobs).where(jobs.c.id.in_(waiting)).values(state=JobState.CANCELLED, finished_at=now)
    )


def forget_job(db: Connection, job_id: int) -> None:
    """Delete a job that is done; any other stays."""
    db.execute(delete(jobs).where(jobs.c.id == job_id, jobs.c.state == JobState.DONE))


def is_enqueued(db: Connection, dedupe_key: str) -> bool:
    """Say whether there is a job with this key that has not ended."""
    is_open = (jobs.c.dedupe_key == dedupe_key, jobs.c.finished_at.is_(None))
    return db.execute(select(jobs.c.id).where(*is_open)).first() is not None


def free_key(db: Connection, dedupe_key: str) -> None:
    """Let another job have this key if the one that has it has ended."""
    has_ended = (jobs.c.dedupe_key == dedupe_key, jobs.c.finished_at.is_not(None))
    db.execute(update(jobs).where(*has_ended).values(dedupe_key=None))


def give_up_key(db: Connection, job_id: int) -> None:
    """Let another job have the key of this one, which stays in the queue."""
    db.execute(update(jobs).where(jobs.c.id == job_id).values(dedupe_key=None))


def read_claimed(row: Iterable[Any], worker: str) -> Job:
    """Convert what a claim of this worker returned."""
    job_id, fence, *rest = row
    return Job(Claim(job_id, fence, worker), *rest)


def lane_of(kind: str, merchant_id: int | None) -> str:
    """Return the lane in which jobs of one kind and merchant wait."""
    return f"{kind}:{'' if merchant_id is None else merchant_id}"


def wake_workers(db: Connection) -> None:
    """Notify the workers, once this transaction commits, that something is due."""
    # SQLite's workers notice commits by themselves.
    if db.dialect.name == "postgresql":
        _WAKE.run(db, {})


def purge_jobs(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete jobs that ended before then, the oldest first; return how many."""
    return delete_oldest(db, jobs.c.finished_at, jobs.c.finished_at < before, limit=limit)
