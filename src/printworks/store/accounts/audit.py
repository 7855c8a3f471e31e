"""Who did what: written with what they did, and never changed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, insert, select

from printworks.rules.people import Realm
from printworks.store.tables import audit_log


class AuditEntry(msgspec.Struct, frozen=True):
    """One thing that somebody did."""

    id: int
    at: datetime
    merchant_id: int | None
    realm: Realm
    who: str
    action: str
    subject: str
    details: Mapping[str, Any]
    address: str
    request_id: str


_COLUMNS: Final = [audit_log.c[name] for name in AuditEntry.__struct_fields__]


def record(
    db: Connection,
    *,
    at: datetime,
    merchant_id: int | None,
    realm: Realm,
    who: str,
    action: str,
    subject: str = "",
    details: Mapping[str, Any] | None = None,
    address: str = "",
    request_id: str = "",
) -> None:
    """Write down what somebody does, in the transaction in which it happens."""
    db.execute(
        insert(audit_log).values(
            at=at,
            merchant_id=merchant_id,
            realm=realm,
            who=who,
            action=action,
            subject=subject,
            details=dict(details or {}),
            address=address,
            request_id=request_id,
        )
    )


def list_audit(
    db: Connection, *, merchant_id: int | None = None, before: int | None = None, limit: int
) -> list[AuditEntry]:
    """Return what was done lately, of one merchant's affairs or of all; the latest first."""
    wanted = select(*_COLUMNS).order_by(audit_log.c.id.desc()).limit(limit)
    if merchant_id is not None:
        wanted = wanted.where(audit_log.c.merchant_id == merchant_id)
    if before is not None:
        wanted = wanted.where(audit_log.c.id < before)
    return [AuditEntry(*row) for row in db.execute(wanted)]
