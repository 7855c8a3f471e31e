"""Money that waits for a second person."""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, func, insert, select, text, update

from printworks.catalogue.products import Currency
from printworks.errors import NotFound
from printworks.rules.approvals import ApprovalState
from printworks.rules.ledger import DEBITS, EntryKind
from printworks.store.engine.rows import columns_of, possible_id
from printworks.store.tables import approvals, merchants


class NewApproval(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that somebody wants to post."""

    merchant_id: int
    kind: EntryKind
    amount: int
    currency: Currency
    memo: str
    # The number of the entry that it reverses.
    reverses: int | None
    asked_by: str


class Approval(NewApproval, frozen=True, kw_only=True):
    """An entry that somebody wants to post, and what became of it."""

    id: int
    merchant: str
    merchant_code: str
    state: ApprovalState
    asked_at: datetime
    decided_by: str
    decided_at: datetime | None


_COLUMNS: Final = columns_of(
    approvals, Approval, merchant=merchants.c.name, merchant_code=merchants.c.code
)
_ALL: Final = select(*_COLUMNS).join_from(
    approvals, merchants, approvals.c.merchant_id == merchants.c.id
)


def insert_approval(db: Connection, new: NewApproval, *, now: datetime) -> int:
    """Add an entry that waits for a second person; return its number."""
    values: dict[str, Any] = msgspec.structs.asdict(new)
    values |= {"state": ApprovalState.WAITING, "asked_at": now, "decided_by": ""}
    return int(
        db.execute(insert(approvals).values(**values).returning(approvals.c.id)).scalar_one()
    )


def get_approval(db: Connection, approval_id: int) -> Approval:
    query = _ALL.where(approvals.c.id == possible_id(approval_id))
    row = db.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"Nothing waits under the number {approval_id}.")
    return Approval(**row._mapping)


def list_waiting(db: Connection, *, limit: int) -> list[Approval]:
    """Return what waits for a second person, oldest first."""
    # Spelled as in the index.
    query = _ALL.where(text("approvals.state = 'waiting'")).order_by(approvals.c.id).limit(limit)
    return [Approval(**row._mapping) for row in db.execute(query)]


def sum_waiting(db: Connection, merchant_id: int) -> int:
    """Return how much of a merchant's balance waits to be taken from it."""
    query = select(func.coalesce(func.sum(approvals.c.amount), 0)).where(
        text("approvals.state = 'waiting'"),
        approvals.c.merchant_id == merchant_id,
        approvals.c.kind.in_(DEBITS),
    )
    return int(db.execute(query).scalar_one())


def decide(
    db: Connection, approval: Approval, state: ApprovalState, *, who: str, now: datetime
) -> bool:
    """Store what was decided; return False if somebody else has decided meanwhile."""
    changed = db.execute(
        update(approvals)
        .where(approvals.c.id == approval.id, approvals.c.state == ApprovalState.WAITING)
        .values(state=state, decided_by=who, decided_at=now)
    )
    return changed.rowcount == 1
