"""Recovery codes, as hashes; each is used once."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from printworks.rules.recovery_codes import read_code
from printworks.store.accounts.sessions import hash_token
from printworks.store.tables import recovery_codes


class CodesLeft(NamedTuple):
    """How many codes a person has not used yet, of how many."""

    left: int
    made: int


def replace_codes(db: Connection, person_id: int, codes: Iterable[str], *, now: datetime) -> None:
    """Give a person other codes; the ones before stop working."""
    delete_codes(db, person_id)
    rows = [
        {"hash": hash_token(read_code(code)), "person_id": person_id, "created_at": now}
        for code in codes
    ]
    db.execute(insert(recovery_codes), rows)


def use_code(db: Connection, person_id: int, typed: str, *, now: datetime) -> bool:
    """Use a code of a person up; return False if it is none or was used before."""
    used = db.execute(
        update(recovery_codes)
        .where(
            recovery_codes.c.hash == hash_token(read_code(typed)),
            recovery_codes.c.person_id == person_id,
            recovery_codes.c.used_at.is_(None),
        )
        .values(used_at=now)
    )
    return used.rowcount == 1


def count_codes(db: Connection, person_id: int) -> CodesLeft:
    """Count the codes of a person."""
    used = func.count(recovery_codes.c.used_at)
    counted = select(func.count() - used, func.count()).where(
        recovery_codes.c.person_id == person_id
    )
    return CodesLeft(*db.execute(counted).one())


def delete_codes(db: Connection, person_id: int) -> None:
    db.execute(delete(recovery_codes).where(recovery_codes.c.person_id == person_id))
