"""The one way to the database: a snapshot to read from, a transaction to write in.

SQLite (through pysqlite3, for a release without the WAL-reset bug) and PostgreSQL behave
alike behind it: `reading()` sees committed rows, `writing()` commits when the block ends
and rolls back when it raises.
"""

import fcntl
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import msgspec
from sqlalchemy import Connection, Dialect, Engine, create_engine, event, exc, make_url, text
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry

from printworks.store.engine import sqlite
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.readers import HeldReader, Readers, ReadingBlock

T = TypeVar("T")

# By name, since psycopg is imported with the first database of PostgreSQL alone.
registry.register("postgresql.direct", "printworks.store.engine.postgresql", "DirectDialect")

_OPTIONS: Final[dict[str, Any]] = {
    "max_overflow": 0,
    # A statement that fails is logged, and its values may be personal data.
    "hide_parameters": True,
    "json_serializer": lambda value: msgspec.json.encode(value).decode(),
    "json_deserializer": msgspec.json.decode,
}

_SAVE: Final = PreparedStatement(text("SAVEPOINT alone"))
_RETURN: Final = PreparedStatement(text("ROLLBACK TO SAVEPOINT alone"))
_RELEASE: Final = PreparedStatement(text("RELEASE SAVEPOINT alone"))

# A connection that was idle for longer is tested before it is used.
SECONDS_OF_TRUST: Final = 1.0

_OUTAGES: Final = (exc.OperationalError, exc.TimeoutError, sqlite.dbapi2.OperationalError)


def find_outages() -> tuple[type[Exception], ...]:
    """Return the errors of a database that is unreachable, full or locked for too long.

    They are temporary, and not a bug.
    """
    # Imported with the first database of PostgreSQL: with SQLite it would be 10 MB for nothing.
    driver = sys.modules.get("psycopg")
    return _OUTAGES if driver is None else (*_OUTAGES, driver.OperationalError)


class DatabaseUnusable(Exception):
    """The database cannot be used; the message says what to do."""


class WriterQueue:
    """Lets the writers of all processes queue for SQLite's single write lock.

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
        os.close(self._file)


class Database:
    """An open database. Make one per process, after any fork."""

    def __init__(self, url: str, *, connections: int = 8) -> None:
        self.url: URL = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._queue: WriterQueue | None = None
        self._readers: Readers
        if self.is_sqlite:
            self._open_sqlite(connections)
        else:
            self.engine = _make_engine(self.url, connections)
            _check_before_use(self.engine)
            reading = self.engine.execution_options(isolation_level="AUTOCOMMIT")
            self._readers = Readers(reading, partial(_is_usable, reading.dialect))

    def _open_sqlite(self, connections: int) -> None:
        if sqlite.VERSION < sqlite.OLDEST:
            raise DatabaseUnusable(
                f"SQLite {'.'.join(map(str, sqlite.VERSION))} can corrupt a database in WAL mode; "
                "install pysqlite3 (on ARM sqlcipher3) with SQLite 3.51.3 or later."
            )
        if not self.url.database or self.url.database == ":memory:":
            message = "The SQLite database must be a file: sqlite:////path/to/printworks.db"
            raise DatabaseUnusable(message)
        path = Path(self.url.database)
        self._queue = WriterQueue(path.with_name(path.name + "-writers"))
        reading = self.url.set(drivername="sqlite+reading")
        writing = self.url.set(drivername="sqlite+writing")
        self._readers = Readers(create_engine(reading, pool_size=connections, **_OPTIONS))
        # The queue lets in one at a time.
        self.engine = create_engine(writing, pool_size=1, **_OPTIONS)

    def reading(self) -> AbstractContextManager[Connection]:
        """Read what is committed; each statement sees the state when it runs."""
        return ReadingBlock(self._readers)

    def hold_reader(self) -> HeldReader:
        """Take one of the connections to read with for good; close it in the end."""
        return HeldReader(self._readers)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open one transaction: it commits when the block ends and rolls back when it raises."""
        if self._queue is None:
            with ReadingBlock(self._readers) as connection, _transaction(connection):
                yield connection
            return
        with self._queue, self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing_beside(self, reader: Connection) -> Iterator[Connection]:
        """Open one transaction while a connection of `reading()` is held.

        PostgreSQL uses that connection: threads that each hold one and wait for another would
        wait for each other.
        """
        if self.is_sqlite:
            with self.writing() as connection:
                yield connection
            return
        with _transaction(reader):
            yield reader

    def write_together(self, works: Sequence[Callable[[Connection], T]]) -> list[T | Exception]:
        """Do several pieces of work in one transaction; each happens completely or not at all.

        Return what each returned, or the exception that undid it. If this raises, none of
        them happened. A piece of work may be done twice, but only the last time counts.
        """
        if not works:
            return []
        with self.writing() as db:
            done = self._attempt_all(db, works) if self.is_sqlite else None
            return done or [self._attempt(db, work) for work in works]

    def _attempt_all(
        self, db: Connection, works: Sequence[Callable[[Connection], T]]
    ) -> list[T | Exception] | None:
        """Do all of it without savepoints; None, with all of it undone, if they are needed.

        Most work that is refused has written nothing, and there is nothing to undo.
        """
        driver: Any = db.connection.dbapi_connection
        outcomes: list[T | Exception] = []
        for work in works:
            before = driver.total_changes
            try:
                outcomes.append(work(db))
            except Exception as error:
                if not driver.in_transaction:
                    raise
                if driver.total_changes != before:
                    driver.execute("ROLLBACK")
                    driver.execute("BEGIN IMMEDIATE")
                    return None
                outcomes.append(error)
        return outcomes

    def _attempt(self, db: Connection, work: Callable[[Connection], T]) -> T | Exception:
        driver: Any = db.connection.dbapi_connection
        _SAVE.run(db, {})
        try:
            result = work(db)
            _RELEASE.count(db, {})
        except Exception as error:
            # A full disk, for example, ends the whole transaction and not only this part of it.
            if self.is_sqlite and not driver.in_transaction:
                raise
            _RETURN.count(db, {})
            _RELEASE.count(db, {})
            return error
        return result

    def close(self) -> None:
        self._readers.close()
        self.engine.dispose()
        if self._queue is not None:
            self._queue.close()


def _make_engine(url: URL, connections: int) -> Engine:
    address = url.set(drivername="postgresql+direct")
    try:
        return create_engine(address, pool_size=connections, pool_timeout=10, **_OPTIONS)
    except (exc.ArgumentError, ValueError) as error:
        raise DatabaseUnusable(f"The address of the database is wrong: {error}.") from error


def _check_before_use(engine: Engine) -> None:
    """Keep a restarted server from failing one request for each old connection.

    A ping before every transaction would do so too, at the price of a round trip each.
    """

    def note_use(_driver: object, entry: ConnectionPoolEntry) -> None:
        entry.info["used_at"] = time.monotonic()

    def check(driver: Any, entry: ConnectionPoolEntry, _use: object) -> None:
        used_at = entry.info.get("used_at")
        if used_at is not None and not _is_usable(engine.dialect, driver, used_at):
            raise exc.InvalidatePoolError

    event.listen(engine, "checkin", note_use)
    event.listen(engine, "checkout", check)


def _is_usable(dialect: Dialect, driver: Any, used_at: float) -> bool:
    """Say whether a connection works; ask the server only if there is a reason to doubt it."""
    try:
        is_trusted = time.monotonic() - used_at <= SECONDS_OF_TRUST and not _has_news(driver)
        return is_trusted or dialect.do_ping(driver)
    except dialect.loaded_dbapi.Error:
        return False


def _has_news(driver: Any) -> bool:
    """Say whether the server has sent something unasked, as it does when it ends a connection."""
    poll = select.poll()
    poll.register(driver.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def _transaction(db: Connection) -> Iterator[None]:
    """Open a transaction of PostgreSQL on a connection without one."""
    driver: Any = db.connection.dbapi_connection
    driver.begin()
    try:
        yield
        driver.end()
    except BaseException:
        driver.undo()
        raise


_BEGIN: Final = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


@contextmanager
def consistent_snapshot(db: Connection) -> Iterator[None]:
    """Let every statement of the block see the same state.

    For a connection of `Database.reading()`, whose statements otherwise each see the state when
    they run.
    """
    db.execute(text(_BEGIN[db.dialect.name]))
    try:
        yield
    finally:
        db.execute(text("COMMIT"))
