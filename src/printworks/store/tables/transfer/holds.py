"""Backups that are being taken: until they are done, no file is removed."""

from datetime import datetime

from sqlalchemy import Connection, delete, select

from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import secrets

_PREFIX = "backup:"


def hold_files(db: Connection, backup_id: str, *, until: datetime) -> None:
    """Let no file be removed until then, for the sake of a backup; call it again to prolong it."""
    key, value = {"name": f"{_PREFIX}{backup_id}"}, {"value": until.isoformat()}
    db.execute(insert_or_update(db, secrets, key, value))


def let_files_go(db: Connection, backup_id: str) -> None:
    """Let files be removed again, as far as this backup is concerned."""
    db.execute(delete(secrets).where(secrets.c.name == f"{_PREFIX}{backup_id}"))


def find_hold(db: Connection, *, now: datetime) -> str | None:
    """Return the id of a backup for which files must stay; those that were killed do not count."""
    held = select(secrets.c.name, secrets.c.value).where(secrets.c.name.startswith(_PREFIX))
    for name, until in db.execute(held):
        if datetime.fromisoformat(until) > now:
            return str(name).removeprefix(_PREFIX)
    return None


def drop_holds(db: Connection) -> None:
    """Delete every hold: a copy of the database has none."""
    db.execute(delete(secrets).where(secrets.c.name.startswith(_PREFIX)))
