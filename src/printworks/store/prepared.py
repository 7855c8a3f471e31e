"""Statements on the path of every request, handed to the driver without detours.

SQLAlchemy writes the SQL and converts the values, as everywhere; but its way of executing
costs several times what the statement itself does, so here it is asked only once, and after
that the driver runs the text it wrote.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Dialect
from sqlalchemy.exc import NoResultFound
from sqlalchemy.sql import ClauseElement

Convert = Callable[[Any], Any]


class _Written(NamedTuple):
    """A statement in the words of one database."""

    sql: str
    # The values that the statement brings itself, such as the offset of a limit.
    given: Mapping[str, Any]
    conversions: tuple[tuple[str, Convert], ...]
    # The names of the values one after the other, for a driver that counts instead.
    order: tuple[str, ...] | None
    columns: tuple[tuple[int, Convert], ...]


class Prepared:
    """A statement with named values, compiled once for each kind of database."""

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._written: dict[str, _Written] = {}

    def first(self, db: Connection, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        written, cursor = self._execute(db, values)
        row = cursor.fetchone()
        cursor.close()
        return None if row is None else _convert(written, row)

    def one(self, db: Connection, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the first row, of which there is always one."""
        row = self.first(db, values)
        if row is None:
            raise NoResultFound
        return row

    def all(self, db: Connection, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return all rows."""
        written, cursor = self._execute(db, values)
        return [_convert(written, row) for row in cursor.fetchall()]

    def run(self, db: Connection, values: Mapping[str, Any]) -> None:
        """Run a statement that shows nothing."""
        self._execute(db, values)

    def _execute(self, db: Connection, values: Mapping[str, Any]) -> tuple[_Written, Any]:
        written = self._written.get(db.dialect.name)
        if written is None:
            written = self._written[db.dialect.name] = _write(self._statement, db.dialect)
        given = {**written.given, **values}
        for name, convert in written.conversions:
            given[name] = convert(given[name])
        driver: Any = db.connection.dbapi_connection
        arguments = given if written.order is None else [given[name] for name in written.order]
        return written, driver.execute(written.sql, arguments)


def _write(statement: ClauseElement, dialect: Dialect) -> _Written:
    compiled: Any = statement.compile(dialect=dialect)
    result_types = [column.type for column in getattr(compiled, "_result_columns", ())]
    readers = [kind.dialect_impl(dialect).result_processor(dialect, None) for kind in result_types]
    return _Written(
        sql=str(compiled),
        given=compiled.params,
        conversions=tuple(
            (name, convert) for name, convert in compiled._bind_processors.items() if convert
        ),
        order=tuple(compiled.positiontup) if compiled.positional else None,
        columns=tuple((place, reader) for place, reader in enumerate(readers) if reader),
    )


def _convert(written: _Written, row: tuple[Any, ...]) -> tuple[Any, ...]:
    values = list(row)
    for place, convert in written.columns:
        values[place] = convert(values[place])
    return tuple(values)
