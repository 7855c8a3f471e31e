"""Asks the database itself whether it is whole."""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection, text

# Faults that are reported of each check.
MOST: Final = 20

# Constraints that somebody has switched off, or added without checking the rows that there were.
_UNCHECKED: Final = text("""
    SELECT conrelid::regclass || ': ' || conname FROM pg_constraint
    WHERE NOT convalidated AND connamespace = 'public'::regnamespace
    ORDER BY 1 LIMIT 20
""")
_INVALID: Final = text("""
    SELECT indexrelid::regclass || '' FROM pg_index
    WHERE NOT indisvalid AND indrelid IN
        (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
    ORDER BY 1 LIMIT 20
""")


def find_faults(db: Connection) -> Iterator[str]:
    """Return a sentence for everything that the database finds wrong with itself."""
    if db.dialect.name == "sqlite":
        for fault in db.execute(text(f"PRAGMA integrity_check({MOST})")).scalars():
            if fault != "ok":
                yield f"SQLite: {fault}."
        for row in db.execute(text("PRAGMA foreign_key_check")).fetchmany(MOST):
            yield f"Row {row[1]} of `{row[0]}` refers to a row of `{row[2]}` that does not exist."
        return
    for name in db.execute(_UNCHECKED).scalars():
        yield f"PostgreSQL has not checked the constraint {name}."
    for name in db.execute(_INVALID).scalars():
        yield f"The index {name} of PostgreSQL is not valid; run REINDEX."
