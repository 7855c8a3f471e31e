"""Leases end by elapsed time: a clock that is set, forward or back, stops nothing and doubles nothing."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Final

import pytest
from sqlalchemy import select, update

from printworks.rules.jobs import ADVANCING_LEASE
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from printworks.store.queue.leases import AT_ONCE, list_leases, take_back
from printworks.store.queue.outcomes import PutBack, put_back, renew
from printworks.store.tables import jobs, merchants
from printworks.worker.leases import SECONDS_BETWEEN_CLOCK_CHECKS, LeaseWatch
from printworks.worker.loop import Context
from tests.clocks import MovableClock
from tests.factories import NOON, some_services
from tests.worker import victim
from tests.worker.forks import forked_to_talk
from tests.worker.hosts import wait_until
from tests.worker.queues import (
    KIND,
    LEASE,
    add_merchant,
    claim_one,
    claim_some,
    enqueue_many,
    enqueue_one,
    list_states,
    read,
)

HOUR: Final = timedelta(hours=1)


class Watch:
    """A worker that watches the others, with a clock that can be set and time that passes."""

    def __init__(self, context: Context, clock: MovableClock) -> None:
        self.clock = clock
        self.elapsed = 0.0
        self._watch = LeaseWatch(context, lease=LEASE, steady_clock=lambda: self.elapsed)

    def look_after(self, seconds: float) -> int:
        """Let time pass, for the clock too, and look."""
        self.elapsed += seconds
        self.clock.advance(seconds=seconds)
        return self._watch.look()


@pytest.fixture
def watch(database: Database) -> Iterator[Watch]:
    """Somebody who watches from noon on."""
    clock = MovableClock()
    with ThreadPoolExecutor(1) as threads:
        yield Watch(Context(some_services(database, clock=clock), threads), clock)


class TestADeadWorker:
    def test_loses_its_jobs_when_the_lease_ends(self, database: Database, watch: Watch) -> None:
        job_id = enqueue_one(database)
        claim_one(database, worker="dead")
        watch.look_after(0)

        assert watch.look_after(29) == 0
        assert watch.look_after(1) == 1

        stored = read(database, job_id)
        assert (stored.state, stored.worker, stored.attempts) == ("due", None, 1)
        assert "The worker dead did not report" in stored.last_error

    def test_loses_them_as_soon_when_the_clock_is_set_back(
        self, database: Database, watch: Watch
    ) -> None:
        enqueue_one(database)
        claim_one(database, worker="dead")
        watch.look_after(0)
        watch.clock.now -= HOUR

        assert watch.look_after(29) == 0
        assert watch.look_after(1) == 1

    def test_loses_them_to_one_that_has_just_begun(self, database: Database, watch: Watch) -> None:
        enqueue_one(database)
        claim_one(database, worker="dead", now=NOON - HOUR)

        assert watch.look_after(0) == 0
        assert watch.look_after(14) == 0
        assert watch.look_after(1) == 1


class TestALivingWorker:
    def test_keeps_what_it_renews_when_the_clock_is_set_forward(
        self, database: Database, watch: Watch
    ) -> None:
        enqueue_one(database)
        held = claim_one(database).claim
        watch.look_after(0)
        watch.clock.now += HOUR

        for _ in range(6):
            # After a third of the lease, and the clocks are an hour apart.
            assert watch.look_after(10) == 0
            with database.writing() as db:
                assert renew(db, [held], until=watch.clock() - HOUR + LEASE) == {held}

        assert list_states(database) == ["running"]

    def test_keeps_what_it_renews_after_it_was_seen(self, database: Database) -> None:
        enqueue_one(database)
        held = claim_one(database).claim
        with database.reading() as db:
            seen = list_leases(db)
        with database.writing() as db:
            renew(db, [held], until=NOON + 2 * LEASE)

        with database.writing() as db:
            assert take_back(db, seen) == 0

        assert list_states(database) == ["running"]

    def test_keeps_a_longer_lease_than_that_of_the_others(
        self, database: Database, watch: Watch
    ) -> None:
        enqueue_one(database)
        claim_one(database, lease=6 * LEASE)
        watch.look_after(0)

        assert watch.look_after(179) == 0
        assert watch.look_after(1) == 1


class TestWaits:
    def test_begin_anew_when_the_clock_is_set_back(self, database: Database, watch: Watch) -> None:
        retried, new, old = enqueue_many(database, 2)[0], 0, 0
        held = claim_one(database, slots=1).claim
        new = enqueue_one(database, wait=timedelta(seconds=20))
        old = enqueue_one(database, now=NOON - 2 * HOUR, wait=3 * HOUR)
        with database.writing() as db:
            put_back(db, [PutBack(held, timedelta(seconds=10), "Refused.")], now=NOON)
        watch.clock.now -= HOUR

        watch.look_after(0)

        now = watch.clock()
        assert read(database, retried).due_at == now + timedelta(seconds=10)
        assert read(database, new).due_at == now + timedelta(seconds=20)
        # It waits until its hour, and so an hour longer: less than as long again.
        assert read(database, old).due_at == NOON + HOUR

    def test_are_left_alone_otherwise(self, database: Database, watch: Watch) -> None:
        job_id = enqueue_one(database, now=NOON + timedelta(seconds=9), wait=HOUR)

        watch.look_after(0)
        watch.look_after(SECONDS_BETWEEN_CLOCK_CHECKS)

        assert read(database, job_id).due_at == NOON + timedelta(seconds=9) + HOUR

    def test_begin_anew_however_many_there_are(self, database: Database, watch: Watch) -> None:
        with database.writing() as db:
            row = {"kind": KIND, "lane": f"{KIND}:", "args": {}, "state": "scheduled"}
            moments = {"due_at": NOON + LEASE, "created_at": NOON}
            db.execute(jobs.insert(), [row | moments] * (AT_ONCE + 1))
        watch.clock.now -= HOUR

        watch.look_after(0)

        with database.reading() as db:
            assert set(db.execute(select(jobs.c.due_at)).scalars()) == {watch.clock() + LEASE}

    def test_the_jobs_of_a_merchant_are_not_reserved_for_longer_than_anybody_reserves_them(
        self, database: Database, watch: Watch
    ) -> None:
        merchant = add_merchant(database)
        with database.writing() as db:
            db.execute(update(merchants).values(advancing_until=NOON + ADVANCING_LEASE))
        watch.look_after(0)
        with database.reading() as db:
            assert get_merchant(db, merchant.id).advancing_until is not None
        watch.clock.now -= HOUR

        watch.look_after(SECONDS_BETWEEN_CLOCK_CHECKS)

        with database.reading() as db:
            assert get_merchant(db, merchant.id).advancing_until is None


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "hours", [1, pytest.param(-1, marks=pytest.mark.slow)], ids=["set back", "set forward"]
)
def test_processes_go_on_when_the_clock_is_set_under_load(database_url: str, hours: int) -> None:
    database = Database(database_url)
    merchant_ids = [add_merchant(database, f"Shop {number}") for number in range(5)]
    promised = [job for merchant in merchant_ids for job in enqueue_many(database, 40, merchant)]
    begun = []

    # One that dies with jobs in hand, before the clock is set.
    with forked_to_talk(victim.live, database_url, timedelta(hours=hours)) as (worker, said):
        for job_id in said:
            begun.append(job_id)
            if len(begun) == 60:
                worker.kill()
    with forked_to_talk(victim.live, database_url) as (worker, said):
        begun += said
        worker.join()
        assert worker.exitcode == 0

    assert set(list_states(database)) == {"done"}
    assert set(begun) >= set(promised)
    database.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_living_process_loses_nothing_to_one_whose_clock_is_an_hour_ahead(
    database_url: str,
) -> None:
    database = Database(database_url)
    # Every one of them takes longer than three leases.
    slow = enqueue_one(database, kind="slow")

    with forked_to_talk(victim.live, database_url) as (worker, said):
        assert next(said) == slow
        with forked_to_talk(victim.live, database_url, HOUR) as (other, said_by_other):
            assert list(said_by_other) == []
            other.join()
            assert other.exitcode == 0
        worker.join()
        assert worker.exitcode == 0

    assert list_states(database) == ["done"]
    assert read(database, slow).attempts == 1
    wait_until(lambda: not claim_some(database).jobs)
    database.close()
