"""Writes whole tables into an empty database."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, text

from printworks.store.tables.transfer.shapes import ColumnKind, Row, TableShape

# Has rows from the first start on, which a restored one replaces.
_NOT_COUNTED: Final = "secrets"
_encode: Final = msgspec.json.encode


def find_filled(db: Connection, shapes: Sequence[TableShape]) -> str | None:
    """Return the name of a table that has rows; None if there is nothing in the database."""
    for shape in shapes:
        if shape.name != _NOT_COUNTED:
            query = f"SELECT 1 FROM {shape.name} LIMIT 1"  # noqa: S608  (checked by its shape)
            if db.execute(text(query)).first() is not None:
                return shape.name
    return None


def empty_table(db: Connection, name: str) -> None:
    """Delete all rows of a table."""
    db.execute(text(f"DELETE FROM {name}"))  # noqa: S608  (our own names)


def insert_rows(db: Connection, shape: TableShape, rows: Sequence[Row]) -> None:
    """Add rows as they are, with their numbers."""
    if db.dialect.name == "sqlite":
        _insert_into_sqlite(db, shape, rows)
    else:
        _copy_into_postgresql(db, shape, rows)


def _insert_into_sqlite(db: Connection, shape: TableShape, rows: Sequence[Row]) -> None:
    names = ", ".join(column.name for column in shape.columns)
    values = ", ".join("?" * len(shape.columns))
    driver: Any = db.connection.dbapi_connection
    driver.executemany(
        f"INSERT INTO {shape.name} ({names}) VALUES ({values})",  # noqa: S608
        _write_values(shape, rows, zone=""),
    )


def _copy_into_postgresql(db: Connection, shape: TableShape, rows: Sequence[Row]) -> None:
    names = ", ".join(column.name for column in shape.columns)
    driver: Any = db.connection.dbapi_connection
    driver.send_waiting()
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY {shape.name} ({names}) FROM STDIN".encode()) as copy,
    ):
        for row in _write_values(shape, rows, zone="+00"):
            copy.write_row(row)


def _write_values(shape: TableShape, rows: Sequence[Row], *, zone: str) -> list[Row]:
    """Return the rows as a driver takes them."""
    written = [row.copy() for row in rows]
    for place in shape.places_of(ColumnKind.JSON):
        for row in written:
            if row[place] is not None:
                row[place] = _encode(row[place]).decode()
    if zone:
        for place in shape.places_of(ColumnKind.TIME):
            for row in written:
                if row[place] is not None:
                    row[place] += zone
    return written
