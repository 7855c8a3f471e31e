"""The ledger."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table, Text, UniqueConstraint

from printworks.rules.ledger import EntryKind
from printworks.store.engine.columns import EnumText, Json, Timestamp
from printworks.store.tables.base import metadata

# One entry after the other for each merchant. Entries are never changed.
ledger_entries = Table(
    "ledger_entries",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("kind", EnumText(EntryKind), nullable=False),
    Column("order_id", ForeignKey("orders.id"), index=True),
    Column("currency", Text, nullable=False),
    Column("lines", Json, nullable=False),
    Column("memo", Text, nullable=False),
    # For revenue by day.
    Column("created_at", Timestamp, nullable=False, index=True),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("merchant_id", "key"),
    # For statements by month.
    Index(None, "merchant_id", "created_at"),
)
