"""How the databases would run what was asked of them."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import psycopg
import pytest
from psycopg import sql
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


def explain_on_postgresql(
    database: Database, call: Callable[[Connection], object], *, sorts: bool = False
) -> dict[str, str]:
    """Run something, and return the plan of every statement that it ran."""
    with database.writing() as db:
        for way in SLOW_WAYS:
            if not (sorts and "sort" in way):
                db.execute(text(f"SET LOCAL enable_{way} = off"))
        driver: Any = db.connection.dbapi_connection
        return {
            str(query, "utf-8") if isinstance(query, bytes) else query: explain(query, params)
            for explain, query, params in _record(driver, lambda: call(db))
        }


def _record(driver: Any, call: Callable[[], object]) -> list[tuple[Callable[..., str], Any, Any]]:
    """Do something, and return all that the server was asked, and how each plan can be seen."""
    asked: list[tuple[Callable[..., str], Any, Any]] = []

    def explain(query: str, params: Any) -> str:
        return _join(driver.cursor().execute(f"EXPLAIN {query}", params))

    def explain_numbered(query: bytes, params: Sequence[Any]) -> str:
        return _join(driver.numbered_cursor().execute(b"EXPLAIN " + query, params))

    def explain_kept(query: bytes, params: Sequence[Any]) -> str:
        """Return the plan for any values, which is not made for these."""
        cursor = driver.numbered_cursor()
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(b"PREPARE explained AS " + query)
        values = sql.SQL(", ").join(map(sql.Literal, params))
        plan = _join(cursor.execute(sql.SQL("EXPLAIN EXECUTE explained ({})").format(values)))
        cursor.execute("DEALLOCATE explained")
        cursor.execute("RESET plan_cache_mode")
        return plan

    class Recording(psycopg.Cursor[Any]):
        """A cursor that remembers what it was asked."""

        def execute(self, query: Any, params: Any = None, **how: Any) -> Self:
            asked.append((explain, query, params))
            return super().execute(query, params, **how)

    def recording(run: Callable[..., Any], explain: Callable[..., str]) -> Callable[..., Any]:
        def run_recorded(query: bytes, params: Sequence[Any]) -> Any:
            asked.append((explain, query, params))
            return run(query, params)

        return run_recorded

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "run", recording(driver.run, explain_numbered))
        kept = recording(driver.run_with_kept_plan, explain_kept)
        patch.setattr(driver, "run_with_kept_plan", kept)
        patch.setattr(driver, "cursor_factory", Recording)
        call()
    return asked


def _join(explained: Any) -> str:
    return "\n".join(line for (line,) in explained.fetchall())
