"""Moving a merchant's clock: all that falls due happens then, in order, and every time alike."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from sqlalchemy import make_url, select, update

from printworks.clock import Clock
from printworks.errors import StillRunning
from printworks.imaging.processor import ImageProcessor
from printworks.rules.images import DOWNLOAD_WAITS
from printworks.rules.jobs import ADVANCING_LEASE, HOURLY, POLICIES, JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from printworks.store.orders.orders import Order
from printworks.store.queue.advancing import begin_advancing, end_advancing
from printworks.store.queue.claims import claim
from printworks.store.queue.jobs import NewJob, enqueue
from printworks.store.tables import jobs, order_events, shipments
from printworks.worker.advance import Advanced, advance
from printworks.worker.loop import Context
from tests.clocks import MovableClock
from tests.factories import NOON, a_merchant, some_services
from tests.scale import IS_FULL, scaled
from tests.worker.hosts import answers, holds, says_nothing, wait_until
from tests.worker.queues import LEASE, a_claimant
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, Shop, open_shop

pytestmark = pytest.mark.slow

SHOP_HOURLY = HOURLY

ROOT: Final = Path(__file__).parents[2]
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)

NewDatabase = Callable[[], Database]


def move(
    shop: Shop, by: timedelta, *, clock: Clock | None = None, lease: timedelta = ADVANCING_LEASE
) -> Advanced:
    """Move the merchant's clock, as the program does."""

    async def play() -> Advanced:
        with ThreadPoolExecutor(2) as threads:
            time_of = clock or shop.clock
            services = replace(shop.resources.services, clock=time_of)
            context = Context(services, threads, shop.resources)
            return await advance(context, shop.merchant.id, by, lease=lease)

    return shop._loop.run(play())


def clock_of(shop: Shop) -> datetime:
    """Tell the merchant's time."""
    with shop.database.reading() as db:
        return shop.clock() + get_merchant(db, shop.merchant.id).clock_offset


def list_log(shop: Shop) -> list[bytes]:
    """Return all that happened, in the order in which it was written down."""
    wanted = select(
        order_events.c.order_id,
        order_events.c.kind,
        order_events.c.facts,
        order_events.c.created_at,
    ).order_by(order_events.c.id)
    with shop.database.reading() as db:
        return [msgspec.json.encode(tuple(row), order="sorted") for row in db.execute(wanted)]


def list_times(shop: Shop, order: Order | None = None) -> list[tuple[str, timedelta]]:
    """Return what happened how long after noon."""
    wanted = select(order_events.c.kind, order_events.c.created_at).order_by(order_events.c.id)
    if order is not None:
        wanted = wanted.where(order_events.c.order_id == order.id)
    with shop.database.reading() as db:
        return [(kind, at - NOON) for kind, at in db.execute(wanted)]


def submit(shop: Shop, *paths: str, **values: Any) -> Order:
    """Submit an order with the pictures at these paths."""
    order = shop.add_order(**values)
    shop.add_images(order, *(f"http://127.0.0.1:{shop.host.port}{path}" for path in paths))
    shop.submit(order)
    return order


def claim_all(shop: Shop) -> list[int | None]:
    """Claim all that a worker could have, and return whose it was."""
    with shop.database.writing() as db:
        claimed = claim(db, POLICIES, a_claimant("w", 50), now=shop.clock())
    return [job.merchant_id for job in claimed.jobs]


@pytest.fixture
def new_database(
    backend: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[NewDatabase]:
    """A way to get a database without a row, again and again."""
    if backend == "postgresql":
        shared = request.getfixturevalue("postgresql_shared")
        yield shared.empty
        return
    opened: list[Database] = []
    template = make_url(request.getfixturevalue("sqlite_url")).database or ""

    def make() -> Database:
        path = tmp_path / f"again-{len(opened)}.db"
        shutil.copyfile(template, path)
        opened.append(Database(f"sqlite:///{path}"))
        return opened[-1]

    yield make
    for database in opened:
        database.close()


@contextmanager
def fresh_shop(
    new_database: NewDatabase, folder: Path, processor: ImageProcessor
) -> Iterator[Shop]:
    """Open a shop that knows nothing of another one."""
    folder.mkdir()
    with open_shop(new_database(), folder, processor) as shop:
        yield shop


def play_script(shop: Shop, *steps: timedelta) -> None:
    """Place orders of which much goes wrong, and move the clock in these steps."""
    shop.host.at("/cat.jpg", holds(A_PICTURE))
    shop.host.at("/dog.jpg", holds(ANOTHER_PICTURE))
    shop.host.at("/flaky.jpg", answers("503 Busy"), answers("404 Not Found"), holds(A_PICTURE))
    shop.host.at("/gone.jpg", answers("404 Not Found"))
    submit(shop, "/cat.jpg", "/dog.jpg", merchant_order_id="usual")
    submit(shop, "/flaky.jpg", "/cat.jpg", merchant_order_id="retried")
    submit(shop, "/dog.jpg", merchant_order_id="sandbox:reject")
    submit(shop, "/dog.jpg", merchant_order_id="sandbox:late sandbox:lost")
    submit(shop, "/cat.jpg", merchant_order_id="sandbox:twice", destination_country="US")
    submit(shop, "/cat.jpg", merchant_order_id="sandbox:wrong-print")
    submit(shop, "/cat.jpg", merchant_order_id="sandbox:reject-all")
    submit(shop, "/gone.jpg", "/cat.jpg", merchant_order_id="never there")
    for step in steps:
        move(shop, step)


def test_the_same_script_gives_the_same_log_byte_for_byte_in_however_many_steps(
    new_database: NewDatabase, tmp_path: Path, processor: ImageProcessor
) -> None:
    # Nothing depends on how busy the machine is.
    step, many = timedelta(seconds=17), scaled(90, part=5)
    ways = {
        "one": [14 * DAY],
        "again": [14 * DAY],
        "many": [step] * many + [14 * DAY - many * step],
    }
    if IS_FULL:
        ways["two"] = [10 * timedelta(minutes=1), 14 * DAY - 10 * timedelta(minutes=1)]
    logs = {}
    for name, steps in ways.items():
        with fresh_shop(new_database, tmp_path / name, processor) as shop:
            play_script(shop, *steps)
            logs[name] = list_log(shop)
            times = [at for _, at in list_times(shop)]
            assert clock_of(shop) == NOON + 14 * DAY
        # Everything happens in the order of its time.
        assert times == sorted(times)

    assert all(log == logs["one"] for log in logs.values())
    assert len(logs["one"]) > 60
    assert sum(b'"Complete"' in line for line in logs["one"]) == 5


def test_events_carry_the_time_at_which_they_fell_due(shop: Shop) -> None:
    shop.host.at("/flaky.jpg", answers("404 Not Found"), answers("503 Busy"), holds(A_PICTURE))
    order = submit(shop, "/flaky.jpg")

    moved = move(shop, HOUR)

    there = DOWNLOAD_WAITS[0] + DOWNLOAD_WAITS[1]
    seen = list_times(shop, order)
    assert [at for kind, at in seen if kind in {"image-judged", "image-rendered"}] == [there] * 2
    steps = [at - there for kind, at in seen if kind == "shipments-changed"]
    for step, usual in zip(steps, (30, 300, 1200), strict=True):
        assert abs(step.total_seconds() - usual) <= usual / 10
    assert seen[-1] == ("order-moved", there + steps[-1])
    assert moved.now == NOON + HOUR == clock_of(shop)
    assert shop.order(order).status is OrderStatus.COMPLETE


def test_what_falls_due_later_waits(shop: Shop) -> None:
    shop.host.at("/cat.jpg", holds(A_PICTURE))
    order = submit(shop, "/cat.jpg")

    move(shop, timedelta(minutes=10))

    with shop.database.reading() as db:
        state = db.execute(select(shipments.c.state)).scalar_one()
    assert state == LabState.IN_PRODUCTION
    assert shop.order(order).status is OrderStatus.SUBMITTED
    move(shop, timedelta(minutes=15))
    assert shop.order(order).status is OrderStatus.COMPLETE


def test_moving_by_nothing_runs_what_is_due(shop: Shop) -> None:
    shop.host.at("/cat.jpg", holds(A_PICTURE))
    order = submit(shop, "/cat.jpg")

    moved = move(shop, timedelta(0))

    assert moved == Advanced(NOON, 3)
    assert list_times(shop, order)[-1] == ("image-rendered", timedelta(0))


def test_a_job_at_the_last_moment_runs_too(shop: Shop) -> None:
    with shop.database.writing() as db:
        removal = NewJob(JobKind.REMOVE_FILES, shop.merchant.id, {"files": []}, wait=HOUR)
        enqueue(db, removal, now=NOON)

    assert move(shop, HOUR - timedelta(milliseconds=1)).jobs == 0
    assert move(shop, timedelta(milliseconds=1)).jobs == 1


def test_fractions_of_a_tick_do_not_keep_a_job_from_running(shop: Shop) -> None:
    shop.clock.now = NOON + timedelta(microseconds=123_457)
    with shop.database.writing() as db:
        removal = NewJob(JobKind.REMOVE_FILES, shop.merchant.id, {"files": []})
        enqueue(db, removal, now=NOON + timedelta(microseconds=999_999))
        db.execute(update(jobs).values(state="scheduled"))

    assert move(shop, timedelta(seconds=1)).jobs == 1


class TestWorkersMeanwhile:
    """They keep away from this merchant's jobs, and serve the others."""

    def test_they_find_only_what_is_others(self, shop: Shop) -> None:
        with shop.database.writing() as db:
            other = a_merchant(db, "Bob")
            begin_advancing(db, shop.merchant.id, now=NOON, until=NOON + ADVANCING_LEASE)
            mine = get_merchant(db, shop.merchant.id)
            for whose in (mine, other):
                due = NewJob(JobKind.REMOVE_FILES, whose.id, {"files": []})
                for new in (due, due._replace(wait=timedelta(seconds=1))):
                    enqueue(db, new, whose.advancing_until, now=NOON)
        shop.clock.advance(seconds=2)

        assert claim_all(shop) == [other.id, other.id]
        with shop.database.writing() as db:
            end_advancing(db, shop.merchant.id)
        assert claim_all(shop) == [shop.merchant.id] * 2

    def test_nobody_else_moves_the_same_clock(self, shop: Shop) -> None:
        with shop.database.writing() as db:
            begin_advancing(db, shop.merchant.id, now=NOON, until=NOON + ADVANCING_LEASE)

        with pytest.raises(StillRunning):
            move(shop, HOUR)

        assert clock_of(shop) == NOON

    def test_a_worker_that_lives_is_waited_for(self, shop: Shop) -> None:
        gate = shop.host.gate()
        shop.host.at("/cat.jpg", gate.before(holds(A_PICTURE)))
        order = submit(shop, "/cat.jpg")

        with ThreadPoolExecutor(1) as pool, shop.draining():
            gate.wait()
            moving = pool.submit(move, shop, HOUR)
            wait_until(lambda: is_advancing(shop))
            gate.open()
            moving.result()

        assert shop.order(order).status is OrderStatus.COMPLETE
        times = [at for _, at in list_times(shop)]
        assert times == sorted(times)

    def test_jobs_of_a_worker_that_died_are_done_on_the_way(self, shop: Shop) -> None:
        shop.host.at("/cat.jpg", holds(A_PICTURE))
        order = submit(shop, "/cat.jpg")
        assert claim_all(shop) == [shop.merchant.id]
        shop.clock.now += LEASE

        move(shop, HOUR)

        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_what_became_due_behind_its_back_is_done_on_the_way(self, shop: Shop) -> None:
        shop.host.at("/cat.jpg", holds(A_PICTURE))
        gate = shop.host.gate()
        shop.host.at("/slow.jpg", gate.before(holds(ANOTHER_PICTURE)))
        slow = submit(shop, "/slow.jpg")

        with ThreadPoolExecutor(1) as pool:
            moving = pool.submit(move, shop, DAY)
            gate.wait()
            asked = submit(shop, "/cat.jpg")
            # By a request that had read the merchant before the clock was moved.
            with shop.database.writing() as db:
                db.execute(
                    update(jobs)
                    .where(jobs.c.state == "scheduled", jobs.c.merchant_id == shop.merchant.id)
                    .values(state="due")
                )
            gate.open()
            moving.result()

        assert shop.order(slow).status is OrderStatus.COMPLETE
        assert shop.order(asked).status is OrderStatus.COMPLETE

    def test_however_long_it_takes_they_keep_away(self, shop: Shop) -> None:
        gate = shop.host.gate()
        shop.host.at("/slow.jpg", gate.before(holds(A_PICTURE)))
        order = submit(shop, "/slow.jpg")
        began = time.monotonic()

        def tick() -> datetime:
            return NOON + timedelta(seconds=time.monotonic() - began)

        with ThreadPoolExecutor(1) as pool:
            away = timedelta(seconds=0.9)
            moving = pool.submit(move, shop, HOUR, clock=tick, lease=away)
            gate.wait()
            wait_until(lambda: tick() > NOON + 3 * away)
            with shop.database.reading() as db:
                leases = list(db.execute(select(jobs.c.lease_until)).scalars())
                until = get_merchant(db, shop.merchant.id).advancing_until
            seen_at = tick()
            gate.open()
            moving.result()

        assert [lease is not None and lease > seen_at for lease in leases] == [True]
        assert until is not None
        assert until > seen_at
        assert shop.order(order).status is OrderStatus.COMPLETE
        assert not is_advancing(shop)


def is_advancing(shop: Shop) -> bool:
    """Say whether somebody moves the merchant's clock."""
    with shop.database.reading() as db:
        return get_merchant(db, shop.merchant.id).advancing_until is not None


class TestDying:
    """A process that dies leaves nothing half done."""

    def test_the_clock_stays_where_it_was_and_jobs_go_on_after_a_while(
        self, database_url: str, tmp_path: Path, processor: ImageProcessor
    ) -> None:
        database = Database(database_url)
        with open_shop(database, tmp_path, processor) as shop:
            shop.host.at("/cat.jpg", holds(A_PICTURE))
            shop.host.at("/hangs.jpg", answers("404 Not Found"), says_nothing, holds(A_PICTURE))
            done = submit(shop, "/cat.jpg")
            hangs = submit(shop, "/hangs.jpg", merchant_order_id="hangs")

            process = _start_victim(database_url, tmp_path, shop.merchant.id)
            try:
                wait_until(lambda: shop.host.count("/hangs.jpg") == 2)
            finally:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()

            # The clock stands at the second download, and so do the jobs.
            assert clock_of(shop) == NOON + DOWNLOAD_WAITS[0]
            assert is_advancing(shop)
            assert claim_all(shop) == []
            with pytest.raises(StillRunning):
                move(shop, HOUR)

            shop.clock.now += ADVANCING_LEASE
            shop.drain()
            move(shop, HOUR)

            assert clock_of(shop) == NOON + DOWNLOAD_WAITS[0] + ADVANCING_LEASE + HOUR
            assert shop.order(done).status is OrderStatus.COMPLETE
            assert shop.order(hangs).status is OrderStatus.COMPLETE
        database.close()


def _start_victim(database_url: str, data: Path, merchant: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.worker.test_advance", database_url, data, str(merchant)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


async def _advance_until_killed(database_url: str, data: Path, merchant: int) -> None:
    from printworks.settings import Settings
    from printworks.worker.resources import open_resources

    settings = msgspec.structs.replace(Settings.load(data, {}), database_url=database_url)
    database = Database(database_url)
    with ThreadPoolExecutor(2) as threads:
        services = some_services(database, settings, MovableClock())
        async with open_resources(services) as resources:
            await advance(Context(services, threads, resources), merchant, DAY)


if __name__ == "__main__":
    asyncio.run(_advance_until_killed(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
