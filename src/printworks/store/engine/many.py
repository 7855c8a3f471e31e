"""Any number of new rows in one statement.

A statement costs more than a row, and so does converting each value for the driver. The rows are
passed as one JSON text, which the database takes apart: the same statement whatever their number.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Column, Connection, Dialect, Table, bindparam, text
from sqlalchemy.dialects import postgresql

from printworks.store.engine.columns import Timestamp
from printworks.store.engine.prepared import PreparedStatement

_POSTGRESQL: Final[Dialect] = postgresql.dialect()  # type: ignore[no-untyped-call]
_encode: Final = msgspec.json.Encoder().encode


class InsertMany:
    """Adds rows to a table.

    They share the values of some columns, and each has its own of others; timestamps must be
    shared, since JSON has none. Columns in neither list get their defaults.
    """

    def __init__(self, table: Table, *, shared: Sequence[str], each: Sequence[str]) -> None:
        assert not any(isinstance(table.c[name].type, Timestamp) for name in each)  # noqa: S101
        self._each = each
        bound = [bindparam(name, type_=table.c[name].type) for name in shared]
        self._statements = {
            name: PreparedStatement(text(sql).bindparams(*bound))
            for name, sql in (
                ("sqlite", _write_for_sqlite(table, shared, each)),
                ("postgresql", _write_for_postgresql(table, shared, each)),
            )
        }

    def run(
        self, db: Connection, shared: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]
    ) -> list[int]:
        """Add the rows and return their ids, in the order of the rows."""
        each = [[row[name] for name in self._each] for row in rows]
        values = {**shared, "rows": _encode(each).decode()}
        # Given in this order, but not necessarily returned in it.
        return sorted(row[0] for row in self._statements[db.dialect.name].all(db, values))


def _write_for_sqlite(table: Table, shared: Sequence[str], each: Sequence[str]) -> str:
    values = [*(f":{name}" for name in shared), *(f"value ->> {n}" for n in range(len(each)))]
    return (
        f"INSERT INTO {table.name} ({', '.join((*shared, *each))}) "  # noqa: S608  (all bound)
        f"SELECT {', '.join(values)} FROM json_each(:rows) ORDER BY key RETURNING id"
    )


def _write_for_postgresql(table: Table, shared: Sequence[str], each: Sequence[str]) -> str:
    values = [*(_cast(table.c[name], f":{name}") for name in shared)]
    for place, column in enumerate(table.c[name] for name in each):
        # A null of JSON is none of the database unless it is read as text.
        values.append(_cast(column, f"value ->> {place}"))
    return (
        f"INSERT INTO {table.name} ({', '.join((*shared, *each))}) "  # noqa: S608  (all bound)
        f"SELECT {', '.join(values)} FROM json_array_elements(CAST(:rows AS json)) "
        "WITH ORDINALITY AS given (value, place) ORDER BY place RETURNING id"
    )


def _cast(column: Column[Any], value: str) -> str:
    # A value of a SELECT would be text otherwise.
    return f"CAST({value} AS {column.type.compile(_POSTGRESQL)})"
