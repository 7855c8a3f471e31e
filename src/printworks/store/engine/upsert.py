"""INSERT that knows what to do when the row already exists, for either database."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, literal_column
from sqlalchemy.dialects import postgresql, sqlite


def insert_or_update(
    db: Connection,
    table: Table,
    key: Mapping[str, object],
    values: Mapping[str, object],
    changes: Mapping[str, object] | None = None,
) -> Any:
    """Return the statement that adds a row, or gives the row with this key these values.

    `changes` is what a row that is there gets instead, if that is not the same.
    """
    return (
        _insert(db, table)
        .values(**key, **values)
        .on_conflict_do_update(index_elements=list(key), set_=changes or values)
    )


def insert_unless_there(db: Connection, table: Table, **values: object) -> bool:
    """Add a row unless there is one with its key; wait for another process that adds it now.

    Return whether it was added.
    """
    added = _insert(db, table).values(**values).on_conflict_do_nothing()
    return db.execute(added.returning(literal_column("1"))).first() is not None


def insert_missing(db: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Add those of these rows whose keys are not there."""
    if rows:
        db.execute(_insert(db, table).values(list(rows)).on_conflict_do_nothing())


def count_up(db: Connection, table: Table, key: Mapping[str, object], counter: str) -> int:
    """Add one to the counter of a row, which begins with 1; others wait until this is committed."""
    more = {counter: table.c[counter] + literal_column("1")}
    counted = (
        _insert(db, table)
        .values(**key, **{counter: 1})
        .on_conflict_do_update(index_elements=list(key), set_=more)
        .returning(table.c[counter])
    )
    return int(db.execute(counted).scalar_one())


def _insert(db: Connection, table: Table) -> Any:
    return sqlite.insert(table) if db.dialect.name == "sqlite" else postgresql.insert(table)
