"""Money that waits for a second person."""

from sqlalchemy import BigInteger, Column, ForeignKey, Table, Text

from printworks.rules.approvals import ApprovalState
from printworks.rules.ledger import EntryKind
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# An entry that somebody wants to post, and what somebody else decided about it.
approvals = Table(
    "approvals",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    Column("kind", EnumText(EntryKind), nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("memo", Text, nullable=False),
    # The number of the entry that it reverses.
    Column("reverses", BigInteger),
    Column("state", EnumText(ApprovalState), nullable=False),
    # Operators, as the audit log names them.
    Column("asked_by", Text, nullable=False),
    Column("asked_at", Timestamp, nullable=False),
    Column("decided_by", Text, nullable=False),
    Column("decided_at", Timestamp),
    sqlite_autoincrement=True,
)

# What somebody has to decide.
partial_index("ix_approvals_waiting", approvals.c.id, where="state = 'waiting'")
