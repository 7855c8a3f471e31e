"""The ledger, and its totals by day."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

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
    # For the list of all merchants' entries.
    Column("created_at", Timestamp, nullable=False, index=True),
    # What the merchant owed after it.
    Column("balance", BigInteger, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("merchant_id", "key"),
    # For statements by month.
    Index(None, "merchant_id", "created_at", "number"),
)

# Written with each entry. Nobody waits for a row: whoever posts has locked the merchant's books.
ledger_days = Table(
    "ledger_days",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    # In UTC, in ISO 8601. The index is for the revenue of all merchants.
    Column("day", Text, primary_key=True, index=True),
    Column("kind", EnumText(EntryKind), primary_key=True),
    Column("currency", Text, primary_key=True),
    Column("entries", BigInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
)

# The latest verification of each thing that is verified as a whole.
verifications = Table(
    "verifications",
    metadata,
    Column("what", Text, primary_key=True),
    Column("at", Timestamp, nullable=False),
    Column("faults", Integer, nullable=False),
)
