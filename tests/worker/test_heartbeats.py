"""A worker is heard of from its start to its stop, and no longer."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from structlog.typing import EventDict

from printworks.rules.heartbeats import Heartbeat
from printworks.store.engine.database import Database
from printworks.store.queue.heartbeats import list_heartbeats
from printworks.worker.heartbeats import Heart, Pulse
from printworks.worker.loop import Context, Worker
from tests.factories import NOON, some_services
from tests.worker.queues import enqueue_one
from tests.worker.running import hang, running, work


def list_all(database: Database) -> list[Heartbeat]:
    """Return what all workers last said."""
    with database.reading() as db:
        return list_heartbeats(db)


def test_a_worker_is_heard_of_while_it_runs(database: Database) -> None:
    heard: list[Heartbeat] = []

    async def scene(worker: Worker) -> None:
        async with running(worker):
            while not heard:
                await asyncio.sleep(0)
                heard.extend(await asyncio.to_thread(list_all, database))
        assert heard[0].worker == worker.name

    work(database, hang, scene)

    assert (heard[0].started_at, heard[0].beat_at) == (NOON, NOON)
    assert list_all(database) == []


def test_what_a_worker_does_is_counted(database: Database) -> None:
    async def scene(worker: Worker) -> None:
        await worker.drain()
        assert worker._feel_pulse() == Pulse(running=0, finished=2)

    async def succeed(*_: object) -> None:
        pass

    enqueue_one(database)
    enqueue_one(database)

    work(database, succeed, scene)


def test_a_worker_stops_even_if_it_cannot_say_so(
    sqlite_database: Database, logged: list[EventDict]
) -> None:
    with sqlite_database.writing() as db:
        db.exec_driver_sql("DROP TABLE heartbeats")

    async def play() -> None:
        with ThreadPoolExecutor(1) as threads:
            await Heart(Context(some_services(sqlite_database), threads), "worker").stop()

    asyncio.run(play())

    assert [line["event"] for line in logged] == ["heartbeat left behind"]
