"""Statements of every request, passed to the driver directly.

SQLAlchemy writes the SQL and converts the values, as everywhere; but its way of executing
costs several times as much as the statement itself. So it is asked only once, and after that
the driver runs the text it wrote.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Text,
    bindparam,
    cast,
)
from sqlalchemy.exc import NoResultFound
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from printworks.store.engine.columns import EnumText, Timestamp

Convert = Callable[[Any], Any]


class _CompiledText(NamedTuple):
    """A statement compiled for one database."""

    sql: str
    # The same as the server gets it, for PostgreSQL.
    encoded: bytes
    # The values that are part of the statement, such as a constant limit.
    given: Mapping[str, Any]
    # The values in order, and how to convert them.
    places: tuple[tuple[str, Convert | None], ...]
    columns: tuple[tuple[int, Convert], ...]


class PreparedStatement:
    """A statement with named values, compiled once for each kind of database.

    With `keeps_plan` PostgreSQL also plans it once. That is for a statement whose best plan does not
    depend on the values, and takes longer to plan than to run.
    """

    def __init__(self, statement: ClauseElement, *, keeps_plan: bool = False) -> None:
        self._statement = statement
        self._keeps_plan = keeps_plan
        self._written: dict[str, _CompiledText] = {}

    def first(self, db: Connection, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        written, cursor = self._execute(db, values)
        row = cursor.fetchone()
        cursor.close()
        return None if row is None else _convert(written, row)

    def one(self, db: Connection, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the first row, which always exists."""
        row = self.first(db, values)
        if row is None:
            raise NoResultFound
        return row

    def all(self, db: Connection, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        written, cursor = self._execute(db, values)
        return [_convert(written, row) for row in cursor.fetchall()]

    def send(self, db: Connection, values: Mapping[str, Any]) -> None:
        """Send the statement without waiting for the rows, which `receive` returns.

        For PostgreSQL, whose socket is readable when they arrive. Nothing else may be run on the
        connection until then.
        """
        driver: Any = db.connection.dbapi_connection
        written = self._find_text(db)
        driver.send(written.encoded, _arrange(written, values))

    def receive(self, db: Connection) -> list[tuple[Any, ...]] | None:
        """Return the rows of what was sent; None if not all of them are there yet."""
        driver: Any = db.connection.dbapi_connection
        answer = driver.receive()
        if answer is None:
            return None
        written = self._find_text(db)
        return [_convert(written, row) for row in answer.fetchall()]

    def commit_after(
        self, first: "PreparedStatement", db: Connection, values: Mapping[str, Any]
    ) -> list[tuple[Any, ...]]:
        """Run another statement, this one and a commit in one message; return the rows of this.

        For PostgreSQL: if the other takes a lock, it is free again without our doing.
        """
        driver: Any = db.connection.dbapi_connection
        first.run(db, {})
        written = self._find_text(db)
        answer = driver.run_last(written.encoded, _arrange(written, values))
        return [_convert(written, row) for row in answer.fetchall()]

    def run(self, db: Connection, values: Mapping[str, Any]) -> None:
        """Run a statement that returns no rows, perhaps together with the next one."""
        written = self._find_text(db)
        driver: Any = db.connection.dbapi_connection
        if written.encoded:
            driver.run_later(written.encoded, _arrange(written, values))
        else:
            driver.execute(written.sql, _arrange(written, values))

    def count(self, db: Connection, values: Mapping[str, Any]) -> int:
        """Run a statement that returns no rows, and return how many it changed."""
        return int(self._execute(db, values)[1].rowcount)

    def run_each(self, db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement that returns no rows with each of these values."""
        if len(rows) == 1:
            self.run(db, rows[0])
        elif rows:
            written = self._find_text(db)
            _find_cursor(db).executemany(written.sql, [_arrange(written, row) for row in rows])

    def one_each(self, db: Connection, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
        """Return the row that a statement returns with each of these values, in their order."""
        if len(rows) < 2 or db.dialect.name == "sqlite":
            return [self.one(db, row) for row in rows]
        written, cursor = self._find_text(db), _find_cursor(db)
        # In one round trip.
        cursor.executemany(written.sql, [_arrange(written, row) for row in rows], returning=True)
        found = [_convert(written, cursor.fetchone())]
        while cursor.nextset():
            found.append(_convert(written, cursor.fetchone()))
        return found

    def _execute(self, db: Connection, values: Mapping[str, Any]) -> tuple[_CompiledText, Any]:
        written = self._find_text(db)
        driver: Any = db.connection.dbapi_connection
        if written.encoded:
            run = driver.run_with_kept_plan if self._keeps_plan else driver.run
            return written, run(written.encoded, _arrange(written, values))
        return written, driver.execute(written.sql, _arrange(written, values))

    def _find_text(self, db: Connection) -> _CompiledText:
        written = self._written.get(db.dialect.name)
        if written is None:
            written = self._written[db.dialect.name] = _write(self._statement, db.dialect)
        return written


def _find_cursor(db: Connection) -> Any:
    """Return a cursor for a statement that is run with many values at once."""
    driver: Any = db.connection.dbapi_connection
    return driver.cursor() if db.dialect.name == "sqlite" else driver.numbered_cursor()


def _arrange(written: _CompiledText, values: Mapping[str, Any]) -> list[Any]:
    """Return the values in the order of their places."""
    if written.given:
        values = {**written.given, **values}
    return [
        values[name] if convert is None else convert(values[name])
        for name, convert in written.places
    ]


def _write(statement: ClauseElement, dialect: Dialect) -> _CompiledText:
    compiled: Any = statement.compile(dialect=dialect)
    result_types = [column.type for column in getattr(compiled, "_result_columns", ())]
    readers = [_find_reader(kind, dialect) for kind in result_types]
    conversions = {
        name: _find_writer(compiled.binds[name].type, dialect) or convert
        for name, convert in compiled._bind_processors.items()
        if convert
    }
    sql, names = str(compiled), compiled.positiontup
    if not compiled.positional:
        sql, names = _number_places(sql)
    return _CompiledText(
        sql=sql,
        encoded=b"" if dialect.name == "sqlite" else sql.encode(),
        given={
            name: value
            for name, value in compiled.params.items()
            if not compiled.binds[name].required
        },
        places=tuple((name, conversions.get(name)) for name in names),
        columns=tuple((place, reader) for place, reader in enumerate(readers) if reader),
    )


def _number_places(sql: str) -> tuple[str, list[str]]:
    """Return a statement with numbers for the names of its values, and the names in order."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "%"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return re.sub(r"%(?:%|\(([^)]+)\)s)", number, sql), names


def _find_reader(kind: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    """Return the converter for values of a type; a faster one for the most frequent types."""
    if isinstance(kind, EnumText):
        choices: dict[str, StrEnum] = {choice.value: choice for choice in kind.choices}
        return lambda value: None if value is None else choices[value]
    if isinstance(kind, Timestamp) and dialect.name == "sqlite":
        return _read_timestamp
    if isinstance(kind, _Structs):
        return kind.read
    return kind.dialect_impl(dialect).result_processor(dialect, None)


def _find_writer(kind: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    """Return a faster converter for values of the most frequent types; None for others."""
    if isinstance(kind, EnumText):
        # Reading `value` is a call, many times slower.
        return lambda value: None if value is None else value._value_
    if isinstance(kind, Timestamp) and dialect.name == "sqlite":
        return _write_timestamp
    if isinstance(kind, JSON) and dialect.name == "sqlite":
        return _write_json
    return None


def _write_json(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _write_timestamp(value: datetime | None) -> str | None:
    if value is None:
        return None
    utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    # Without the zone, which would be another object.
    return utc.isoformat(" ", "microseconds")[:26]


def _read_timestamp(text: str | None) -> datetime | None:
    # Adding the zone to the text is many times faster than adding it to the datetime.
    return None if text is None else datetime.fromisoformat(f"{text}+00:00")


def _convert(written: _CompiledText, row: tuple[Any, ...]) -> tuple[Any, ...]:
    if not written.columns:
        return row
    values = list(row)
    for place, convert in written.columns:
        values[place] = convert(values[place])
    return tuple(values)


class _Structs(TypeDecorator[list[Any]]):
    """Rows of a table as one JSON text, read as structs, lowest id first."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        super().__init__()
        self.kind = kind
        types = tuple(field.type for field in msgspec.structs.fields(kind))
        row: Any = tuple.__class_getitem__(types)
        self._decode = msgspec.json.Decoder(list[row]).decode

    def read(self, text: str | None) -> list[Any]:
        """Return the structs; none if there is no text."""
        return [] if text is None else [self.kind(*row) for row in sorted(self._decode(text))]

    def process_result_value(self, value: str | None, dialect: Dialect) -> list[Any]:  # noqa: ARG002
        return self.read(value)


class structs_of(FunctionElement[list[Any]]):  # noqa: N801  (used like a function)
    """All rows of a query in one value: the columns are the fields of the struct.

    Fetching a row costs more than writing and reading it as JSON, and another statement much
    more. The first field must be the id.
    """

    inherit_cache = True
    name = "structs_of"

    def __init__(self, kind: type[msgspec.Struct], columns: Sequence[ColumnElement[Any]]) -> None:
        super().__init__(*columns)
        self.type = _Structs(kind)


@compiles(structs_of, "sqlite")
def _write_for_sqlite(rows: structs_of, compiler: SQLCompiler, **how: Any) -> str:
    def write(column: ColumnElement[Any]) -> str:
        sql = compiler.process(column, **how)
        match column.type:
            case JSON():
                return f"json({sql})"
            case Boolean():
                return f"json(iif({sql}, 'true', 'false'))"
            case Timestamp():
                return f"{sql} || 'Z'"
            case _:
                return sql

    return f"json_group_array(json_array({', '.join(map(write, rows.clauses))}))"


@compiles(structs_of, "postgresql")
def _write_for_postgresql(rows: structs_of, compiler: SQLCompiler, **how: Any) -> str:
    def write(column: ColumnElement[Any]) -> str:
        sql = compiler.process(column, **how)
        if isinstance(column.type, Timestamp):
            # The zone of the connection must not matter.
            return f"to_char({sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
        return sql

    # As text: the driver would parse JSON by itself, more slowly.
    return f"CAST(json_agg(json_build_array({', '.join(map(write, rows.clauses))})) AS text)"


def given_as(column: Column[Any]) -> ColumnElement[Any]:
    """Return the value with the name of a column, in its type, to be inserted from a select."""
    return cast(bindparam(column.name, type_=column.type), column.type)


class is_one_of(FunctionElement[bool]):  # noqa: N801  (used like a function)
    """Whether a column is one of the numbers in a JSON text, which `write_list` writes.

    The same statement whatever their number: `in_` writes another one for each.
    """

    inherit_cache = True
    name = "is_one_of"

    def __init__(self, column: ColumnElement[int], numbers: str) -> None:
        super().__init__(column, bindparam(numbers, type_=Text))


def write_list(numbers: Iterable[int]) -> str:
    return msgspec.json.encode(list(numbers)).decode()


@compiles(is_one_of, "sqlite")
def _is_one_of_for_sqlite(call: is_one_of, compiler: SQLCompiler, **how: Any) -> str:
    column, numbers = (compiler.process(part, **how) for part in call.clauses)
    return f"{column} IN (SELECT value FROM json_each({numbers}))"  # noqa: S608  (all bound)


@compiles(is_one_of, "postgresql")
def _is_one_of_for_postgresql(call: is_one_of, compiler: SQLCompiler, **how: Any) -> str:
    column, numbers = (compiler.process(part, **how) for part in call.clauses)
    # The array makes it use the index, even with a plan from when there were few rows.
    each = f"json_array_elements_text(CAST({numbers} AS json))"
    return f"{column} = ANY(ARRAY(SELECT CAST(value AS bigint) FROM {each}))"  # noqa: S608
