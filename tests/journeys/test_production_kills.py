"""Workers that are killed again and again make every order once, and lose none."""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import func, select

from printworks.actions.accounts.clock import advance_clock
from printworks.imaging.processor import ImageProcessor
from printworks.rules.events import OrderCharged, OrderMoved, ShipmentsChanged
from printworks.rules.jobs import JobKind
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.orders.events import list_events
from printworks.store.tables import jobs, orders, shipments
from tests.clocks import MovableClock
from tests.factories import a_merchant, a_work
from tests.programs import start
from tests.scale import IS_FULL, scaled
from tests.worker.hosts import holds
from tests.worker.shops import MAGNET, Shop, a_jpeg, open_shop

ORDERS: Final = scaled(300, part=16)
MERCHANTS: Final = 3
KILLS: Final = scaled(32, part=16)
WORKERS: Final = 2
# For each order: fetched, drawn, sent, and heard of three times.
JOBS: Final = 6 * ORDERS
SECONDS_TO_END: Final = 120
# How far the merchants' clocks are moved at a time; a lab needs about twenty minutes.
STEP: Final = timedelta(seconds=20 if IS_FULL else 60)


class Worker:
    """A process that works, and can be killed."""

    def __init__(self, data: Path, database_url: str, number: int) -> None:
        self._log = data / f"worker-{number}.log"
        environ = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "PRINTWORKS_DATABASE_URL": database_url,
            "PRINTWORKS_WORKER_LEASE": "4s",
            # The jobs are counted.
            "PRINTWORKS_MOCKUPS": "false",
        }
        with self._log.open("wb") as output:
            self._process = start("work", "--data", data, env=environ, output=output)

    @property
    def is_at_work(self) -> bool:
        """Whether it has begun to take jobs."""
        assert self._process.poll() is None, self._log.read_text()[-2000:]
        return b"worker started" in self._log.read_bytes()

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait(10) == -signal.SIGKILL, self._log.read_text()[-8000:]

    def stop(self) -> None:
        """Let it end in its own time."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(30)


class Crew:
    """A few workers: whoever is killed is replaced."""

    def __init__(self, data: Path, database_url: str) -> None:
        self._place = (data, database_url)
        self._started = 0
        self._workers = [self._start() for _ in range(WORKERS)]

    def _start(self) -> Worker:
        self._started += 1
        return Worker(*self._place, self._started)

    @property
    def is_oldest_at_work(self) -> bool:
        """Whether the one that is killed next has begun."""
        return self._workers[0].is_at_work

    def kill_oldest(self) -> None:
        """Kill one and start another."""
        self._workers.pop(0).kill()
        self._workers.append(self._start())

    def stop(self) -> None:
        """Let all of them end."""
        for worker in self._workers:
            worker.stop()


@contextmanager
def working(data: Path, database_url: str) -> Iterator[Crew]:
    """Let workers work during the block."""
    crew = Crew(data, database_url)
    try:
        yield crew
    finally:
        crew.stop()


def submit_all(shop: Shop, merchants: Sequence[Merchant]) -> None:
    """Submit the orders of a busy morning."""
    # Two hosts, as far as the workers know: they take only so much from one at a time.
    urls = [
        shop.host.at("/cat.jpg", holds(a_jpeg(42, 30)), name="127.0.0.1"),
        shop.host.at("/dog.jpg", holds(a_jpeg(42, 30, seed=8)), name="localhost"),
    ]
    for number in range(ORDERS):
        order = shop.add_order(merchants[number % MERCHANTS])
        shop.add_images(order, urls[number // MERCHANTS % 2], sku=MAGNET)
        shop.submit(order)


def let_time_pass(database: Database, merchants: Sequence[Merchant]) -> None:
    """Move the clock of every merchant."""
    for merchant in merchants:
        with database.writing() as db:
            current = get_merchant(db, merchant.id)
            now = datetime.now(UTC) + current.clock_offset
            advance_clock(a_work(db, current, now=now), STEP)


def count_done(database: Database) -> int:
    """Say how many jobs of the merchants are done."""
    with database.reading() as db:
        wanted = select(func.count()).where(jobs.c.state == "done", jobs.c.merchant_id > 0)
        return db.execute(wanted).scalar_one()


def say_what_is_left(database: Database) -> Counter[tuple[str, ...]]:
    """Say how many jobs there are of each kind and state, and why those that failed did."""
    with database.reading() as db:
        found = db.execute(select(jobs.c.kind, jobs.c.state, jobs.c.last_error)).all()
    return Counter(
        (row.kind, row.state, str(row.last_error) if row.state == "failed" else "") for row in found
    )


def wait_for(database: Database, merchants: Sequence[Merchant], *, done: int) -> None:
    """Let time pass until so many jobs are done."""
    deadline = time.monotonic() + SECONDS_TO_END
    while count_done(database) < done:
        assert time.monotonic() < deadline, say_what_is_left(database)
        let_time_pass(database, merchants)
        time.sleep(0.1)


def wait_until_at_work(crew: Crew) -> None:
    """Wait for the one that is killed next to have begun."""
    deadline = time.monotonic() + SECONDS_TO_END
    while not crew.is_oldest_at_work:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_kills_lose_no_order_and_make_none_twice(database_url: str, tmp_path: Path) -> None:
    database = Database(database_url)
    clock = MovableClock()
    clock.now = datetime.now(UTC)
    began = time.monotonic()
    with (
        ImageProcessor(slots=1) as processor,
        open_shop(database, tmp_path, processor, clock=clock) as shop,
    ):
        with database.writing() as db:
            others = [a_merchant(db, f"Shop {number}") for number in range(1, MERCHANTS)]
        merchants = [shop.merchant, *others]
        submit_all(shop, merchants)
        with working(tmp_path, database_url) as crew:
            for kill in range(1, KILLS + 1):
                wait_until_at_work(crew)
                wait_for(database, merchants, done=kill * JOBS // (KILLS + 2))
                crew.kill_oldest()
            wait_for(database, merchants, done=JOBS)
        asked = len(shop.host.asked)

    sys.stdout.write(
        f"{KILLS} kills, {ORDERS} orders, {asked} downloads, {time.monotonic() - began:.0f} s\n"
    )
    check_orders(database)
    check_shipments(database)
    check_jobs(database)
    database.close()


def check_orders(database: Database) -> None:
    """Every order is complete, and became so once."""
    with database.reading() as db:
        found = {row.id: row.status for row in db.execute(select(orders.c.id, orders.c.status))}
        logs = {order: list_events(db, order) for order in found}
    assert Counter(found.values()) == {"Complete": ORDERS}
    for events in logs.values():
        moves = [event.status for event in events if isinstance(event, OrderMoved)]
        assert moves == ["Submitted", "Complete"]
        assert len([event for event in events if isinstance(event, OrderCharged)]) == 1
        changes = [event for event in events if isinstance(event, ShipmentsChanged)]
        sent = [fact.id for change in changes for fact in change.shipments if fact.is_shipped]
        assert len(sent) == 1
        assert len(changes) <= 3


def check_shipments(database: Database) -> None:
    """Every order has its one shipment, which was sent."""
    with database.reading() as db:
        found = db.execute(
            select(shipments.c.state, shipments.c.sent_at, shipments.c.shipped_at, orders.c.id)
            .join_from(shipments, orders, isouter=True)
            .order_by(shipments.c.id)
        ).all()
    assert Counter(row.state for row in found) == {"dispatched": ORDERS}
    assert len({row.id for row in found} - {None}) == ORDERS
    assert all(row.sent_at is not None and row.shipped_at is not None for row in found)


def check_jobs(database: Database) -> None:
    """No job was promised twice, and none is left or given up."""
    with database.reading() as db:
        wanted = select(jobs.c.kind, jobs.c.state).where(jobs.c.merchant_id > 0)
        found = Counter((row.kind, row.state) for row in db.execute(wanted))
    assert found == {
        (JobKind.FETCH_IMAGE, "done"): ORDERS,
        (JobKind.RENDER_IMAGE, "done"): ORDERS,
        (JobKind.SEND_TO_LAB, "done"): ORDERS,
        (JobKind.APPLY_LAB_REPORT, "done"): 3 * ORDERS,
    }
