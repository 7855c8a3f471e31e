"""Bare INSERTs: the rows of one order in one durable transaction, again and again, in one process.

What to write is learnt from the service: it creates one order, and the rows that are there
afterwards are written again by the bare driver. Run `python -m bench.inserts URL SECONDS` with a
seeded database; prints one line of JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from statistics import quantiles
from typing import Any

import psycopg
from sqlalchemy import Connection, Table, text

from bench.seeds import COUNTS, NEW
from printworks.actions.orders.orders import create_order
from printworks.clock import system_clock
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from printworks.store.engine.sqlite import dbapi2 as sqlite
from printworks.store.tables.base import metadata
from tests.factories import a_work

# With fewer transactions, the rate would be down to chance.
ENOUGH = 50


class NewRow:
    """A row that a create has written, and how to write another one like it."""

    def __init__(self, table: Table, values: dict[str, Any]) -> None:
        self.table = table
        self.values = values
        # The columns that name another row of the same transaction, and its table.
        self.references = {
            column.name: key.column.table.name
            for column in table.columns
            for key in column.foreign_keys
        }
        self.counts = [column for name, column in COUNTS if name == table.name]

    def fill(self, written: dict[str, int], by: int) -> list[Any]:
        """Return the values of another row, this many orders later."""
        values = dict(self.values)
        for column, table in self.references.items():
            values[column] = written.get(table, values[column])
        for column in self.counts:
            values[column] += by
        return list(values.values())


def learn(database: Database) -> list[NewRow]:
    """Create an order through the service, and return the rows that it has written."""
    tables = [table for table in metadata.sorted_tables if "id" in table.columns]
    with database.writing() as db:
        before = {table.name: _find_last(db, table) for table in tables}
        create_order(a_work(db, get_merchant(db, 1), now=system_clock()), NEW)
        found = []
        for table in tables:
            wanted = text(f"SELECT * FROM {table.name} WHERE id > :last ORDER BY id")
            for row in db.execute(wanted, {"last": before[table.name]}).mappings():
                values = {name: _encode(value) for name, value in row.items() if name != "id"}
                found.append(NewRow(table, values))
    return found


def _find_last(db: Connection, table: Table) -> int:
    return int(db.execute(text(f"SELECT coalesce(max(id), 0) FROM {table.name}")).scalar_one())


def _encode(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def plan_sqlite(path: str, rows: list[NewRow]) -> Callable[[int], None]:
    """Return a function that writes the rows with the bare driver."""
    connection = sqlite.connect(path, isolation_level=None)
    for pragma in ("busy_timeout=30000", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    statements = [_write_insert(row, "?") for row in rows]
    count = _write_count()

    def insert(by: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(count).fetchone()
        written: dict[str, int] = {}
        for row, statement in zip(rows, statements, strict=True):
            written[row.table.name] = connection.execute(statement, row.fill(written, by)).lastrowid
        connection.execute("COMMIT")

    return insert


def plan_postgresql(url: str, rows: list[NewRow]) -> Callable[[int], None]:
    """Return a function that writes the rows with the bare driver."""
    connection = psycopg.connect(url)
    statements = [f"{_write_insert(row, '%s')} RETURNING id".encode() for row in rows]
    count = _write_count().encode()

    def insert(by: int) -> None:
        connection.execute(count).fetchone()
        written: dict[str, int] = {}
        for row, statement in zip(rows, statements, strict=True):
            (number,) = connection.execute(statement, row.fill(written, by)).fetchone() or (0,)
            written[row.table.name] = number
        connection.commit()

    return insert


def _write_insert(row: NewRow, mark: str) -> str:
    marks = ", ".join([mark] * len(row.values))
    return f"INSERT INTO {row.table.name} ({', '.join(row.values)}) VALUES ({marks})"


def _write_count() -> str:
    counted = ", ".join(f"{count} = {count} + 1" for count in COUNTS.values())
    return f"UPDATE merchants SET {counted} WHERE id = 1 RETURNING order_count"


def measure(insert: Callable[[int], None], seconds: float) -> dict[str, float]:
    """Insert for a while; return the rate and the latencies in milliseconds."""
    laps: list[float] = []
    started = now = time.perf_counter()
    while now - started < seconds or len(laps) < ENOUGH:
        insert(1 + len(laps))
        before, now = now, time.perf_counter()
        laps.append((now - before) * 1000)
    cuts = quantiles(laps, n=100)
    return {"per_second": len(laps) / (now - started), "p50": cuts[49], "p99": cuts[98]}


def main() -> None:
    """Learn what a create writes, and write it again and again."""
    url, seconds = sys.argv[1:]
    database = Database(url)
    rows = learn(database)
    path = database.url.database or ""
    insert = plan_sqlite(path, rows) if database.is_sqlite else plan_postgresql(url, rows)
    print(json.dumps({**measure(insert, float(seconds)), "rows": len(rows)}))
    database.close()


if __name__ == "__main__":
    main()
