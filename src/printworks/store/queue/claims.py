"""Claiming jobs: in turn, a few of each lane, never more than a lane allows.

A claim is one short transaction, and the claims of all workers happen one after the other:
the limit in flight holds across workers only if no worker counts while another one claims.
What a claim costs depends on what it takes, not on what is scheduled or waits in the queue:

1. make scheduled jobs due whose time has come, and return jobs whose worker died;
2. count what runs in each lane;
3. hop from lane to lane along the index of due jobs, beginning after the last lane served;
4. take the oldest jobs of the lanes that have room.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, exists, func, literal_column, select, text, update

from printworks.rules.jobs import JobState, Policy
from printworks.store.engine.columns import Timestamp
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.queue.jobs import CLAIMED, Claim, Exhausted, Job, exhaust, read_claimed
from printworks.store.tables import jobs, merchants

# The most jobs that one claim takes: SQLite allows at most 500 selects in one statement.
LARGEST_CLAIM: Final = 100
# Scheduled jobs that one claim makes due; the rest follow with the next claim.
WAKE_AT_ONCE: Final = 500
# Lanes that a claim reads beyond those it needs, in case some have kinds it does not know.
SPARE_LANES: Final = 16


class Claimant(msgspec.Struct, frozen=True, kw_only=True):
    worker: str
    # The most jobs that it can take now.
    slots: int
    # The last lane that it was served from.
    cursor: str
    # How long it holds each job unless it renews the lease.
    lease: timedelta


class Claimed(msgspec.Struct, frozen=True):
    """The result of a claim, and how to continue."""

    jobs: list[Job]
    # The last lane served: the next claim begins after it.
    cursor: str
    # Whether another claim could bring more right away.
    has_more: bool
    # When the next scheduled job is due.
    next_due_at: datetime | None


def claim(
    db: Connection, policies: Mapping[str, Policy], claimant: Claimant, *, now: datetime
) -> Claimed:
    """Take due jobs for a worker; call it in a transaction of its own.

    A job that has used up its attempts is marked as failed instead. Jobs of a kind without a policy
    stay in the queue, for a worker that knows them.
    """
    slots, cursor = min(claimant.slots, LARGEST_CLAIM), claimant.cursor
    _take_turn(db)
    woken = _wake(db, now=now)
    _return_expired(db, now=now)
    running: dict[str, int] = dict(_COUNT_RUNNING.all(db, {}))

    lanes_read = slots + len(running) + SPARE_LANES
    lanes = _list_due_lanes(db, after=cursor, limit=lanes_read)
    room = _find_room(lanes, running, policies)
    shares = share_out(slots, room)
    taken = _take(db, shares, worker=claimant.worker, lease_until=now + claimant.lease)
    spent = [job for job in taken if job.attempts > policies[job.kind].attempts]
    _fail_spent(db, spent, now=now)

    saw_all = len(lanes) < lanes_read
    next_due = _NEXT_DUE.first(db, {})
    return Claimed(
        jobs=[job for job in taken if job not in spent],
        cursor=next(reversed(shares), cursor if saw_all else lanes[-1]),
        has_more=not saw_all
        or woken == WAKE_AT_ONCE
        or len(taken) == slots
        or _left_some(taken, shares, room),
        next_due_at=next_due[0] if next_due else None,
    )


def _take_turn(db: Connection) -> None:
    # SQLite has one writer at a time anyway, PostgreSQL needs a lock. A claim need not survive a
    # crash: the jobs are simply claimed again.
    if db.dialect.name == "postgresql":
        _TAKE_TURN.run(db, {})


def _wake(db: Connection, *, now: datetime) -> int:
    ripe = db.execute(_RIPE, {"now": now}).scalars().all()
    if ripe:
        db.execute(update(jobs).where(jobs.c.id.in_(ripe)).values(state=JobState.DUE))
    return len(ripe)


def _return_expired(db: Connection, *, now: datetime) -> None:
    expired = [job_id for (job_id,) in _EXPIRED.all(db, {"now": now})]
    if expired:
        what_happened = "The worker " + jobs.c.worker + " did not report in time."
        db.execute(
            update(jobs)
            .where(jobs.c.id.in_(expired))
            .values(state=JobState.DUE, worker=None, lease_until=None, last_error=what_happened)
        )


def _find_room(
    lanes: Sequence[str], running: Mapping[str, int], policies: Mapping[str, Policy]
) -> dict[str, int]:
    known = {lane: policies.get(lane.rpartition(":")[0]) for lane in lanes}
    return {
        lane: policy.in_flight - running.get(lane, 0)
        for lane, policy in known.items()
        if policy is not None
    }


def share_out(slots: int, room: Mapping[str, int]) -> dict[str, int]:
    """Give every lane one slot in turn, until the slots or the room in the lanes run out."""
    shares: Counter[str] = Counter()
    waiting = [lane for lane in room if room[lane] > 0]
    while slots > 0 and waiting:
        served = waiting[:slots]
        shares.update(served)
        slots -= len(served)
        waiting = [lane for lane in waiting if shares[lane] < room[lane]]
    return dict(shares)


def _left_some(taken: Sequence[Job], shares: Mapping[str, int], room: Mapping[str, int]) -> bool:
    """Say whether a lane gave all that it was asked for and has room for more."""
    given = Counter(job.lane for job in taken)
    return any(given[lane] == share < room[lane] for lane, share in shares.items())


def _list_due_lanes(db: Connection, *, after: str, limit: int) -> list[str]:
    """Return the lanes in which jobs are due, in a circle that begins after `after`."""
    lanes = [lane for (lane,) in _HOP.all(db, {"after": after, "limit": limit})]
    if after and len(lanes) < limit:
        first = _HOP.all(db, {"after": "", "limit": limit - len(lanes)})
        seen = set(lanes)
        lanes += [lane for (lane,) in first if lane not in seen]
    return lanes


def _take(
    db: Connection, shares: Mapping[str, int], *, worker: str, lease_until: datetime
) -> list[Job]:
    if not shares:
        return []
    named: dict[str, Any] = {"worker": worker, "lease_until": lease_until}
    for number, (lane, share) in enumerate(shares.items()):
        named[f"lane_{number}"] = lane
        named[f"share_{number}"] = share
    rows = _take_from(len(shares), db.dialect.name).all(db, named)
    return sorted((read_claimed(row, worker) for row in rows), key=lambda job: (job.due_at, job.id))


def _fail_spent(db: Connection, spent: Sequence[Job], *, now: datetime) -> None:
    exhaust(
        db,
        [
            Exhausted(
                job.claim,
                f"Not tried again after {job.attempts - 1} attempts, the last of which did not "
                "report: its worker died or was cut off.",
            )
            for job in spent
        ],
        now=now,
    )


def find_held(db: Connection, claims: Sequence[Claim]) -> frozenset[Claim]:
    """Lock the jobs of these claims; return the claims that are still held."""
    if not claims:
        return frozenset()
    # In the order of all reports: two late ones on the same jobs must not deadlock.
    rows = db.execute(
        select(jobs.c.id, jobs.c.fence, jobs.c.worker)
        .where(jobs.c.id.in_([claim.id for claim in claims]))
        .order_by(jobs.c.id)
        .with_for_update()
    )
    return frozenset(claims) & {Claim(*row) for row in rows}


# The planner may use only the indexes made for this: plans from when the queue was empty stay
# in the connection, and were seen to cost 300 ms once it was full.
_TAKE_TURN: Final = PreparedStatement(
    text("""
    SELECT pg_advisory_xact_lock(hashtext('printworks.claim')), set_config(name, 'off', true)
    FROM unnest(ARRAY[
        'synchronous_commit', 'enable_seqscan', 'enable_bitmapscan', 'enable_sort',
        'enable_hashjoin', 'enable_mergejoin', 'jit'
    ]) AS name
""")
)

# A row that another transaction is changing is left for the next claim: a claim waits for no
# lock, so it cannot be part of a deadlock.
_RIPE: Final = (
    select(jobs.c.id)
    .where(
        jobs.c.state == literal_column("'scheduled'"),
        jobs.c.due_at <= bindparam("now"),
        # While a merchant's clock is being moved, its scheduled jobs run one by one.
        ~exists().where(
            merchants.c.id == jobs.c.merchant_id, merchants.c.advancing_until > bindparam("now")
        ),
    )
    .order_by(jobs.c.due_at)
    .limit(literal_column(str(WAKE_AT_ONCE)))
    .with_for_update(skip_locked=True, of=jobs)
)

_EXPIRED: Final = PreparedStatement(
    select(jobs.c.id)
    .where(jobs.c.state == literal_column("'running'"), jobs.c.lease_until <= bindparam("now"))
    .with_for_update(skip_locked=True)
)

_COUNT_RUNNING: Final = PreparedStatement(
    select(jobs.c.lane, func.count())
    .where(jobs.c.state == literal_column("'running'"))
    .group_by(jobs.c.lane)
)

# A plain DISTINCT would read every due row; this reads one index entry for each lane.
_HOP: Final = PreparedStatement(
    text("""
    WITH RECURSIVE hops (lane, number) AS (
        SELECT (
            SELECT lane FROM jobs WHERE state = 'due' AND lane > :after ORDER BY lane LIMIT 1
        ), 1
        UNION ALL
        SELECT (
            SELECT jobs.lane FROM jobs
            WHERE jobs.state = 'due' AND jobs.lane > hops.lane ORDER BY jobs.lane LIMIT 1
        ), number + 1
        FROM hops WHERE lane IS NOT NULL AND number < :limit
    )
    SELECT lane FROM hops WHERE lane IS NOT NULL ORDER BY number
""")
)

_NEXT_DUE: Final = PreparedStatement(
    select(jobs.c.due_at)
    .where(jobs.c.state == literal_column("'scheduled'"))
    .order_by(jobs.c.due_at)
    .limit(literal_column("1"))
)


@lru_cache(maxsize=2 * LARGEST_CLAIM)
def _take_from(lanes: int, dialect: str) -> PreparedStatement:
    """Return the statement that takes jobs from this many lanes."""
    is_postgresql = dialect == "postgresql"
    skip_locked = "FOR UPDATE SKIP LOCKED" if is_postgresql else ""
    # The array keeps PostgreSQL from reading all jobs to see whether each is taken.
    is_taken = "id = ANY(ARRAY(SELECT id FROM taken))" if is_postgresql else "id IN taken"
    # Nothing but these constants and numbers becomes part of the SQL.
    from_each = " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM jobs WHERE state = 'due' AND lane = :lane_{number}"  # noqa: S608
        f" ORDER BY due_at, id LIMIT :share_{number} {skip_locked}) AS lane_{number}"
        for number in range(lanes)
    )
    return PreparedStatement(
        text(f"""
            WITH taken AS ({from_each})
            UPDATE jobs SET state = 'running', worker = :worker, lease_until = :lease_until,
                attempts = attempts + 1, fence = fence + 1
            WHERE {is_taken}
            RETURNING id, fence, kind, merchant_id, args, attempts, due_at, request_id
        """)  # noqa: S608
        .bindparams(bindparam("lease_until", type_=Timestamp))
        .columns(*CLAIMED)
    )
