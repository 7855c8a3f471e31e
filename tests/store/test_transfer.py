"""Whole tables are read and written alike in both databases, whatever is in them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert, select, text, update

from printworks.store.accounts.idempotency import purge_idempotency_keys
from printworks.store.engine.database import Database
from printworks.store.engine.integrity import find_faults
from printworks.store.engine.sequences import read_sequences, set_sequences
from printworks.store.tables import audit_log, daily_figures, idempotency_keys, merchants, metadata
from printworks.store.tables.transfer.loading import find_filled, insert_rows
from printworks.store.tables.transfer.reading import read_pages
from printworks.store.tables.transfer.shapes import (
    ColumnKind,
    ColumnShape,
    RowSum,
    TableShape,
    list_numbered,
    list_shapes,
    read_line,
    write_line,
)
from tests.factories import NOON, a_merchant, an_order

SHAPES = {shape.name: shape for shape in list_shapes()}
LATE = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def read(database: Database, name: str) -> list[list[Any]]:
    """Return all rows of a table."""
    with database.reading() as db:
        return [row for page in read_pages(db, SHAPES[name]) for row in page.rows]


def add_strange_rows(database: Database) -> None:
    """Add values that are easily changed on the way."""
    with database.writing() as db:
        merchant = a_merchant(db)
        db.execute(update(merchants).values(name="O'Brien & Söhne \\N \\. \t\r\n\x01 😀"))
        for number, body in enumerate((b"", bytes(range(256)), None)):
            db.execute(
                insert(idempotency_keys).values(
                    merchant_id=merchant.id,
                    key=f"key {number} é",
                    fingerprint="",
                    claimed_until=LATE,
                    claim="",
                    answer_body=body,
                    created_at=NOON,
                )
            )
        db.execute(
            insert(daily_figures).values(
                day="2026-11-15",
                orders=2**31 - 1,
                revenue={"b": 1, "a": [None, True, {"z": "\u2028 \\"}], "": 1.5},
                sales={},
                shipped=0,
                in_time=0,
                median_hours=1 / 3,
                attempts=0,
                delivered=0,
            )
        )
        an_order(db, merchant, merchant_order_id='"\\u0041"')


def test_every_table_is_described() -> None:
    assert set(SHAPES) == {table.name for table in metadata.tables.values()}
    assert all(shape.key for shape in SHAPES.values())
    seen: set[str] = set()
    for table in metadata.sorted_tables:
        parents = {key.column.table.name for key in table.foreign_keys} - {table.name}
        assert parents <= seen
        seen.add(table.name)


def test_rows_are_the_same_after_they_were_written_down(database: Database) -> None:
    add_strange_rows(database)
    for name, shape in SHAPES.items():
        rows = read(database, name)
        lines = [write_line(row) for row in rows]
        assert [read_line(shape, line) for line in lines] == rows
        assert not any(b"\n" in line for line in lines)


def test_rows_are_the_same_in_another_database(
    sqlite_database: Database, postgresql_database: Database
) -> None:
    add_strange_rows(sqlite_database)
    for name, shape in SHAPES.items():
        if name == "secrets":
            continue
        rows = read(sqlite_database, name)
        with postgresql_database.writing() as db:
            insert_rows(db, shape, rows)
        there = read(postgresql_database, name)
        here_sum, there_sum = RowSum(), RowSum()
        here_sum.add(rows)
        there_sum.add(reversed(there))
        assert (here_sum.rows, here_sum.text) == (there_sum.rows, there_sum.text)


def test_a_page_begins_behind_a_key(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    add_strange_rows(database)
    monkeypatch.setattr("printworks.store.tables.transfer.reading.PAGE", 2)
    shape = SHAPES["idempotency_keys"]
    with database.reading() as db:
        first, second = read_pages(db, shape)
        behind = list(read_pages(db, shape, after=first.last))

    assert [len(first.rows), len(second.rows)] == [2, 1]
    assert behind == [second]


def test_the_last_number_stays_known_when_its_row_is_gone(database: Database) -> None:
    add_strange_rows(database)
    with database.writing() as db:
        db.execute(audit_log.delete())
        before = read_sequences(db, list_numbered(list_shapes()))
        set_sequences(db, {**before, "orders": 500, "issues": 0})
        after = read_sequences(db, list_numbered(list_shapes()))
        merchant = a_merchant(db)
        assert an_order(db, merchant).id == 501
    assert before["orders"] == 1
    assert after == {**before, "orders": 500}


def test_an_empty_database_is_told_from_one_with_rows(database: Database) -> None:
    with database.writing() as db:
        empty = find_filled(db, list_shapes())
        a_merchant(db)
        filled = find_filled(db, list_shapes())
        assert purge_idempotency_keys(db, before=NOON, limit=1) == 0

    assert empty is None
    assert filled == "merchants"


@pytest.mark.parametrize("name", ["orders; DROP TABLE orders", "", "Orders", "1", "a b"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name"):
        TableShape(
            name=name, columns=[ColumnShape("id", ColumnKind.INTEGER)], key=["id"], is_numbered=True
        )


def test_a_line_of_another_table_is_refused() -> None:
    with pytest.raises(ValueError, match="has 1 values"):
        read_line(SHAPES["orders"], b"[1]")


def test_a_database_that_is_whole_has_no_faults(database: Database) -> None:
    add_strange_rows(database)
    with database.reading() as db:
        assert list(find_faults(db)) == []


def test_a_row_that_refers_to_nothing_is_found(sqlite_database: Database) -> None:
    add_strange_rows(sqlite_database)
    with sqlite_database.writing() as db:
        driver: Any = db.connection.dbapi_connection
        # It can be switched off only between transactions.
        driver.commit()
        driver.execute("PRAGMA foreign_keys = OFF")
        driver.execute("UPDATE orders SET merchant_id = 77")
        driver.execute("BEGIN IMMEDIATE")
    with sqlite_database.reading() as db:
        assert list(find_faults(db)) == [
            "Row 1 of `orders` refers to a row of `merchants` that does not exist."
        ]


def test_a_constraint_that_was_never_checked_is_found(postgresql_url: str) -> None:
    database = Database(postgresql_url)
    with database.writing() as db:
        db.execute(text("ALTER TABLE issues ADD CONSTRAINT odd CHECK (id > 0) NOT VALID"))
        db.execute(
            text("UPDATE pg_index SET indisvalid = false WHERE indrelid = 'plans'::regclass")
        )
    with database.reading() as db:
        faults = list(find_faults(db))
        assert db.execute(select(1)).scalar() == 1
    database.close()

    assert faults[0] == "PostgreSQL has not checked the constraint issues: odd."
    assert "ix_plans_order_id of PostgreSQL is not valid; run REINDEX." in " ".join(faults)
