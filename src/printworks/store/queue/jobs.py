"""The queue: jobs are enqueued in the caller's transaction, and reported by their worker.

Claiming has a file of its own, `claims.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    Connection,
    Integer,
    Text,
    Update,
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from printworks.rules.jobs import JobState
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.columns import Timestamp
from printworks.store.engine.many import InsertMany
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.purging import delete_oldest
from printworks.store.tables import jobs
from printworks.trace_parent import current_parent

# The channel on which PostgreSQL notifies the workers that something is due.
CHANNEL: Final = "printworks_jobs"
# The part of an error that is stored: enough to understand it, too little to fill the disk.
LONGEST_ERROR: Final = 2000


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


class PutBack(msgspec.Struct, frozen=True):
    """A failed attempt that will be followed by another."""

    claim: Claim
    wait: timedelta
    error: str
    # Whether it counts as one of the attempts that the job has.
    counts: bool = True
    # The kind and the lane in which it goes on, if it is not to go on as it was.
    kind: str | None = None
    lane: str | None = None


class Exhausted(msgspec.Struct, frozen=True):
    """A failed attempt that was the last."""

    claim: Claim
    error: str


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
_REPORT: Final = update(jobs).values(worker=None, lease_until=None)


def enqueue(
    db: Connection,
    kind: str,
    args: Mapping[str, Any],
    *,
    merchant: Merchant | None,
    now: datetime,
    wait: timedelta = timedelta(0),
    dedupe_key: str | None = None,
    request_id: str | None = None,
    order_id: int | None = None,
) -> int | None:
    """Enqueue a job; return its id, or None if its dedupe key is taken.

    `now` is the merchant's time. The queue itself lives in real time.
    """
    merchant_id, until = (merchant.id, merchant.advancing_until) if merchant else (None, None)
    new = NewJob(kind, merchant_id, args, wait, dedupe_key, request_id, order_id)
    row = _write_row(new, until, now=now - merchant.clock_offset if merchant else now)
    added = _INSERT_ONE[db.dialect.name].first(db, row)
    if added is None:
        return None
    if row["state"] is JobState.DUE:
        wake_workers(db)
    return int(added[0])


def enqueue_each(
    db: Connection,
    kind: str,
    each: Iterable[Mapping[str, Any]],
    *,
    merchant: Merchant,
    now: datetime,
    request_id: str | None = None,
    order_id: int | None = None,
) -> None:
    """Enqueue a job of the same kind for each of these arguments, all of them due now."""
    args = list(each)
    if not args:
        return
    new = NewJob(kind, merchant.id, args[0], request_id=request_id, order_id=order_id)
    row = _write_row(new, merchant.advancing_until, now=now - merchant.clock_offset)
    if len(args) == 1:
        _INSERT_MANY.run(db, row)
    else:
        del row["args"]
        _INSERT_ALIKE.run(db, row, [{"args": one} for one in args])
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


def _held(**changes: Any) -> Update:
    """Change jobs that are still held by the worker that reports."""
    # A job that is not running has no worker. A condition on the state as well would tempt
    # PostgreSQL to read all running jobs instead of this one.
    return _REPORT.values(changes).where(
        jobs.c.id == bindparam("claimed_id"),
        jobs.c.fence == bindparam("claimed_fence"),
        jobs.c.worker == bindparam("claimed_worker"),
    )


_DONE: Final = _REPORT.values(
    state=JobState.DONE, finished_at=bindparam("at", type_=Timestamp), last_error=None
)
# One statement for all, with the claims as one JSON text: most reports are just this.
_ARE_HELD: Final = {
    "sqlite": """(id, fence, worker) IN (
        SELECT value ->> 'id', value ->> 'fence', value ->> 'worker' FROM json_each(:claims))""",
    # The arrays make it use the index, even with a plan from when there were few jobs.
    "postgresql": """id = ANY(ARRAY(
        WITH claimed AS (SELECT * FROM json_to_recordset(CAST(:claims AS json))
            AS claim (id bigint, fence integer, worker text))
        SELECT id FROM jobs JOIN claimed USING (id, fence, worker)
        WHERE id = ANY(ARRAY(SELECT id FROM claimed)) ORDER BY id FOR UPDATE OF jobs))""",
}
_FINISH: Final = {
    dialect: PreparedStatement(_DONE.where(text(held))) for dialect, held in _ARE_HELD.items()
}
_PUT_BACK: Final = _held(
    state=bindparam("to"),
    kind=func.coalesce(bindparam("kind", type_=Text), jobs.c.kind),
    lane=func.coalesce(bindparam("lane", type_=Text), jobs.c.lane),
    due_at=bindparam("at", type_=Timestamp),
    put_back_at=bindparam("now", type_=Timestamp),
    attempts=jobs.c.attempts - bindparam("uncounted", type_=Integer),
    last_error=bindparam("error"),
)
_EXHAUST: Final = _held(
    state=JobState.FAILED,
    finished_at=bindparam("at", type_=Timestamp),
    last_error=bindparam("error"),
)
_RELEASE: Final = _held(state=JobState.DUE, attempts=jobs.c.attempts - 1)


def _report(db: Connection, change: Update, reports: Sequence[dict[str, Any]]) -> int:
    if not reports:
        return 0
    # Always in the same order: two late reports on the same jobs must not deadlock.
    return db.execute(change, sorted(reports, key=lambda line: line["claimed_id"])).rowcount


def _of(claim: Claim) -> dict[str, Any]:
    return {"claimed_id": claim.id, "claimed_fence": claim.fence, "claimed_worker": claim.worker}


def _cut(error: str) -> str:
    # A character that a database refuses must not fail the reports of a whole group.
    storable = error.replace("\0", "").encode(errors="replace").decode()
    return storable[:LONGEST_ERROR]


def finish(db: Connection, claims: Sequence[Claim], *, now: datetime) -> int:
    """Mark jobs as done; return how many. A claim that was lost changes nothing."""
    if not claims:
        return 0
    named = {"claims": msgspec.json.encode(claims).decode(), "at": now}
    return _FINISH[db.dialect.name].count(db, named)


def put_back(db: Connection, failures: Sequence[PutBack], *, now: datetime) -> int:
    """Let failed jobs wait for another attempt; return how many were still held."""
    return _report(
        db,
        _PUT_BACK,
        [
            {
                **_of(failure.claim),
                "kind": failure.kind,
                "lane": failure.lane,
                "now": now,
                "at": now + failure.wait,
                "to": JobState.SCHEDULED if failure.wait else JobState.DUE,
                "uncounted": 0 if failure.counts else 1,
                "error": _cut(failure.error),
            }
            for failure in failures
        ],
    )


def exhaust(db: Connection, failures: Sequence[Exhausted], *, now: datetime) -> int:
    """Mark jobs as failed; return how many were still held."""
    return _report(
        db,
        _EXHAUST,
        [{**_of(failure.claim), "at": now, "error": _cut(failure.error)} for failure in failures],
    )


def release(db: Connection, claims: Sequence[Claim]) -> int:
    """Return jobs unfinished, as if they had not been claimed; return how many."""
    released = _report(db, _RELEASE, [_of(claim) for claim in claims])
    if released:
        wake_workers(db)
    return released


def renew(db: Connection, claims: Sequence[Claim], *, until: datetime) -> frozenset[Claim]:
    """Extend the leases of one worker's claims; return the claims that are still held."""
    # Only what the caller names: a claim whose result got lost on the way must expire.
    if not claims:
        return frozenset()
    held = db.execute(
        update(jobs)
        .where(jobs.c.id.in_([claim.id for claim in claims]), jobs.c.worker == claims[0].worker)
        .values(lease_until=until)
        .returning(jobs.c.id, jobs.c.fence, jobs.c.worker)
    )
    return frozenset(claims) & {Claim(*row) for row in held}


def purge_jobs(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete jobs that ended before then, the oldest first; return how many."""
    return delete_oldest(db, jobs.c.finished_at, jobs.c.finished_at < before, limit=limit)
