"""The numbers that a database gives to the rows of its tables."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, text


def read_sequences(db: Connection, tables: Iterable[str]) -> dict[str, int]:
    """Return the last number that each table has given to a row, even to one that is gone."""
    if db.dialect.name == "sqlite":
        found = db.execute(text("SELECT name, seq FROM sqlite_sequence")).all()
        given = {row.name: int(row.seq) for row in found}
        return {table: given.get(table, 0) for table in tables}
    return {table: _read_sequence(db, table) for table in tables}


def _read_sequence(db: Connection, table: str) -> int:
    query = f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {table}_id_seq"  # noqa: S608
    return int(db.execute(text(query)).scalar_one())


def set_sequences(db: Connection, given: Mapping[str, int]) -> None:
    """Let each table number its next row with more than was given."""
    for table, last in given.items():
        if db.dialect.name == "sqlite":
            db.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table})
            insert = text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)")
            db.execute(insert, {"name": table, "last": last})
        elif last:
            values = {"name": f"{table}_id_seq", "last": last}
            db.execute(text("SELECT setval(CAST(:name AS regclass), :last, true)"), values)
