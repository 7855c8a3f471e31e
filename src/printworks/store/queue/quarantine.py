"""Whether the service is in quarantine: a fact that all its processes share."""

import time
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, select

from printworks.conversion import look_at
from printworks.rules.quarantine import Quarantine
from printworks.store.engine.database import Database
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import secrets

_NAME: Final = "quarantine"
# How long a process relies on what it has read.
SECONDS_OF_TRUST: Final = 1.0

look_at(Quarantine)
_read: Final = msgspec.json.Decoder(Quarantine).decode
_FIND: Final = PreparedStatement(select(secrets.c.value).where(secrets.c.name == _NAME))


def find_quarantine(db: Connection) -> Quarantine | None:
    """Return since when and why nothing leaves the service; None if it is at work."""
    found = _FIND.first(db, {})
    return None if found is None else _read(found[0])


def set_quarantine(db: Connection, quarantine: Quarantine) -> None:
    """Let nothing leave the service from now on."""
    value = msgspec.json.encode(quarantine).decode()
    db.execute(insert_or_update(db, secrets, {"name": _NAME}, {"value": value}))


def drop_quarantine(db: Connection) -> None:
    """Let everything go out that has waited."""
    db.execute(delete(secrets).where(secrets.c.name == _NAME))


class QuarantineWatch:
    """Says whether the service is in quarantine, reading it once a second; safe in many threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_on = True
        self._read_at: float | None = None

    def is_on(self) -> bool:
        now = time.monotonic()
        if self._read_at is None or now - self._read_at >= SECONDS_OF_TRUST:
            with self._database.reading() as db:
                self._is_on = find_quarantine(db) is not None
            self._read_at = now
        return self._is_on

    def forget(self) -> None:
        """Read it again next time."""
        self._read_at = None
