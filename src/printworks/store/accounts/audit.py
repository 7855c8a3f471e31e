"""The audit log: written in the transaction of what it is about, and never changed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, insert, select

from printworks.rules.people import Realm
from printworks.store.engine.rows import columns_of, list_structs, newest_first
from printworks.store.tables import audit_log


class AuditEntry(msgspec.Struct, frozen=True):
    """One action of a person, or of an operator at the command line."""

    at: datetime
    # Whose data it was about; None if only the operator's own.
    merchant_id: int | None
    realm: Realm
    who: str
    action: str
    subject: str = ""
    details: Mapping[str, Any] = {}
    address: str = ""
    request_id: str = ""
    # Given by the database.
    id: int = 0


_COLUMNS: Final = columns_of(audit_log, AuditEntry)


def record(db: Connection, entry: AuditEntry) -> None:
    """Add an entry to the audit log, in the transaction of what it is about."""
    values: dict[str, Any] = msgspec.structs.asdict(entry)
    del values["id"]
    db.execute(insert(audit_log).values(**values))


def list_audit(
    db: Connection, *, merchant_id: int | None = None, before: int | None = None, limit: int
) -> list[AuditEntry]:
    """Return the newest entries, about one merchant or about all."""
    wanted = newest_first(select(*_COLUMNS), audit_log.c.id, before=before, limit=limit)
    if merchant_id is not None:
        wanted = wanted.where(audit_log.c.merchant_id == merchant_id)
    return list_structs(db, AuditEntry, wanted)


def list_audit_of(db: Connection, subject: str, *, limit: int) -> list[AuditEntry]:
    """Return the newest entries about one thing that belongs to no merchant."""
    wanted = newest_first(select(*_COLUMNS), audit_log.c.id, before=None, limit=limit)
    wanted = wanted.where(audit_log.c.merchant_id.is_(None), audit_log.c.subject == subject)
    return list_structs(db, AuditEntry, wanted)
