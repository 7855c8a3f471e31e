"""Claiming jobs: in turn, a few of each lane, never more than a lane allows.

What a claim costs depends on what it takes, not on what is scheduled or waits in the queue:

1. look, with one statement: count what runs in each lane, and hop from lane to lane along the
   index of due jobs, beginning after the last lane served;
2. if there are any, make scheduled jobs due whose time has come, return jobs whose worker died,
   and look again;
3. take the oldest jobs of the lanes that have room, with another statement.

The limit in flight holds across workers only if no worker counts while another one takes. SQLite
has one writer anyway. On PostgreSQL workers look at the same time and take one after the other,
under a lock, counting once more. Lock, statement and commit are sent together: while a worker has
the lock, nobody waits for its process to get a processor.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    Connection,
    bindparam,
    column,
    exists,
    literal_column,
    select,
    text,
    update,
)

from printworks.rules.jobs import JobState, Policy
from printworks.store.engine.columns import Timestamp
from printworks.store.engine.prepared import PreparedStatement, is_one_of, write_list
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


class _Seen(NamedTuple):
    """The queue as a claim finds it."""

    has_expired: bool
    next_due_at: datetime | None
    running: dict[str, int]
    # The lanes in which jobs are due, behind the last lane served and up to it.
    lanes_after: list[str]
    lanes_before: list[str]


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
    """Take due jobs for a worker; call it in a transaction of its own, which it may commit.

    A job that has used up its attempts is marked as failed instead. Jobs of a kind without a policy
    stay in the queue, for a worker that knows them.
    """
    slots, cursor = min(claimant.slots, LARGEST_CLAIM), claimant.cursor
    _plan_carefully(db)
    seen = _look(db, claimant, now=now)
    woken = _wake(db, now=now) if seen.next_due_at and seen.next_due_at <= now else 0
    returned = _return_expired(db, now=now) if seen.has_expired else 0
    if woken or returned:
        seen = _look(db, claimant, now=now)

    most_lanes = slots + len(seen.running) + SPARE_LANES
    lanes = (seen.lanes_after + seen.lanes_before)[:most_lanes]
    room = _find_room(lanes, seen.running, policies)
    shares = share_out(slots, room)
    taken = _take(db, shares, policies, claimant, now=now)
    spent = [job for job in taken if job.attempts > policies[job.kind].attempts]
    _fail_spent(db, spent, now=now)

    saw_all = len(lanes) < most_lanes
    return Claimed(
        jobs=[job for job in taken if job not in spent],
        cursor=next(reversed(shares), cursor if saw_all else lanes[-1]),
        has_more=not saw_all
        or woken == WAKE_AT_ONCE
        or len(taken) == slots
        or _left_some(taken, shares, room),
        next_due_at=seen.next_due_at,
    )


def _plan_carefully(db: Connection) -> None:
    if db.dialect.name == "postgresql":
        _PLAN_CAREFULLY.run(db, {})


def _look(db: Connection, claimant: Claimant, *, now: datetime) -> _Seen:
    beyond = min(claimant.slots, LARGEST_CLAIM) + SPARE_LANES
    values = {"now": now, "after": claimant.cursor, "beyond": beyond}
    has_expired, next_due_at, running, *lanes = _LOOK[db.dialect.name].one(db, values)
    after, before = (msgspec.json.decode(found) if found else [] for found in lanes)
    return _Seen(
        has_expired=bool(has_expired),
        next_due_at=next_due_at,
        running=msgspec.json.decode(running) if running else {},
        lanes_after=after,
        lanes_before=before,
    )


def _wake(db: Connection, *, now: datetime) -> int:
    ripe = db.execute(_RIPE, {"now": now}).scalars().all()
    if ripe:
        db.execute(update(jobs).where(jobs.c.id.in_(ripe)).values(state=JobState.DUE))
    return len(ripe)


def _return_expired(db: Connection, *, now: datetime) -> int:
    expired = [job_id for (job_id,) in _EXPIRED.all(db, {"now": now})]
    if expired:
        what_happened = "The worker " + jobs.c.worker + " did not report in time."
        db.execute(
            update(jobs)
            .where(jobs.c.id.in_(expired))
            .values(state=JobState.DUE, worker=None, lease_until=None, last_error=what_happened)
        )
    return len(expired)


def _find_room(
    lanes: Sequence[str], running: Mapping[str, int], policies: Mapping[str, Policy]
) -> dict[str, int]:
    known = {lane: policies.get(_kind_of(lane)) for lane in lanes}
    return {
        lane: policy.in_flight - running.get(lane, 0)
        for lane, policy in known.items()
        if policy is not None
    }


def _kind_of(lane: str) -> str:
    return lane.rpartition(":")[0]


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


def _take(
    db: Connection,
    shares: Mapping[str, int],
    policies: Mapping[str, Policy],
    claimant: Claimant,
    *,
    now: datetime,
) -> list[Job]:
    if not shares:
        return []
    named: dict[str, Any] = {"worker": claimant.worker, "lease_until": now + claimant.lease}
    if db.dialect.name == "postgresql":
        asked = [
            {"lane": lane, "most": share, "in_flight": policies[_kind_of(lane)].in_flight}
            for lane, share in shares.items()
        ]
        named["shares"] = msgspec.json.encode(asked).decode()
        rows = _TAKE.commit_after(_TAKE_TURN, db, named)
    else:
        for number, (lane, share) in enumerate(shares.items()):
            named[f"lane_{number}"] = lane
            named[f"share_{number}"] = share
        rows = _take_from(len(shares)).all(db, named)
    taken = (read_claimed(row, claimant.worker) for row in rows)
    return sorted(taken, key=lambda job: (job.due_at, job.id))


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
    rows = _LOCK.all(db, {"ids": write_list(claim.id for claim in claims)})
    return frozenset(claims) & {Claim(*row) for row in rows}


# In the order of all reports: two late ones on the same jobs must not deadlock.
_LOCK: Final = PreparedStatement(
    select(jobs.c.id, jobs.c.fence, jobs.c.worker)
    .where(is_one_of(jobs.c.id, "ids"))
    .order_by(jobs.c.id)
    .with_for_update()
)

# The planner may use only the indexes made for this: plans from when the queue was empty stay
# in the connection, and were seen to cost 300 ms once it was full.
# A claim need not survive a crash either: the jobs are simply claimed again.
_PLAN_CAREFULLY: Final = PreparedStatement(
    text("""
    SELECT set_config(name, 'off', true)
    FROM unnest(ARRAY[
        'synchronous_commit', 'enable_seqscan', 'enable_bitmapscan', 'enable_sort',
        'enable_hashjoin', 'enable_mergejoin', 'jit'
    ]) AS name
""")
)

_TAKE_TURN: Final = PreparedStatement(
    text("SELECT pg_advisory_xact_lock(hashtext('printworks.claim'))")
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

# A plain DISTINCT would read every due row; this reads one index entry for each lane.
_HOP: Final = """(lane, number) AS (
    SELECT (
        SELECT lane FROM jobs WHERE state = 'due' AND {first} ORDER BY lane LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT jobs.lane FROM jobs
        WHERE jobs.state = 'due' AND jobs.lane > hops.lane AND {all} ORDER BY jobs.lane LIMIT 1
    ), number + 1
    FROM {name} AS hops
    WHERE lane IS NOT NULL AND number < :beyond + (SELECT count(*) FROM running)
)"""
_AFTER: Final = _HOP.format(name="after_it", first="lane > :after", all="TRUE")
_BEFORE: Final = _HOP.format(name="before_it", first="lane <= :after", all="jobs.lane <= :after")


def _write_look(make_list: str, make_object: str) -> PreparedStatement:
    """Return the statement that looks, with the names of a database's functions for JSON."""
    # Nothing but these constants becomes part of the SQL.
    return PreparedStatement(
        text(f"""
            WITH RECURSIVE running AS (
                SELECT lane, count(*) AS number FROM jobs WHERE state = 'running' GROUP BY lane
            ), after_it {_AFTER}, before_it {_BEFORE}
            SELECT
                EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND lease_until <= :now),
                (SELECT due_at FROM jobs WHERE state = 'scheduled' ORDER BY due_at LIMIT 1),
                (SELECT CAST({make_object}(lane, number) AS text) FROM running),
                (SELECT CAST({make_list}(lane ORDER BY number) AS text)
                    FROM after_it WHERE lane IS NOT NULL),
                (SELECT CAST({make_list}(lane ORDER BY number) AS text)
                    FROM before_it WHERE lane IS NOT NULL)
        """)  # noqa: S608
        .bindparams(bindparam("now", type_=Timestamp))
        .columns(
            column("has_expired"),
            column("next_due_at", Timestamp),
            *(column(name) for name in ("running", "lanes_after", "lanes_before")),
        )
    )


_LOOK: Final = {
    "sqlite": _write_look("json_group_array", "json_group_object"),
    "postgresql": _write_look("json_agg", "json_object_agg"),
}

_RETURNED: Final = "id, fence, kind, merchant_id, args, attempts, due_at, request_id"
_CLAIM: Final = """UPDATE jobs SET state = 'running', worker = :worker, lease_until = :lease_until,
    attempts = attempts + 1, fence = fence + 1"""


def _write_take(sql: str) -> PreparedStatement:
    lease_until = bindparam("lease_until", type_=Timestamp)
    return PreparedStatement(text(sql).bindparams(lease_until).columns(*CLAIMED))


# The array keeps PostgreSQL from reading all jobs to see whether each is taken.
_TAKE: Final = _write_take(f"""
    WITH taken AS (
        SELECT oldest.id
        FROM json_to_recordset(CAST(:shares AS json))
            AS share (lane text, most integer, in_flight integer),
        LATERAL (
            SELECT id FROM jobs WHERE state = 'due' AND lane = share.lane
            ORDER BY due_at, id
            LIMIT greatest(0, least(share.most, share.in_flight - (
                SELECT count(*) FROM jobs WHERE state = 'running' AND lane = share.lane)))
            FOR UPDATE SKIP LOCKED
        ) AS oldest
    )
    {_CLAIM} WHERE id = ANY(ARRAY(SELECT id FROM taken)) RETURNING {_RETURNED}
""")  # noqa: S608


@lru_cache(maxsize=LARGEST_CLAIM)
def _take_from(lanes: int) -> PreparedStatement:
    """Return the statement that takes jobs from this many lanes: SQLite has no LATERAL."""
    # Nothing but these constants and numbers becomes part of the SQL.
    from_each = " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM jobs WHERE state = 'due' AND lane = :lane_{number}"  # noqa: S608
        f" ORDER BY due_at, id LIMIT :share_{number}) AS lane_{number}"
        for number in range(lanes)
    )
    return _write_take(f"""
        WITH taken AS ({from_each}) {_CLAIM} WHERE id IN taken RETURNING {_RETURNED}
    """)
