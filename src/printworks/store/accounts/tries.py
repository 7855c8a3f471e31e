"""Tries to sign in, counted in the database: exactly, for all processes together."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, delete, select, update

from printworks.rules.sign_in import Tries
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import sign_in_tries

# Takes the tries before; returns them with this one, or how long to wait.
CountTry = Callable[[Tries], Tries | timedelta]


def count_try(db: Connection, what: str, rule: CountTry, *, now: datetime) -> Tries | timedelta:
    """Count a try, if the rule allows it; else return how long to wait.

    Others who count the same wait until the transaction ends.
    """
    key = _hash(what)
    insert_unless_there(db, sign_in_tries, key=key, tries=0, at=now)
    counted = rule(Tries(*db.execute(_select(key).with_for_update()).one()))
    if isinstance(counted, Tries):
        db.execute(
            update(sign_in_tries)
            .where(sign_in_tries.c.key == key)
            .values(tries=counted.number, at=counted.at)
        )
    return counted


def find_tries(db: Connection, what: str) -> Tries | None:
    """Return what is counted, without waiting for those who count."""
    found = db.execute(_select(_hash(what))).first()
    return Tries(*found) if found else None


def forget_tries(db: Connection, what: str) -> None:
    """Begin to count anew, after a success."""
    db.execute(delete(sign_in_tries).where(sign_in_tries.c.key == _hash(what)))


def purge_tries(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete what was last counted before then; return how many rows."""
    return delete_oldest(db, sign_in_tries.c.at, sign_in_tries.c.at < before, limit=limit)


def _select(key: str) -> Select[Any]:
    return select(sign_in_tries.c.tries, sign_in_tries.c.at).where(sign_in_tries.c.key == key)


def _hash(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()
