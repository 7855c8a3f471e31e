"""Workers hear of a promise at once, and go on listening whatever happens."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import text

from printworks.store.engine.database import Database
from printworks.store.queue.jobs import CHANNEL
from printworks.store.queue.wakeup import SECONDS_BETWEEN_POLLS, watch
from tests.worker.queues import add_merchant, enqueue_one


def listen(database: Database, scene: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Play a scene while somebody watches."""

    async def play() -> None:
        woken = asyncio.Event()
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(watch(database, woken.set))
            await scene(woken)
            watching.cancel()

    asyncio.run(play())


def test_a_promise_wakes_whoever_watches(database: Database) -> None:
    async def scene(woken: asyncio.Event) -> None:
        await woken.wait()
        for _ in range(3):
            woken.clear()
            await asyncio.to_thread(enqueue_one, database)
            await woken.wait()

    enqueue_one(database)

    listen(database, scene)


def test_on_sqlite_a_sooner_sleeper_wakes_and_other_writes_do_not(
    sqlite_database: Database,
) -> None:
    async def scene(woken: asyncio.Event) -> None:
        await woken.wait()
        woken.clear()
        await asyncio.to_thread(add_merchant, sqlite_database)
        await asyncio.sleep(3 * SECONDS_BETWEEN_POLLS)  # time enough to be woken, if it were so
        assert not woken.is_set()
        await asyncio.to_thread(enqueue_one, sqlite_database, wait=timedelta(seconds=1))
        await woken.wait()

    enqueue_one(sqlite_database, wait=timedelta(hours=1))

    listen(sqlite_database, scene)


def test_on_postgresql_a_lost_connection_is_made_again(postgresql_database: Database) -> None:
    listeners = text("SELECT pid FROM pg_stat_activity WHERE query = :listens")
    ends = text("SELECT pg_terminate_backend(:pid)")

    def cut_off() -> None:
        with postgresql_database.reading() as db:
            for pid in db.execute(listeners, {"listens": f"LISTEN {CHANNEL}"}).scalars().all():
                db.execute(ends, {"pid": pid})

    async def scene(woken: asyncio.Event) -> None:
        await woken.wait()
        woken.clear()
        await asyncio.to_thread(cut_off)
        await woken.wait()  # listening again
        woken.clear()
        await asyncio.to_thread(enqueue_one, postgresql_database)
        await woken.wait()

    listen(postgresql_database, scene)


@pytest.mark.parametrize("password", ["with%20a%20blank", "a%2Fb%40c%3Ad%25e", "with+plus"])
def test_any_password_can_be_used_to_listen(postgresql_database: Database, password: str) -> None:
    # The server trusts whoever comes, but the client has to understand its own address.
    plain = postgresql_database.url.render_as_string(hide_password=False)
    database = Database(plain.replace("postgres@", f"postgres:{password}@"))

    async def scene(woken: asyncio.Event) -> None:
        await woken.wait()

    listen(database, scene)
    database.close()
