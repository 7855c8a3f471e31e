"""The one door to the database: a snapshot to read from, a transaction to write in.

SQLite (through pysqlite3, for a release without the WAL-reset bug) and PostgreSQL behave
alike behind it: `reading()` sees committed rows, `writing()` commits when the block ends
and rolls back when it raises.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.engine import URL

from printworks.store import sqlite


class DatabaseUnusable(Exception):
    """The database cannot be used; the message says what to do."""


class WriterQueue:
    """Lets writers of all processes wait in line for SQLite's single writer's place.

    SQLite itself only polls, with sleeps of up to 100 ms: under load some writers starve.
    The kernel's file lock wakes the next one at once.
    """

    def __init__(self, path: Path) -> None:
        self._threads = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __enter__(self) -> Self:
        self._threads.acquire()
        fcntl.flock(self._file, fcntl.LOCK_EX)
        return self

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._threads.release()

    def close(self) -> None:
        """Give the file back."""
        os.close(self._file)


class Database:
    """An open database. Make one per process, after any fork."""

    def __init__(self, url: str, *, connections: int = 8) -> None:
        self.url: URL = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._queue: WriterQueue | None = None
        self._readers: Engine
        if self.is_sqlite:
            self._open_sqlite(connections)
        else:
            self.engine = create_engine(
                self.url.set(drivername="postgresql+psycopg"),
                # A statement that fails is logged, and its values may be personal.
                hide_parameters=True,
                pool_size=connections,
                max_overflow=0,
                pool_timeout=10,
            )
            self._readers = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def _open_sqlite(self, connections: int) -> None:
        if sqlite.VERSION < sqlite.OLDEST:
            message = (
                f"SQLite {'.'.join(map(str, sqlite.VERSION))} can corrupt a database in WAL mode; "
                "install pysqlite3 with SQLite 3.51.3 or later."
            )
            raise DatabaseUnusable(message)
        if not self.url.database or self.url.database == ":memory:":
            message = "The SQLite database must be a file: sqlite:////path/to/printworks.db"
            raise DatabaseUnusable(message)
        path = Path(self.url.database)
        self._queue = WriterQueue(path.with_name(path.name + "-writers"))
        reading = self.url.set(drivername="sqlite+reading")
        writing = self.url.set(drivername="sqlite+writing")
        self._readers = create_engine(
            reading, pool_size=connections, max_overflow=0, hide_parameters=True
        )
        # The queue lets in one at a time.
        self.engine = create_engine(writing, pool_size=1, max_overflow=0, hide_parameters=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read what is committed; each statement sees what is so when it runs."""
        with self._readers.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open one transaction: it commits when the block ends and rolls back when it raises."""
        with self._queue or nullcontext(), self.engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self._readers.dispose()
        self.engine.dispose()
        if self._queue is not None:
            self._queue.close()
