"""The queue: promised in the caller's transaction, reported by whoever holds the claim.

Taking jobs out of the queue has a file of its own, `claims.py`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import (
    Connection,
    Integer,
    Interval,
    Row,
    Update,
    bindparam,
    func,
    insert,
    literal,
    literal_column,
    select,
    text,
    type_coerce,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from printworks.errors import NotFound, WrongState
from printworks.rules.jobs import MAY_CANCEL, MAY_RETRY, JobState
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.columns import Timestamp, spelled_out
from printworks.store.tables import jobs, merchants

# The channel on which PostgreSQL tells the workers that something is due.
CHANNEL: Final = "printworks_jobs"
# What is kept of an error: enough to understand it, too little to fill the disk.
LONGEST_ERROR: Final = 2000

JobRow: TypeAlias = Row[Any]


class Claim(msgspec.Struct, frozen=True):
    """The right to report on a job, until somebody else claims it.

    The worker is part of it for one case: when PostgreSQL crashes and forgets the last
    moments of claims, two workers can come to hold the same job with the same fence.
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

    @property
    def id(self) -> int:
        """The job's number."""
        return self.claim.id

    @property
    def lane(self) -> str:
        """Where it waited."""
        return lane_of(self.kind, self.merchant_id)


class PutBack(msgspec.Struct, frozen=True):
    """A failed attempt that will be followed by another."""

    claim: Claim
    wait: timedelta
    error: str
    # Whether it was one of the attempts that the job has.
    counts: bool = True


class Exhausted(msgspec.Struct, frozen=True):
    """A failed attempt that was the last."""

    claim: Claim
    error: str


_ENQUEUE: Final = {
    "sqlite": sqlite.insert(jobs)
    .on_conflict_do_nothing(index_elements=[jobs.c.dedupe_key])
    .returning(jobs.c.id),
    "postgresql": postgresql.insert(jobs)
    .on_conflict_do_nothing(index_elements=[jobs.c.dedupe_key])
    .returning(jobs.c.id),
}
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
) -> int | None:
    """Promise that a job will run; return its id, or None if its dedupe key is taken.

    `now` is the merchant's time. The queue itself lives in real time.
    """
    real_now = now - merchant.clock_offset if merchant else now
    is_due = wait <= timedelta(0) and not _is_advancing(merchant, real_now)
    job_id = db.execute(
        _ENQUEUE[db.dialect.name],
        {
            "kind": kind,
            "merchant_id": merchant.id if merchant else None,
            "lane": lane_of(kind, merchant.id if merchant else None),
            "args": dict(args),
            "state": JobState.DUE if is_due else JobState.SCHEDULED,
            "due_at": real_now + wait,
            "dedupe_key": dedupe_key,
            "request_id": request_id,
            "created_at": real_now,
        },
    ).scalar()
    if is_due and job_id is not None:
        wake_workers(db)
    return job_id


def enqueue_each(
    db: Connection,
    kind: str,
    each: Sequence[Mapping[str, Any]],
    *,
    merchant: Merchant,
    now: datetime,
    request_id: str | None = None,
) -> None:
    """Promise a job of the same kind for each of these arguments, all of them due now."""
    if not each:
        return
    real_now = now - merchant.clock_offset
    is_due = not _is_advancing(merchant, real_now)
    db.execute(
        insert(jobs),
        [
            {
                "kind": kind,
                "merchant_id": merchant.id,
                "lane": lane_of(kind, merchant.id),
                "args": dict(args),
                "state": JobState.DUE if is_due else JobState.SCHEDULED,
                "due_at": real_now,
                "request_id": request_id,
                "created_at": real_now,
            }
            for args in each
        ],
    )
    wake_workers(db)


def _is_advancing(merchant: Merchant | None, now: datetime) -> bool:
    """Whether somebody moves the merchant's clock, and wakes its sleepers one by one."""
    until = merchant.advancing_until if merchant else None
    return until is not None and until > now


def lane_of(kind: str, merchant_id: int | None) -> str:
    """Name the lane in which jobs of one kind and merchant wait."""
    return f"{kind}:{'' if merchant_id is None else merchant_id}"


def wake_workers(db: Connection) -> None:
    """Tell the workers, once this transaction commits, that something is due."""
    # SQLite's workers see by themselves that somebody has committed.
    if db.dialect.name == "postgresql":
        db.execute(select(func.pg_notify(CHANNEL, "")))


def _held(**changes: Any) -> Update:
    """Change jobs that are still in the hands of the one who reports."""
    # A job that does not run has no worker. Asking for its state as well would tempt
    # PostgreSQL to read all running jobs instead of this one.
    return _REPORT.values(changes).where(
        jobs.c.id == bindparam("claimed_id"),
        jobs.c.fence == bindparam("claimed_fence"),
        jobs.c.worker == bindparam("claimed_worker"),
    )


_DONE: Final = _REPORT.values(
    state=JobState.DONE, finished_at=bindparam("at", type_=Timestamp), last_error=None
)
# One statement for all, with the claims as one JSON text: most reports say no more than this.
_ARE_HELD: Final = {
    "sqlite": """(id, fence, worker) IN (
        SELECT value ->> 'id', value ->> 'fence', value ->> 'worker' FROM json_each(:claims))""",
    # The arrays make it use the index, even with a plan from a time when there were few jobs.
    "postgresql": """id = ANY(ARRAY(
        WITH claimed AS (SELECT * FROM json_to_recordset(CAST(:claims AS json))
            AS claim (id bigint, fence integer, worker text))
        SELECT id FROM jobs JOIN claimed USING (id, fence, worker)
        WHERE id = ANY(ARRAY(SELECT id FROM claimed)) ORDER BY id FOR UPDATE OF jobs))""",
}
_FINISH: Final = {dialect: _DONE.where(text(held)) for dialect, held in _ARE_HELD.items()}
_PUT_BACK: Final = _held(
    state=bindparam("to"),
    due_at=bindparam("at", type_=Timestamp),
    attempts=jobs.c.attempts - bindparam("uncounted", type_=Integer),
    last_error=bindparam("error"),
)
_GIVE_UP: Final = _held(
    state=JobState.FAILED,
    finished_at=bindparam("at", type_=Timestamp),
    last_error=bindparam("error"),
)
_RELEASE: Final = _held(state=JobState.DUE, attempts=jobs.c.attempts - 1)


def _report(db: Connection, change: Update, reports: Sequence[dict[str, Any]]) -> int:
    if not reports:
        return 0
    # In one order everywhere: two late reports on the same jobs must not wait for each other.
    return db.execute(change, sorted(reports, key=lambda line: line["claimed_id"])).rowcount


def _of(claim: Claim) -> dict[str, Any]:
    return {
        "claimed_id": claim.id,
        "claimed_fence": claim.fence,
        "claimed_worker": claim.worker,
    }


def _cut(error: str) -> str:
    # A database that refuses a character must not keep a whole group from being reported.
    storable = error.replace("\0", "").encode(errors="replace").decode()
    return storable[:LONGEST_ERROR]


def finish(db: Connection, claims: Sequence[Claim], *, now: datetime) -> int:
    """Mark jobs as done; return how many, for a claim that was lost changes nothing."""
    if not claims:
        return 0
    named = {"claims": msgspec.json.encode(claims).decode(), "at": now}
    return db.execute(_FINISH[db.dialect.name], named).rowcount


def put_back(db: Connection, failures: Sequence[PutBack], *, now: datetime) -> int:
    """Let failed jobs wait for another try; return how many were still held."""
    return _report(
        db,
        _PUT_BACK,
        [
            {
                **_of(failure.claim),
                "at": now + failure.wait,
                "to": JobState.SCHEDULED if failure.wait else JobState.DUE,
                "uncounted": 0 if failure.counts else 1,
                "error": _cut(failure.error),
            }
            for failure in failures
        ],
    )


def exhaust(db: Connection, failures: Sequence[Exhausted], *, now: datetime) -> int:
    """Mark jobs as failed for good; return how many were still held."""
    return _report(
        db,
        _GIVE_UP,
        [{**_of(failure.claim), "at": now, "error": _cut(failure.error)} for failure in failures],
    )


def release(db: Connection, claims: Sequence[Claim]) -> int:
    """Hand jobs back unfinished as if they had not been claimed; return how many."""
    released = _report(db, _RELEASE, [_of(claim) for claim in claims])
    if released:
        wake_workers(db)
    return released


def renew(db: Connection, claims: Sequence[Claim], *, until: datetime) -> frozenset[Claim]:
    """Extend the leases of one worker's claims; return the claims that are still held."""
    # Only what the caller names: a claim whose answer got lost on the way must run out.
    if not claims:
        return frozenset()
    held = db.execute(
        update(jobs)
        .where(jobs.c.id.in_([claim.id for claim in claims]), jobs.c.worker == claims[0].worker)
        .values(lease_until=until)
        .returning(jobs.c.id, jobs.c.fence, jobs.c.worker)
    )
    return frozenset(claims) & {Claim(*row) for row in held}


def bring_forward(db: Connection, merchant_id: int, by: timedelta) -> int:
    """Let a merchant's sleepers wake earlier; return how many there are."""
    due_at = jobs.c.due_at - literal(by, Interval)
    if db.dialect.name == "sqlite":
        # SQLite reckons in milliseconds: the last three digits stay as they are.
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


_LISTED: Final = select(jobs, merchants.c.code.label("merchant")).join_from(
    jobs, merchants, isouter=True
)


def get_job(db: Connection, job_id: int) -> JobRow:
    """Return everything that is known about a job; `merchant` is the merchant's code."""
    row = None
    if 0 < job_id < 2**63:
        row = db.execute(_LISTED.where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        message = f"There is no job {job_id}."
        raise NotFound(message)
    return row


def list_jobs(
    db: Connection,
    *,
    state: JobState | None = None,
    kind: str | None = None,
    merchant: str | None = None,
    limit: int,
) -> Sequence[JobRow]:
    """Return the newest jobs, newest first; `merchant` is a merchant's code."""
    wanted = _LISTED.order_by(jobs.c.id.desc()).limit(limit)
    if state is not None:
        wanted = wanted.where(jobs.c.state == spelled_out(state))
    if kind is not None:
        wanted = wanted.where(jobs.c.kind == kind)
    if merchant is not None:
        wanted = wanted.where(merchants.c.code == merchant)
    return db.execute(wanted).all()


def retry_job(db: Connection, job_id: int, *, now: datetime) -> None:
    """Let a job that failed, was cancelled or still sleeps run now, with all its attempts."""
    _change(
        db,
        job_id,
        MAY_RETRY,
        to=JobState.DUE,
        due_at=now,
        attempts=0,
        finished_at=None,
    )
    wake_workers(db)


def cancel_job(db: Connection, job_id: int, *, now: datetime) -> None:
    """Call off a job that nobody has begun, or that was given up."""
    _change(db, job_id, MAY_CANCEL, to=JobState.CANCELLED, finished_at=now)


def _change(
    db: Connection, job_id: int, allowed: frozenset[JobState], *, to: JobState, **changes: Any
) -> None:
    # Raises if there is none; a number that no column holds would not even be looked for.
    get_job(db, job_id)
    changed = db.execute(
        update(jobs)
        .where(jobs.c.id == job_id, jobs.c.state.in_(allowed))
        .values(state=to, **changes)
    )
    if changed.rowcount == 0:
        message = f"A job that is {get_job(db, job_id).state} cannot become {to}."
        raise WrongState(message)
