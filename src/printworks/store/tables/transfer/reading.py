"""Reads whole tables, a page at a time, in the order of their keys."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, TextClause, text

from printworks.store.tables.transfer.shapes import ColumnKind, ColumnShape, Row, TableShape

# Rows that are in memory at once.
PAGE: Final = 2000

_decode: Final = msgspec.json.Decoder().decode
# What both databases answer: readable text.
_ON_POSTGRESQL: Final = {
    ColumnKind.JSON: "CAST({name} AS text)",
    ColumnKind.TIME: "to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
}


class TablePage(NamedTuple):
    """Some rows of a table, and the key of the last one."""

    rows: list[Row]
    last: list[Any]


def read_pages(
    db: Connection, shape: TableShape, *, after: Sequence[Any] = ()
) -> Iterator[TablePage]:
    """Read the rows of a table behind a key, or all; in a snapshot if they should fit together."""
    last = list(after)
    while True:
        asked = {f"key_{place}": value for place, value in enumerate(last)}
        found = db.execute(_write(shape, db.dialect.name, is_first=not last), asked).all()
        if not found:
            return
        rows = [list(row) for row in found]
        last = [rows[-1][place] for place in shape.key_places]
        _convert(shape, rows)
        yield TablePage(rows, last)
        if len(found) < PAGE:
            return


def _convert(shape: TableShape, rows: list[Row]) -> None:
    for place in shape.places_of(ColumnKind.JSON):
        for row in rows:
            if row[place] is not None:
                row[place] = _decode(row[place])
    # SQLite has only numbers.
    for place in shape.places_of(ColumnKind.FLAG):
        for row in rows:
            if row[place] is not None:
                row[place] = bool(row[place])


def _write(shape: TableShape, dialect: str, *, is_first: bool) -> TextClause:
    shown = ", ".join(_write_column(column, dialect) for column in shape.columns)
    keys = ", ".join(shape.key)
    behind = ", ".join(f":key_{place}" for place in range(len(shape.key)))
    where = "" if is_first else f"WHERE ({keys}) > ({behind})"
    # Names of tables and columns are checked by their shape.
    return text(f"SELECT {shown} FROM {shape.name} {where} ORDER BY {keys} LIMIT {PAGE}")  # noqa: S608


def _write_column(column: ColumnShape, dialect: str) -> str:
    form = "{name}" if dialect == "sqlite" else _ON_POSTGRESQL.get(column.kind, "{name}")
    return form.format(name=column.name)
