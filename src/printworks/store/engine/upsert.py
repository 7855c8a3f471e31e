"""INSERT that knows what to do when the row is already there, for either database."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import ReturningInsert


def insert_or_update(
    db: Connection,
    table: Table,
    *,
    key: Mapping[str, object],
    values: Mapping[str, object],
    only_new: Mapping[str, object] | None = None,
    returning: Sequence[Column[Any]] = (),
) -> Any:
    """Add a row, or give the one with this key these values; return the result.

    What is in `only_new` is written with a new row and left alone in an old one.
    """
    statement = (
        _insert(db, table)
        .values(**key, **values, **(only_new or {}))
        .on_conflict_do_update(index_elements=list(key), set_=dict(values))
    )
    wanted: ReturningInsert[Any] | Any = statement.returning(*returning) if returning else statement
    return db.execute(wanted)


def insert_unless_there(db: Connection, table: Table, **values: object) -> None:
    """Add a row, unless there is one with its key; whoever adds that one is waited for."""
    db.execute(_insert(db, table).values(**values).on_conflict_do_nothing())


def _insert(db: Connection, table: Table) -> Any:
    return sqlite.insert(table) if db.dialect.name == "sqlite" else postgresql.insert(table)
