"""Noticing at once that a job was enqueued.

A worker also polls now and then: what is missed here is late, but not lost.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import structlog

from printworks.store.engine.database import Database
from printworks.store.engine.sqlite import dbapi2
from printworks.store.queue.jobs import CHANNEL

# A query takes a few microseconds, so polling fifty times a second costs next to nothing.
SECONDS_BETWEEN_POLLS: Final = 0.02
SECONDS_TO_RECOVER: Final = 1.0

log = structlog.get_logger()


async def watch(database: Database, wake: Callable[[], object]) -> None:
    """Call `wake` whenever something may have become due; only a cancellation ends it."""
    if database.is_sqlite:
        await _watch_sqlite(database, wake)
    else:
        await _watch_postgresql(database, wake)


async def _watch_sqlite(database: Database, wake: Callable[[], object]) -> None:
    connection = dbapi2.connect(str(database.url.database), isolation_level=None)
    try:
        version = seen = None
        while True:
            try:
                # Changes when another connection, in any process, has committed.
                found = connection.execute("PRAGMA data_version").fetchone()
                if found != version:
                    # Most commits enqueue nothing, and a claim would delay other writers.
                    is_due, next_due_at = _read_due(connection)
                    if is_due or next_due_at != seen:
                        wake()
                    version, seen = found, next_due_at
            except dbapi2.Error as error:
                log.warning("database cannot be read", error=str(error))
                await asyncio.sleep(SECONDS_TO_RECOVER)
            await asyncio.sleep(SECONDS_BETWEEN_POLLS)
    finally:
        connection.close()


def _read_due(connection: Any) -> Any:
    return connection.execute("""
        SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'due'), (
            SELECT due_at FROM jobs WHERE state = 'scheduled' ORDER BY due_at LIMIT 1
        )
    """).fetchone()


async def _watch_postgresql(database: Database, wake: Callable[[], object]) -> None:
    import psycopg

    # As the engine connects, and not with a text: libpq refuses some that SQLAlchemy writes, such
    # as one with a blank in the password, and repeats them in its error.
    _, options = database.engine.dialect.create_connect_args(database.url)
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(
                autocommit=True, **options
            ) as connection:
                await connection.execute(f"LISTEN {CHANNEL}".encode())
                # For what was enqueued before this listened.
                wake()
                async for _ in connection.notifies():
                    wake()
        except psycopg.OperationalError as error:
            log.warning("database lost, listening again soon", error=str(error))
        await asyncio.sleep(SECONDS_TO_RECOVER)
