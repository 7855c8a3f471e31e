"""Claiming: in turn, within the limits, and never the same job twice at a time."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text

from printworks.rules.pools import Pool
from printworks.store.engine.database import Database
from printworks.store.queue.claims import (
    LARGEST_CLAIM,
    MOST_LANES,
    WAKE_AT_ONCE,
    Claimant,
    Claimed,
    claim,
)
from printworks.store.queue.outcomes import finish, release
from printworks.store.queue.shares import Room, go_round, kind_of, share_out
from printworks.store.tables import jobs
from tests.factories import NOON
from tests.worker.hosts import wait_until
from tests.worker.queues import (
    KIND,
    LEASE,
    a_policy,
    add_merchant,
    claim_one,
    claim_some,
    enqueue_many,
    enqueue_one,
    find_cursor,
    list_states,
    read,
)

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


def test_an_empty_queue_gives_nothing(database: Database) -> None:
    claimed = claim_some(database)

    assert claimed.jobs == []
    assert not claimed.more
    assert claimed.next_due_at is None


def test_a_scheduled_job_is_not_claimed_before_it_is_due(database: Database) -> None:
    enqueue_one(database, wait=HOUR)

    too_early = claim_some(database, now=NOON + HOUR - SECOND)
    in_time = claim_some(database, now=NOON + HOUR)

    assert too_early.jobs == []
    assert too_early.next_due_at == NOON + HOUR
    assert len(in_time.jobs) == 1


def test_the_oldest_of_a_lane_come_first(database: Database) -> None:
    later = enqueue_one(database, now=NOON + SECOND)
    sooner = enqueue_one(database, now=NOON)

    claimed = claim_some(database, now=NOON + SECOND)

    assert [job.id for job in claimed.jobs] == [sooner, later]


def test_a_claimed_job_is_not_claimed_again(database: Database) -> None:
    enqueue_many(database, 10)

    first = claim_some(database, 6, worker="first")
    second = claim_some(database, 6, worker="second")

    taken = [job.id for job in (*first.jobs, *second.jobs)]
    assert len(first.jobs) == 6
    assert len(taken) == len(set(taken)) == 10


def test_more_sleepers_than_one_claim_wakes_all_wake_in_the_end(database: Database) -> None:
    with database.writing() as db:
        db.execute(
            jobs.insert(),
            [
                {
                    "kind": KIND,
                    "lane": f"{KIND}:",
                    "args": {},
                    "state": "scheduled",
                    "due_at": NOON,
                    "created_at": NOON,
                }
            ]
            * (WAKE_AT_ONCE + 1),
        )

    first = claim_some(database, 1, in_flight=1)
    claim_some(database, 1, in_flight=1)

    assert first.more
    assert Counter(list_states(database)) == {"due": WAKE_AT_ONCE, "running": 1}


class TestLimits:
    def test_a_merchant_has_no_more_in_flight_than_its_kind_allows(
        self, database: Database
    ) -> None:
        busy, other = add_merchant(database, "Busy"), add_merchant(database, "Other")
        enqueue_many(database, 10, busy)
        enqueue_many(database, 10, other)

        first = claim_some(database, in_flight=3)
        second = claim_some(database, in_flight=3, worker="second")

        per_merchant = Counter(job.merchant_id for job in first.jobs)
        assert per_merchant == {busy.id: 3, other.id: 3}
        assert second.jobs == []
        assert not second.more

    def test_a_finished_job_makes_room_for_the_next(self, database: Database) -> None:
        enqueue_many(database, 3)
        first = claim_some(database, in_flight=1)

        with database.writing() as db:
            finish(db, [job.claim for job in first.jobs], now=NOON)

        assert len(claim_some(database, in_flight=1).jobs) == 1

    def test_the_limit_holds_when_workers_claim_at_the_same_time(self, database: Database) -> None:
        merchants = [add_merchant(database, name) for name in ("One", "Two", "Three")]
        for merchant in merchants:
            enqueue_many(database, 40, merchant)
        workers = [f"worker {number}" for number in range(4)]
        together = threading.Barrier(len(workers))
        too_many: list[dict[str, int]] = []

        def work(worker: str) -> list[int]:
            done: list[int] = []
            cursor = ""
            together.wait()
            while len(done) < 20:
                claimed = claim_some(database, 5, worker=worker, cursor=cursor, in_flight=4)
                cursor = find_cursor(claimed)
                running = count_running(database)
                if any(count > 4 for count in running.values()):
                    too_many.append(running)
                with database.writing() as db:
                    finish(db, [job.claim for job in claimed.jobs], now=NOON)
                done += [job.id for job in claimed.jobs]
            return done

        with ThreadPoolExecutor(len(workers)) as threads:
            done = [job_id for ids in threads.map(work, workers) for job_id in ids]

        assert too_many == []
        assert len(done) == len(set(done)) >= 80

    def test_the_limit_holds_for_workers_that_have_all_seen_the_same_room(
        self, postgresql_database: Database
    ) -> None:
        database = postgresql_database
        enqueue_many(database, 40, add_merchant(database))
        waiting = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")

        def are_waiting() -> bool:
            with database.reading() as db:
                return bool(db.execute(waiting).scalar_one() == 3)

        with ThreadPoolExecutor(3) as threads:
            with database.writing() as db:
                db.execute(text("SELECT pg_advisory_xact_lock(hashtext('printworks.claim'))"))
                claims = [
                    threads.submit(claim_some, database, 5, worker=name, in_flight=7)
                    for name in ("one", "two", "three")
                ]
                wait_until(are_waiting)
            taken = sorted(len(claim.result().jobs) for claim in claims)

        assert taken == [0, 2, 5]

    def test_a_claim_for_one_pool_takes_only_so_many(self, database: Database) -> None:
        enqueue_many(database, LARGEST_CLAIM + 1)
        rooms = {Pool.UPKEEP: Room(10_000, 10_000)}
        claimant = Claimant(worker="first", rooms=rooms, lease=LEASE)

        with database.writing() as db:
            claimed = claim(db, {KIND: a_policy()}, claimant, now=NOON)

        assert len(claimed.jobs) == LARGEST_CLAIM
        assert claimed.more

    def test_a_claim_for_all_pools_takes_from_no_more_lanes_than_one_statement_can(
        self, database: Database
    ) -> None:
        kinds = {f"kind-of-{pool}": a_policy(pool=pool) for pool in Pool}
        with database.writing() as db:
            lanes = [f"{kind}:{number}" for kind in kinds for number in range(LARGEST_CLAIM)]
            job = {"args": {}, "state": "due", "due_at": NOON, "created_at": NOON}
            db.execute(
                jobs.insert(), [{**job, "kind": kind_of(lane), "lane": lane} for lane in lanes]
            )

        claimed = claim_some(database, 10_000, policies=kinds)

        assert len(lanes) > MOST_LANES
        assert Counter(job.kind for job in claimed.jobs) == dict.fromkeys(
            kinds, MOST_LANES // len(kinds)
        )
        assert claimed.more == frozenset(Pool)


class TestFairness:
    def test_a_merchant_with_a_thousand_jobs_does_not_starve_another(
        self, database: Database
    ) -> None:
        loud, quiet = add_merchant(database, "Loud"), add_merchant(database, "Quiet")
        enqueue_many(database, 1000, loud)
        last_in_line = enqueue_one(database, quiet)

        claimed = claim_some(database, 8)

        assert last_in_line in [job.id for job in claimed.jobs]
        assert claimed.more

    def test_lanes_take_turns_when_there_is_one_slot(self, database: Database) -> None:
        merchants = [add_merchant(database, name) for name in ("One", "Two", "Three")]
        for merchant in merchants:
            enqueue_many(database, 3, merchant)

        served, cursor = [], ""
        for _ in range(6):
            claimed = claim_some(database, 1, cursor=cursor)
            cursor = find_cursor(claimed)
            served += [job.merchant_id for job in claimed.jobs]

        assert Counter(served) == {merchant.id: 2 for merchant in merchants}
        assert len(set(served[:3])) == 3

    def test_full_lanes_do_not_hide_the_others(self, database: Database) -> None:
        full = [add_merchant(database, f"Full {number}") for number in range(40)]
        for merchant in full:
            enqueue_many(database, 2, merchant)
        claim_some(database, 40, in_flight=1)
        free = enqueue_one(database, add_merchant(database, "Free"))

        claimed = claim_some(database, 1, in_flight=1, worker="second")

        assert [job.id for job in claimed.jobs] == [free]

    def test_those_in_doubt_leave_the_kept_slots_to_others(self, database: Database) -> None:
        doubted = [add_merchant(database, f"Doubted {number}") for number in range(3)]
        proven = add_merchant(database, "Proven")
        for merchant in (*doubted, proven):
            enqueue_many(database, 10, merchant)

        claimed = claim_with(database, Room(8, 5), proven=f"{KIND}:{proven.id}")

        given_to = Counter(job.merchant_id for job in claimed.jobs)
        assert (given_to[proven.id], len(claimed.jobs)) == (3, 8)
        assert {given_to[merchant.id] for merchant in doubted} == {1, 2}

    def test_those_in_doubt_take_turns_with_what_is_left_to_them(self, database: Database) -> None:
        doubted = [add_merchant(database, f"Doubted {number}") for number in range(3)]
        proven = add_merchant(database, "Proven")
        for merchant in (*doubted, proven):
            enqueue_many(database, 10, merchant)

        served, cursor = [], ""
        for _ in range(3):
            claimed = claim_with(database, Room(2, 1, cursor), proven=f"{KIND}:{proven.id}")
            cursor = find_cursor(claimed)
            served += [job.merchant_id for job in claimed.jobs]

        assert Counter(served) == {proven.id: 3, **{merchant.id: 1 for merchant in doubted}}

    def test_however_many_are_in_doubt_they_do_not_hide_who_is_proven(
        self, database: Database
    ) -> None:
        for number in range(40):
            enqueue_one(database, add_merchant(database, f"Doubted {number}"))
        proven = add_merchant(database, "Proven")
        wanted = enqueue_one(database, proven)

        claimed = claim_with(database, Room(4, 0), proven=f"{KIND}:{proven.id}")
        looks = 1
        while not claimed.jobs and claimed.unseen:
            room = Room(4, 0, find_cursor(claimed))
            claimed = claim_with(database, room, proven=f"{KIND}:{proven.id}")
            looks += 1

        assert [job.id for job in claimed.jobs] == [wanted]
        assert 1 < looks < 4

    def test_kinds_of_a_pool_take_turns_as_well(self, database: Database) -> None:
        policies = {kind: a_policy() for kind in ("aaa", KIND, "zzz")}
        for kind in policies:
            for _ in range(3):
                enqueue_one(database, kind=kind)

        served, cursor = [], ""
        for _ in range(6):
            claimed = claim_some(database, 1, cursor=cursor, policies=policies)
            cursor = find_cursor(claimed)
            served += [job.kind for job in claimed.jobs]

        assert served == ["aaa", KIND, "zzz"] * 2

    @given(
        slots=st.integers(0, 50),
        room=st.dictionaries(st.text(max_size=3), st.integers(-2, 9), max_size=12),
    )
    def test_slots_are_shared_out_evenly_and_none_is_wasted(
        self, slots: int, room: dict[str, int]
    ) -> None:
        shares = share_out(Room(slots, slots), room, proven=())

        free = {lane: max(count, 0) for lane, count in room.items()}
        given_to = {lane: shares.get(lane, 0) for lane in room}
        poorest = min((given_to[lane] for lane in room if given_to[lane] < free[lane]), default=99)
        assert sum(shares.values()) == min(slots, sum(free.values()))
        assert all(given_to[lane] <= free[lane] for lane in room)
        assert all(count <= poorest + 1 for count in given_to.values())


class TestUnknownKinds:
    def test_they_stay_for_a_worker_that_knows_them(self, database: Database) -> None:
        unknown = enqueue_one(database, kind="from-the-future")
        known = enqueue_one(database)

        claimed = claim_some(database)

        assert [job.id for job in claimed.jobs] == [known]
        assert read(database, unknown).state == "due"
        assert read(database, unknown).attempts == 0

    def test_however_many_they_are_they_hide_no_others(self, database: Database) -> None:
        for number in range(60):
            enqueue_one(database, add_merchant(database, f"Shop {number}"), kind="future")
        known = enqueue_one(database)

        claimed = claim_some(database, 1)

        assert [job.id for job in claimed.jobs] == [known]


class TestDeadWorkers:
    def test_their_jobs_return_when_the_lease_ends(self, database: Database) -> None:
        job_id = enqueue_one(database)
        claim_one(database, worker="dead")

        too_early = claim_some(database, worker="alive", now=NOON + LEASE - SECOND)
        in_time = claim_some(database, worker="alive", now=NOON + LEASE)

        assert too_early.jobs == []
        assert [job.attempts for job in in_time.jobs] == [2]
        assert "The worker dead did not report" in read(database, job_id).last_error

    def test_a_job_that_kills_its_workers_stops_after_its_attempts(
        self, database: Database
    ) -> None:
        job_id = enqueue_one(database)
        for attempt in range(3):
            claim_one(database, now=NOON + attempt * LEASE, attempts=3)

        claimed = claim_some(database, now=NOON + 3 * LEASE, attempts=3)

        stored = read(database, job_id)
        assert claimed.jobs == []
        assert stored.state == "failed"
        assert stored.last_error.startswith("Not tried again after 3 attempts")
        assert stored.finished_at == NOON + 3 * LEASE

    def test_attempts_are_counted_when_a_job_is_claimed(self, database: Database) -> None:
        job_id = enqueue_one(database)

        claim_one(database)

        assert read(database, job_id).attempts == 1

    def test_each_claim_has_a_higher_fence(self, database: Database) -> None:
        enqueue_one(database)
        fences = []
        for turn in range(4):
            job = claim_one(database, now=NOON + turn * LEASE, attempts=9)
            fences.append(job.claim.fence)
            if turn % 2:
                with database.writing() as db:
                    release(db, [job.claim])

        assert fences == sorted(set(fences))


def claim_with(database: Database, room: Room, *, proven: str) -> Claimed:
    """Claim jobs of the usual kind, with one lane that is proven."""
    claimant = Claimant(worker="first", rooms={Pool.UPKEEP: room}, lease=LEASE, proven={proven})
    with database.writing() as db:
        return claim(db, {KIND: a_policy()}, claimant, now=NOON)


def test_a_round_leaves_out_no_lane_and_begins_behind_the_last() -> None:
    end = "9" * 20

    assert go_round(["a", "b"], "") == [("a", f"a:{end}"), ("b", f"b:{end}")]
    assert go_round(["a", "b"], "a:5") == [
        ("a:5", f"a:{end}"),
        ("b", f"b:{end}"),
        ("a", "a:5"),
    ]
    # The lane of a kind that this worker no longer knows.
    assert go_round(["a", "c"], "b:5") == [("c", f"c:{end}"), ("a", f"a:{end}")]


def count_running(database: Database) -> dict[str, int]:
    """Return how many jobs run in each lane, at one moment."""
    with database.reading() as db:
        lanes = db.execute(select(jobs.c.lane).where(jobs.c.state == "running")).scalars()
        return dict(Counter(lanes))
