"""Several statements that must see the same moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, text

_BEGIN: Final = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


@contextmanager
def consistent_snapshot(db: Connection) -> Iterator[None]:
    """Let every statement of the block see what was so when the first of them ran.

    For a connection of `Database.reading()`, whose statements otherwise see what is so when each
    of them runs.
    """
    db.execute(text(_BEGIN[db.dialect.name]))
    try:
        yield
    finally:
        db.execute(text("ROLLBACK"))
