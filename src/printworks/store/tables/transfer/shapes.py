"""The tables as they are written down: the same text for a row, whichever database it is in."""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, Table, Text

from printworks.store.engine.columns import Duration, EnumText, Timestamp
from printworks.store.tables import metadata

# Numbers, texts, true or false, JSON as it is, timestamps as text in UTC, and bytes.
Row: TypeAlias = list[Any]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_BITS: Final = 256


class ColumnKind(StrEnum):
    """How the values of a column are written."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    FLAG = "flag"
    JSON = "json"
    TIME = "time"
    BYTES = "bytes"


class ColumnShape(msgspec.Struct, frozen=True):
    name: str
    kind: ColumnKind


class TableShape(msgspec.Struct, frozen=True, kw_only=True):
    """A table: its columns, the columns that identify a row, and whether it numbers its rows."""

    name: str
    columns: list[ColumnShape]
    key: list[str]
    is_numbered: bool

    def __post_init__(self) -> None:
        """Refuse names that are none: they become part of statements."""
        for name in (self.name, *(column.name for column in self.columns), *self.key):
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not the name of a table or column.")

    @property
    def key_places(self) -> list[int]:
        """Where in a row the values of its key are."""
        names = [column.name for column in self.columns]
        return [names.index(name) for name in self.key]

    def places_of(self, kind: ColumnKind) -> list[int]:
        """Where in a row the values of a kind are."""
        return [place for place, column in enumerate(self.columns) if column.kind is kind]


def list_shapes() -> list[TableShape]:
    """Return every table of this version; one that refers to another comes after it."""
    return [_describe(table) for table in metadata.sorted_tables]


def list_numbered(shapes: Iterable[TableShape]) -> list[str]:
    """Return the names of the tables that number their rows."""
    return [shape.name for shape in shapes if shape.is_numbered]


def _describe(table: Table) -> TableShape:
    # Plain texts: SQLAlchemy's own kind cannot be written down.
    return TableShape(
        name=str(table.name),
        columns=[ColumnShape(str(column.name), _find_kind(column)) for column in table.columns],
        key=[str(column.name) for column in table.primary_key],
        is_numbered=bool(table.dialect_options["sqlite"]["autoincrement"]),
    )


def _find_kind(column: Column[Any]) -> ColumnKind:
    for kinds, kind in _KINDS:
        if isinstance(column.type, kinds):
            return kind
    raise TypeError(f"There is no way to write {column} down.")


# In this order: a decorated type is not one of those below it, and a Boolean is no number.
_KINDS: Final = (
    ((Timestamp,), ColumnKind.TIME),
    ((EnumText, Text), ColumnKind.TEXT),
    ((JSON,), ColumnKind.JSON),
    ((Boolean,), ColumnKind.FLAG),
    ((LargeBinary,), ColumnKind.BYTES),
    ((Duration, Integer), ColumnKind.INTEGER),
    ((Float,), ColumnKind.NUMBER),
)

_encode: Final = msgspec.json.Encoder().encode
_encode_sorted: Final = msgspec.json.Encoder(order="deterministic").encode
_decode: Final = msgspec.json.Decoder(list[Any]).decode


def write_line(row: Sequence[Any]) -> bytes:
    """Return a row as one line of JSON."""
    return _encode(row)


def read_line(shape: TableShape, line: bytes) -> Row:
    """Return the row of a line; raise `ValueError` if it is not one of this table."""
    row = _decode(line)
    if len(row) != len(shape.columns):
        raise ValueError(f"A row of {shape.name} has {len(row)} values.")
    for place in shape.places_of(ColumnKind.BYTES):
        if row[place] is not None:
            row[place] = base64.b64decode(row[place], validate=True)
    return row


class RowSum:
    """Counts rows and adds up their hashes: equal tables have equal sums, in any order."""

    def __init__(self) -> None:
        self.rows = 0
        self._total = 0

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows += 1
            # PostgreSQL keeps the members of JSON in an order of its own.
            self._total += int.from_bytes(hashlib.sha256(_encode_sorted(row)).digest())

    @property
    def text(self) -> str:
        return f"{self._total % (1 << _BITS):064x}"
