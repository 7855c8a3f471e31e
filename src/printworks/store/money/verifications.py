"""When something was last verified as a whole, and what was found."""

from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, select

from printworks.store.engine.rows import columns_of, list_structs
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import verifications

LEDGER: Final = "ledger"


class Verification(msgspec.Struct, frozen=True):
    """The latest verification of something."""

    what: str
    at: datetime
    faults: int


def note_verification(db: Connection, done: Verification) -> None:
    """Store the result of a verification, in place of the one before."""
    values = {"at": done.at, "faults": done.faults}
    db.execute(insert_or_update(db, verifications, {"what": done.what}, values))


def list_verifications(db: Connection) -> list[Verification]:
    wanted = select(*columns_of(verifications, Verification)).order_by(verifications.c.what)
    return list_structs(db, Verification, wanted)
