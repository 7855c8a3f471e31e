"""Claiming jobs: in turn, a few of each lane, never more than a lane allows.

What a claim costs depends on what it takes, not on what is scheduled or waits in the queue:

1. look, with one statement: count what runs in each lane, and hop from lane to lane along the
   index of due jobs, in each pool that has free slots, beginning after the last lane served there;
2. if there are any, make scheduled jobs due whose time has come, and look again;
3. take the oldest jobs of the lanes that have room, with another statement.

The limit in flight holds across workers only if no worker counts while another one takes. SQLite
has one writer anyway. On PostgreSQL workers look at the same time and take one after the other,
under a lock, counting once more. Lock, statement and commit are sent together: while a worker has
the lock, nobody waits for its process to get a processor.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
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
from printworks.rules.pools import Pool
from printworks.store.engine.columns import Timestamp
from printworks.store.engine.prepared import PreparedStatement, is_one_of, write_list
from printworks.store.queue.jobs import CLAIMED, Claim, Job, read_claimed
from printworks.store.queue.outcomes import Exhausted, exhaust
from printworks.store.queue.shares import Room, find_last, go_round, kind_of, share_out
from printworks.store.tables import jobs, merchants

# The most jobs that one claim takes for each pool, and the most lanes that it takes them from:
# SQLite allows at most 500 selects in one statement.
LARGEST_CLAIM: Final = 100
MOST_LANES: Final = 500
# Scheduled jobs that one claim makes due; the rest follow with the next claim.
WAKE_AT_ONCE: Final = 500
# Lanes that a claim reads beyond those it needs, in case some are in doubt.
SPARE_LANES: Final = 16


class Claimant(msgspec.Struct, frozen=True, kw_only=True):
    worker: str
    # What it has room for now.
    rooms: Mapping[Pool, Room]
    # How long it holds each job unless it renews the lease.
    lease: timedelta
    # The lanes whose servers have answered it quickly.
    proven: Container[str] = ()


class _Seen(NamedTuple):
    """The queue as a claim finds it."""

    next_due_at: datetime | None
    running: dict[str, int]
    # The lanes in which jobs are due, behind the last lane served in each pool and up to it.
    lanes: list[str]


class Claimed(msgspec.Struct, frozen=True):
    """The result of a claim, and how to continue."""

    jobs: list[Job]
    # The last lane served in each pool: the next claim begins after it.
    cursors: Mapping[Pool, str]
    # The pools in which more are due than there were slots for.
    more: frozenset[Pool]
    # The pools in which other lanes may have more right away.
    unseen: frozenset[Pool]
    # When the next scheduled job is due.
    next_due_at: datetime | None


def claim(
    db: Connection, policies: Mapping[str, Policy], claimant: Claimant, *, now: datetime
) -> Claimed:
    """Take due jobs for a worker; call it in a transaction of its own, which it may commit.

    A job that has used up its attempts is marked as failed instead. Jobs of a kind without a policy
    stay in the queue, for a worker that knows them.
    """
    rooms = _limit(claimant.rooms)
    asked = _ask(rooms, policies)
    _plan_carefully(db)
    seen = _look(db, asked)
    woken = _wake(db, now=now) if seen.next_due_at and seen.next_due_at <= now else 0
    if woken:
        seen = _look(db, asked)

    room = _find_room(seen, rooms, policies)
    shares = {pool: share_out(rooms[pool], room[pool], claimant.proven) for pool in rooms}
    every_share = {lane: share for of_pool in shares.values() for lane, share in of_pool.items()}
    taken = _take(db, every_share, policies, claimant, now=now)
    spent = [job for job in taken if job.attempts > policies[job.kind].attempts]
    _fail_spent(db, spent, now=now)

    given = Counter(job.lane for job in taken)
    # The slots that are left are not for those that were seen.
    unseen = {
        pool: next(reversed(room[pool]))
        for pool, free in rooms.items()
        if len(room[pool]) == _most_lanes(free, seen) and sum(shares[pool].values()) < free.slots
    }
    return Claimed(
        jobs=[job for job in taken if job not in spent],
        cursors={
            pool: find_last(shares[pool], claimant.proven, unseen.get(pool)) or free.cursor
            for pool, free in rooms.items()
        },
        more=frozenset(
            pool
            for pool in rooms
            if woken == WAKE_AT_ONCE or _left_some(given, shares[pool], room[pool])
        ),
        unseen=frozenset(unseen),
        next_due_at=seen.next_due_at,
    )


def _limit(rooms: Mapping[Pool, Room]) -> dict[Pool, Room]:
    """Return the rooms that have slots, with no more of them than one claim can fill."""
    slots = {pool: min(room.slots, LARGEST_CLAIM) for pool, room in rooms.items() if room.slots > 0}
    if sum(slots.values()) > MOST_LANES:
        slots = {pool: min(number, MOST_LANES // len(slots)) for pool, number in slots.items()}
    return {pool: rooms[pool]._replace(slots=number) for pool, number in slots.items()}


def _ask(rooms: Mapping[Pool, Room], policies: Mapping[str, Policy]) -> str:
    """Return where to look: through the kinds of each pool, once around from the last lane."""
    kinds: dict[Pool, list[str]] = {pool: [] for pool in rooms}
    for kind in sorted(policies):
        if policies[kind].pool in rooms:
            kinds[policies[kind].pool].append(kind)
    ranges = [
        (above, upto, rooms[pool].slots + SPARE_LANES)
        for pool in rooms
        for above, upto in go_round(kinds[pool], rooms[pool].cursor)
    ]
    return msgspec.json.encode(
        [
            {"turn": turn, "above": above, "upto": upto, "most": most}
            for turn, (above, upto, most) in enumerate(ranges)
        ]
    ).decode()


def _plan_carefully(db: Connection) -> None:
    if db.dialect.name == "postgresql":
        _PLAN_CAREFULLY.run(db, {})


def _look(db: Connection, asked: str) -> _Seen:
    next_due_at, running, lanes = _LOOK[db.dialect.name].one(db, {"asked": asked})
    return _Seen(
        next_due_at=next_due_at,
        running=msgspec.json.decode(running) if running else {},
        lanes=msgspec.json.decode(lanes) if lanes else [],
    )


def _wake(db: Connection, *, now: datetime) -> int:
    ripe = db.execute(_RIPE, {"now": now}).scalars().all()
    if ripe:
        db.execute(update(jobs).where(jobs.c.id.in_(ripe)).values(state=JobState.DUE))
    return len(ripe)


def _find_room(
    seen: _Seen, rooms: Mapping[Pool, Room], policies: Mapping[str, Policy]
) -> dict[Pool, dict[str, int]]:
    """Return how many more jobs may run in each lane in which some are due, by pool."""
    room: dict[Pool, dict[str, int]] = {pool: {} for pool in rooms}
    for lane in seen.lanes:
        policy = policies[kind_of(lane)]
        if len(room[policy.pool]) < _most_lanes(rooms[policy.pool], seen):
            room[policy.pool][lane] = policy.in_flight - seen.running.get(lane, 0)
    return room


def _most_lanes(free: Room, seen: _Seen) -> int:
    """Return how many lanes are read: as many as could be full, as many as slots, and some."""
    return free.slots + SPARE_LANES + len(seen.running)


def _left_some(given: Counter[str], shares: Mapping[str, int], room: Mapping[str, int]) -> bool:
    """Say whether a lane has room that it was not given, or gave all and has room for more."""
    return any(given[lane] == shares.get(lane, 0) < most for lane, most in room.items() if most > 0)


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
    named: dict[str, Any] = {
        "worker": claimant.worker,
        "lease_until": now + claimant.lease,
        "lease_seconds": claimant.lease.total_seconds(),
    }
    if db.dialect.name == "postgresql":
        asked = [
            {"lane": lane, "most": share, "in_flight": policies[kind_of(lane)].in_flight}
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

# A plain DISTINCT would read every due row; this reads one index entry for each lane. As many lanes
# are read as could be full, and then as many as there are slots.
_FIRST: Final = """SELECT lane FROM jobs
    WHERE state = 'due' AND lane > asked.above AND lane <= asked.upto ORDER BY lane LIMIT 1"""
_NEXT: Final = """SELECT jobs.lane FROM jobs
    WHERE jobs.state = 'due' AND jobs.lane > hops.lane AND jobs.lane <= hops.upto
    ORDER BY jobs.lane LIMIT 1"""


def _write_look(read_asked: str, make_list: str, make_object: str) -> PreparedStatement:
    """Return the statement that looks, with the names of a database's functions for JSON."""
    # Nothing but these constants becomes part of the SQL.
    return PreparedStatement(
        text(f"""
            WITH RECURSIVE running AS (
                SELECT lane, count(*) AS number FROM jobs WHERE state = 'running' GROUP BY lane
            ), asked AS ({read_asked}), hops (turn, lane, upto, most, number) AS (
                SELECT turn, ({_FIRST}), upto, most + (SELECT count(*) FROM running), 1 FROM asked
                UNION ALL
                SELECT turn, ({_NEXT}), upto, most, number + 1
                FROM hops WHERE lane IS NOT NULL AND number < most
            )
            SELECT
                (SELECT due_at FROM jobs WHERE state = 'scheduled' ORDER BY due_at LIMIT 1),
                (SELECT CAST({make_object}(lane, number) AS text) FROM running),
                (SELECT CAST({make_list}(lane ORDER BY turn, number) AS text)
                    FROM hops WHERE lane IS NOT NULL)
        """).columns(  # noqa: S608
            column("next_due_at", Timestamp),
            *(column(name) for name in ("running", "lanes")),
        )
    )


_LOOK: Final = {
    "sqlite": _write_look(
        """SELECT value ->> 'turn' AS turn, value ->> 'above' AS above, value ->> 'upto' AS upto,
            value ->> 'most' AS most FROM json_each(:asked)""",
        "json_group_array",
        "json_group_object",
    ),
    "postgresql": _write_look(
        """SELECT * FROM json_to_recordset(CAST(:asked AS json))
            AS ask (turn integer, above text, upto text, most bigint)""",
        "json_agg",
        "json_object_agg",
    ),
}

_RETURNED: Final = "id, fence, kind, merchant_id, args, attempts, due_at, request_id, trace_parent"
_CLAIM: Final = """UPDATE jobs SET state = 'running', worker = :worker, lease_until = :lease_until,
    lease_seconds = :lease_seconds, attempts = attempts + 1, fence = fence + 1"""


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


@lru_cache(maxsize=MOST_LANES)
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
