"""Deleting old rows, a few at a time, so that no other writer waits for long."""

from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, delete, select, tuple_


def delete_oldest(
    db: Connection, age: Column[Any], is_old: ColumnElement[bool], *, limit: int
) -> int:
    """Delete old rows of a table, in the order of their age; return how many."""
    key = list(age.table.primary_key)
    oldest = select(*key).where(is_old).order_by(age).limit(limit)
    row = key[0] if len(key) == 1 else tuple_(*key)
    return db.execute(delete(age.table).where(row.in_(oldest))).rowcount
