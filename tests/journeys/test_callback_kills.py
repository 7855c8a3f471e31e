"""Workers that are killed again and again tell merchants of every event, or try fifteen times."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from sqlalchemy import func, select

from printworks.actions.accounts.clock import advance_clock
from printworks.actions.callbacks import set_callback
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.orders import create_order
from printworks.rules.callbacks import MOST_FAILURES, CallbackFormat
from printworks.rules.events import CallbackState
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.tables import callback_attempts, callbacks, jobs
from tests.factories import a_merchant, a_new_order, a_work, a_work_of
from tests.scale import scaled
from tests.worker.hosts import Asked, Behaviour, redirects, says_nothing
from tests.worker.nursery import WORKERS
from tests.worker.receivers import Receiver, drips, says

ROOT: Final = Path(__file__).parents[2]
KILLS: Final = scaled(50, part=16)
SECONDS_TO_END: Final = 100
DOWN_FOR: Final = timedelta(hours=6)
LIFE: Final = (OrderStatus.AWAITING_PAYMENT, OrderStatus.SUBMITTED, OrderStatus.COMPLETE)


class Shopkeeper(NamedTuple):
    """A merchant, what its receiver does, and whether it ever acknowledges."""

    merchant: Merchant
    path: str
    is_deaf: bool


class Town:
    """Receivers of every sort, and what they have acknowledged."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.acknowledged: set[str] = set()
        self.is_up = False
        self._asked = 0

    async def listen(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        """Acknowledge."""
        self.acknowledged.add(asked.headers["webhook-id"])
        await says(200)(asked, writer)

    async def stumble(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        """Fail one time in five."""
        self._asked += 1
        await (says(500) if self._asked % 5 == 0 else self.listen)(asked, writer)

    async def come_back(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        """Be down for some time."""
        await (self.listen if self.is_up else says(503))(asked, writer)


# How many merchants have such a receiver, and how many lives of orders each of them.
SORTS: Final[Sequence[tuple[str, int, int, bool]]] = (
    ("/quick", 6, scaled(310, part=16), False),
    ("/stumbles", 4, scaled(147, part=16), False),
    # Every event of those that never acknowledge is told fifteen times.
    ("/down", 1, scaled(10, part=4), False),
    ("/created", 1, scaled(10, part=4), True),
    ("/elsewhere", 1, scaled(10, part=4), True),
    ("/gone", 1, scaled(10, part=4), True),
    ("/hangs", scaled(8, part=2), 1, True),
    ("/drips", scaled(4, part=2), 1, True),
)
# Ten thousand, if everything is asked for.
EVENTS: Final = (1 + len(LIFE)) * sum(merchants * lives for _, merchants, lives, _ in SORTS)
# Most of the first tries: the last ones are left in peace.
HEARD_WHILE_KILLED: Final = EVENTS * 9 // 10


def open_receivers(town: Town) -> None:
    """Let every sort of receiver behave as its name says."""
    behaviours: dict[str, Behaviour] = {
        "/quick": town.listen,
        "/stumbles": town.stumble,
        "/down": town.come_back,
        "/created": says(201),
        "/elsewhere": redirects("http://169.254.169.254/latest/meta-data/"),
        "/gone": says(410),
        "/hangs": says_nothing,
        "/drips": drips,
    }
    for path, behaviour in behaviours.items():
        town.receiver.at(path, behaviour)


def add_events(database: Database, town: Town) -> list[Shopkeeper]:
    """Let all that happens happen, four events for each order."""
    keepers = []
    now = datetime.now(UTC)
    for path, merchants, lives, is_deaf in SORTS:
        for number in range(merchants):
            with database.writing() as db:
                merchant = a_merchant(db, f"{path} {number}")
                url = f"http://127.0.0.1:{town.receiver.port}{path}"
                # In this format every step is news.
                set_callback(a_work(db, merchant), url, CallbackFormat.V2_3)
                for _ in range(lives):
                    order = create_order(a_work(db, merchant, now=now), a_new_order())
                    for status in LIFE:
                        order = move_order(a_work_of(db, order, now=now), order, status)
            keepers.append(Shopkeeper(merchant, path, is_deaf))
    return keepers


class Crew:
    """Two workers, of which one can be killed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._born = process.stdout
        self._workers = [int(self._born.readline()) for _ in range(WORKERS)]

    def kill_oldest(self) -> None:
        """End one in the middle of whatever it does; another takes its place."""
        os.kill(self._workers.pop(0), signal.SIGKILL)
        self._workers.append(int(self._born.readline()))


@contextmanager
def working(database_url: str) -> Iterator[Crew]:
    """Let workers work during the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.worker.nursery", database_url],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield Crew(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
    assert process.returncode == 0


class Clocks:
    """Moves the clock of each merchant to where its last sleeper wakes, once none is awake."""

    def __init__(self, database: Database, town: Town, keepers: Sequence[Shopkeeper]) -> None:
        self._database = database
        self._town = town
        self._keepers = {keeper.merchant.id: keeper for keeper in keepers}

    def move(self) -> bool:
        """Move all that can be moved; False if nothing is left to do."""
        wanted = (
            select(
                jobs.c.merchant_id,
                func.max(jobs.c.due_at).label("last"),
                func.count().filter(jobs.c.state != "scheduled").label("awake"),
            )
            .where(jobs.c.finished_at.is_(None))
            .group_by(jobs.c.merchant_id)
        )
        with self._database.reading() as db:
            unfinished = db.execute(wanted).all()
        for row in unfinished:
            if not row.awake:
                self._move(row.merchant_id, row.last)
        return bool(unfinished)

    def _move(self, merchant_id: int, last: datetime) -> None:
        now = datetime.now(UTC)
        with self._database.writing() as db:
            merchant = get_merchant(db, merchant_id)
            by = max(last - now, timedelta(0)) + timedelta(milliseconds=1)
            moved = advance_clock(a_work(db, merchant, now=now + merchant.clock_offset), by) - now
        if self._keepers[merchant_id].path == "/down" and moved >= DOWN_FOR:
            self._town.is_up = True


def wait_until(is_so: Callable[[], bool], clocks: Clocks) -> None:
    """Let time pass for the merchants until it is so, or nothing is left to do."""
    deadline = time.monotonic() + SECONDS_TO_END
    while not is_so():
        assert time.monotonic() < deadline, "It never came to that."
        if not clocks.move():
            return
        # Looking at all jobs is not for nothing: workers need the machine too.
        for _ in range(10):
            if not is_so():
                time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_kills_lose_no_event(database_url: str) -> None:
    with closing(Database(database_url)) as database:
        check_kills(database, database_url)


def check_kills(database: Database, database_url: str) -> None:
    """Kill workers while they tell of many events, and look what became of those."""
    with Receiver() as receiver:
        town = Town(receiver)
        open_receivers(town)
        keepers = add_events(database, town)
        clocks = Clocks(database, town, keepers)
        began = time.monotonic()
        with working(database_url) as crew:
            for kill in range(1, KILLS + 1):
                enough = kill * HEARD_WHILE_KILLED // (KILLS + 1)
                wait_until(lambda enough=enough: len(receiver.heard) >= enough, clocks)  # type: ignore[misc]
                crew.kill_oldest()
            wait_until(lambda: False, clocks)
        took = time.monotonic() - began

    again = len(receiver.heard) - count_attempts(database)
    sys.stdout.write(
        f"{KILLS} kills, {len(receiver.heard)} callbacks heard in {took:.0f} s, {again} of them "
        "not written down\n"
    )
    check_callbacks(database, town, keepers)
    check_first_tries(database, receiver)
    check_jobs(database)


def count_attempts(database: Database) -> int:
    """Say how many tries were written down."""
    with database.reading() as db:
        return db.execute(select(func.count()).select_from(callback_attempts)).scalar_one()


def check_callbacks(database: Database, town: Town, keepers: Sequence[Shopkeeper]) -> None:
    """Every event was heard by those who listen, and tried fifteen times with the others."""
    wanted = (
        select(
            callbacks.c.id,
            callbacks.c.merchant_id,
            callbacks.c.state,
            callbacks.c.failures,
            callbacks.c.attempts,
            func.count(callback_attempts.c.number).label("written"),
            func.count().filter(callback_attempts.c.status == 200).label("acknowledged"),
        )
        .join_from(callbacks, callback_attempts)
        .group_by(callbacks.c.id)
    )
    deaf = {keeper.merchant.id for keeper in keepers if keeper.is_deaf}
    with database.reading() as db:
        found = db.execute(wanted).all()
    assert len(found) == EVENTS
    for row in found:
        assert row.attempts == row.written
        if row.merchant_id in deaf:
            assert (row.state, row.failures) == (CallbackState.FAILED, MOST_FAILURES)
            assert (row.written, row.acknowledged) == (MOST_FAILURES, 0)
        else:
            assert (row.state, row.acknowledged) == (CallbackState.DELIVERED, 1)
            assert f"msg_{row.id}" in town.acknowledged
            assert row.written == row.failures + 1


def check_first_tries(database: Database, receiver: Receiver) -> None:
    """The events of every order were first told in order."""
    # On a busy machine a first try may end before the receiver has heard it; then others may follow.
    query = select(callback_attempts.c.callback_id).where(
        callback_attempts.c.number == 1, callback_attempts.c.status.is_(None)
    )
    with database.reading() as db:
        unheard = set(db.execute(query).scalars())
    heard: dict[int, list[int]] = defaultdict(list)
    for one in receiver.heard:
        number = int(one.id.removeprefix("msg_"))
        if number not in heard[one.told["id"]]:
            heard[one.told["id"]].append(number)
    assert sum(len(numbers) for numbers in heard.values()) == EVENTS
    for numbers in heard.values():
        answered = [number for number in numbers if number not in unheard]
        assert answered == sorted(answered)


def check_jobs(database: Database) -> None:
    """No job is left, and none was given up."""
    with database.reading() as db:
        found = Counter(db.execute(select(jobs.c.state)).scalars())
    assert set(found) == {"done"}
