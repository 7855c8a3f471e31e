"""The metadata of all tables, and indexes of only some rows."""

from typing import Any

from sqlalchemy import Column, Index, MetaData, text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def partial_index(name: str, *columns: Column[Any], where: str, unique: bool = False) -> Index:
    """Index the rows that meet a condition; a query must spell the condition in the same way."""
    only: Any = {"sqlite_where": text(where), "postgresql_where": text(where)}
    return Index(name, *columns, unique=unique, **only)
