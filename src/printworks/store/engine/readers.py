"""Connections to read with, kept open between requests.

Taking a connection from SQLAlchemy's pool and giving it back costs as much as reading an order.
So whoever is done leaves it here, and the next one continues with it; the pool still limits how
many there are.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine

from printworks.errors import ServiceError

# Says whether a connection of the driver can still be used, given when it was last used.
IsUsable = Callable[[Any, float], bool]


class Readers:
    """The open connections of an engine that nobody uses now, the latest first."""

    def __init__(self, engine: Engine, is_usable: IsUsable | None = None) -> None:
        self._engine = engine
        self._is_usable = is_usable
        self._idle: list[tuple[Connection, float]] = []
        self._lock = threading.Lock()
        self._waiting = 0

    def take(self) -> Connection:
        """Return a connection; wait for one if all are in use."""
        found = self._find_idle()
        if found is not None:
            return found
        with self._lock:
            self._waiting += 1
        try:
            # Another look: whoever leaves one from now on knows that somebody waits.
            return self._find_idle() or self._engine.connect()
        finally:
            with self._lock:
                self._waiting -= 1

    def leave(self, connection: Connection) -> None:
        """Keep a connection for the next one, or pass it to whoever waits at the pool."""
        if connection.in_transaction():
            connection.rollback()
        self._idle.append((connection, time.monotonic()))
        if self._waiting and (kept := self._pop()):
            kept[0].close()

    def close(self) -> None:
        while kept := self._pop():
            kept[0].close()
        self._engine.dispose()

    def _find_idle(self) -> Connection | None:
        while kept := self._pop():
            connection, used_at = kept
            if self._is_usable is None:
                return connection
            if self._is_usable(connection.connection.dbapi_connection, used_at):
                return connection
            connection.invalidate()
            connection.close()
        return None

    def _pop(self) -> tuple[Connection, float] | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None


class ReadingBlock:
    """A block that reads with one of these connections."""

    __slots__ = ("_connection", "_readers")

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def __enter__(self) -> Connection:
        self._connection = self._readers.take()
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, ServiceError):
            self._readers.leave(self._connection)
        else:
            # The pool finds out whether it can still be used.
            self._connection.close()


class HeldReader:
    """One of these connections, held for good to wait for PostgreSQL's answers at its socket."""

    def __init__(self, readers: Readers) -> None:
        self.db = readers.take()
        driver: Any = self.db.connection.dbapi_connection
        self.socket: int = driver.fileno()

    def close(self) -> None:
        """Close the connection: an answer may be on its way, and the next one must not get it."""
        self.db.invalidate()
        self.db.close()
