"""How the databases would run what was asked of them."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import psycopg
from sqlalchemy import Connection, text

from printworks.store.engine.database import Database

# There are too few rows in a test for an index to be worth while by itself.
SLOW_WAYS = ("seqscan", "bitmapscan", "sort", "incremental_sort", "hashjoin", "mergejoin")


def explain_on_sqlite(
    database: Database, call: Callable[[Connection], object]
) -> dict[str, list[str]]:
    """Run something, and return the plan of every statement that it ran."""
    statements: list[str] = []
    with database.reading() as db:
        driver: Any = db.connection.dbapi_connection
        driver.set_trace_callback(statements.append)
        call(db)
        driver.set_trace_callback(None)
        return {
            statement: [row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {statement}")]
            for statement in statements
        }


class Recording(psycopg.Cursor[Any]):
    """A cursor that remembers what it was asked."""

    asked: ClassVar[list[tuple[Any, Any]]] = []

    def execute(self, query: Any, params: Any = None, **how: Any) -> Self:
        """Remember it, and ask."""
        self.asked.append((query, params))
        return super().execute(query, params, **how)


def explain_on_postgresql(
    database: Database, call: Callable[[Connection], object], *, sorts: bool = False
) -> dict[str, str]:
    """Run something, and return the plan of every statement that it ran."""
    with database.writing() as db:
        for way in SLOW_WAYS:
            if not (sorts and "sort" in way):
                db.execute(text(f"SET LOCAL enable_{way} = off"))
        driver: Any = db.connection.dbapi_connection
        plans = {}
        for query, params in _record(driver, lambda: call(db)):
            # Values are named, or numbered if the statement had no cursor.
            is_numbered = isinstance(query, bytes)
            cursor = driver.numbered_cursor() if is_numbered else driver.cursor()
            words = query.decode() if is_numbered else query
            rows = cursor.execute(f"EXPLAIN {words}", params).fetchall()
            plans[str(words)] = "\n".join(row[0] for row in rows)
        return plans


def _record(driver: Any, call: Callable[[], object]) -> list[tuple[Any, Any]]:
    """Do something, and return all that the server was asked, with and without a cursor."""
    run, factory = driver.run, driver.cursor_factory

    def remember(sql: bytes, values: Sequence[Any]) -> Any:
        Recording.asked.append((sql, values))
        return run(sql, values)

    Recording.asked.clear()
    driver.run, driver.cursor_factory = remember, Recording
    call()
    driver.run, driver.cursor_factory = run, factory
    return list(Recording.asked)
