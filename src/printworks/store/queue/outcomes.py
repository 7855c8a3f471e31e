"""What becomes of jobs, as reported by the worker that holds them.

A claim that was lost changes nothing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Integer, Text, Update, bindparam, func, text, update

from printworks.rules.jobs import JobState
from printworks.store.engine.columns import Timestamp
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.queue.jobs import Claim, wake_workers
from printworks.store.tables import jobs

# The part of an error that is stored: enough to understand it, too little to fill the disk.
LONGEST_ERROR: Final = 2000


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


_REPORT: Final = update(jobs).values(worker=None, lease_until=None)


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
