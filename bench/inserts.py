"""Bare INSERTs: one order row in one durable transaction, again and again, in one process.

`driver` goes straight to pysqlite3; `store` goes through the store; `rows` is the
bare driver again, but with everything that creating an order writes. Prints one line of JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import quantiles
from typing import Any

from sqlalchemy import insert

from bench.seeds import EVENT, an_order_row
from printworks.store.engine.database import Database
from printworks.store.engine.sqlite import dbapi2 as sqlite
from printworks.store.tables import orders


def through_the_driver(path: str) -> Callable[[int], None]:
    """Return a function that inserts one order with the bare driver."""
    connection = _open(path)
    row, statement = _plan_order()

    def insert_one(ordinal: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(statement, {**row, "ordinal": ordinal})
        connection.execute("COMMIT")

    return insert_one


def with_all_its_rows(path: str) -> Callable[[int], None]:
    """Return a function that also counts the order and records the event."""
    connection = _open(path)
    row, statement = _plan_order()
    count = "UPDATE merchants SET order_count = ? WHERE id = 1 RETURNING order_count"
    record = "INSERT INTO order_events (order_id, kind, facts, created_at) VALUES (?, ?, ?, ?)"

    def insert_one(ordinal: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(count, [ordinal]).fetchone()
        order = connection.execute(statement, {**row, "ordinal": ordinal}).lastrowid
        connection.execute(record, [order, "order-created", EVENT, row["created_at"]])
        connection.execute("COMMIT")

    return insert_one


def _open(path: str) -> Any:
    connection = sqlite.connect(path, isolation_level=None)
    for pragma in ("busy_timeout=30000", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _plan_order() -> tuple[dict[str, Any], str]:
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(" ")
    row = {"ordinal": 0, **an_order_row(), "created_at": now, "updated_at": now}
    names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
    return row, f"INSERT INTO orders ({names}) VALUES ({marks})"


def through_the_store(path: str) -> Callable[[int], None]:
    """Return a function that inserts one order through the store's engine."""
    database = Database(f"sqlite:///{path}")
    now = datetime.now(UTC)
    row: dict[str, Any] = {**an_order_row(), "created_at": now, "updated_at": now}
    statement = insert(orders).inline()

    def insert_one(ordinal: int) -> None:
        with database.writing() as db:
            db.execute(statement, {**row, "ordinal": ordinal})

    return insert_one


def measure(insert_one: Callable[[int], None], *, first: int, seconds: float) -> dict[str, float]:
    """Insert for a while; return the rate and the latencies in milliseconds."""
    laps: list[float] = []
    started = now = time.perf_counter()
    while now - started < seconds:
        insert_one(first + len(laps))
        before, now = now, time.perf_counter()
        laps.append((now - before) * 1000)
    cuts = quantiles(laps, n=100)
    return {"per_second": len(laps) / (now - started), "p50": cuts[49], "p99": cuts[98]}


def find_next_ordinal(path: str) -> int:
    """Return the first unused ordinal."""
    connection = sqlite.connect(path)
    (largest,) = connection.execute("SELECT coalesce(max(ordinal), 0) FROM orders").fetchone()
    connection.close()
    return int(largest) + 1


if __name__ == "__main__":
    way, path, seconds = sys.argv[1:]
    prepare = {
        "driver": through_the_driver,
        "store": through_the_store,
        "rows": with_all_its_rows,
    }[way]
    first = find_next_ordinal(path)
    print(json.dumps(measure(prepare(path), first=first, seconds=float(seconds))))
