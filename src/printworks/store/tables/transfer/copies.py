"""A copy of a database that is being made: how far it is, and that nobody else uses it yet."""

from collections.abc import Sequence
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, text

from printworks.conversion import look_at
from printworks.store.accounts.secrets import LINKS, find_secret
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import secrets
from printworks.store.tables.transfer.shapes import TableShape

_NAME: Final = "copy"
# How long to wait for somebody who writes.
PATIENCE: Final = "5s"


class CopyState(msgspec.Struct, frozen=True):
    """Of which installation a database is the unfinished copy, and how many rows each table has."""

    source: str
    rows: dict[str, int]


look_at(CopyState)
_read: Final = msgspec.json.Decoder(CopyState).decode


def find_copy(db: Connection) -> CopyState | None:
    """Return how far the copy is that is being made here; None if there is none."""
    found = find_secret(db, _NAME)
    return None if found is None else _read(found)


def save_copy(db: Connection, state: CopyState) -> None:
    """Write down how far a copy is, in the transaction that wrote the rows."""
    value = msgspec.json.encode(state).decode()
    db.execute(insert_or_update(db, secrets, {"name": _NAME}, {"value": value}))


def end_copy(db: Connection) -> None:
    """Let the copy be used."""
    db.execute(delete(secrets).where(secrets.c.name == _NAME))


def identify(db: Connection) -> str:
    """Return what no other installation has."""
    return find_secret(db, LINKS) or ""


def lock_tables(db: Connection, shapes: Sequence[TableShape]) -> None:
    """Let nobody write until the transaction ends; raise an error if somebody does for long.

    On SQLite, the transaction itself is the only one that writes.
    """
    if db.dialect.name == "postgresql":
        db.execute(text(f"SET LOCAL lock_timeout = '{PATIENCE}'"))
        names = ", ".join(shape.name for shape in shapes)
        db.execute(text(f"LOCK TABLE {names} IN SHARE MODE"))


def count_rows(db: Connection, shapes: Sequence[TableShape]) -> int:
    """Return how many rows all tables have."""
    counts = (f"(SELECT count(*) FROM {shape.name})" for shape in shapes)  # noqa: S608
    return int(db.execute(text(f"SELECT {' + '.join(counts)}")).scalar_one())
