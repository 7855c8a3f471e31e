"""Column types that mean the same on SQLite and on PostgreSQL."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    Integer,
    Text,
    literal_column,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine

# SQLite assigns ids only in a column declared INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")

# Text that both databases sort by its bytes, so that equal beginnings are adjacent.
ByteText = Text().with_variant(Text(collation="C"), "postgresql")

Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class Timestamp(TypeDecorator[datetime]):
    """An aware datetime in UTC; SQLite stores it as readable text without a zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Use text on SQLite: Python reads and writes it five times as fast as the driver."""
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else self.impl)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Store UTC, whatever the zone of the value."""
        if value is None or dialect.name != "sqlite":
            return value
        utc = value.astimezone(UTC).replace(tzinfo=None)
        return utc.isoformat(sep=" ", timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Return an aware datetime in UTC."""
        if value is None:
            return None
        if dialect.name == "sqlite":
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
        return cast("datetime", value).astimezone(UTC)


class Duration(TypeDecorator[timedelta]):
    """A timedelta, stored as whole milliseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        return None if value is None else value // timedelta(milliseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> timedelta | None:  # noqa: ARG002
        return None if value is None else timedelta(milliseconds=value)


class EnumText(TypeDecorator[StrEnum]):
    """A member of an enumeration, stored as its text."""

    impl = Text
    cache_ok = True

    def __init__(self, choices: type[StrEnum]) -> None:
        super().__init__()
        self.choices = choices

    def process_bind_param(self, value: StrEnum | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else value.value

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:  # noqa: ARG002
        return None if value is None else self.choices(value)


def beside_index(column: Column[int]) -> ColumnElement[int]:
    """Return a column in a form that no index has, so that another index is used."""
    return column + literal_column("0")


def spelled_out(value: StrEnum) -> ColumnElement[Any]:
    """Return a value as a literal: a partial index is not used for a bound parameter."""
    return literal_column(f"'{value.value}'")
