"""Charges and refunds by product and lab, and the figures of each day."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table, Text

from printworks.rules.ledger import EntryKind
from printworks.store.engine.columns import EnumText, Json
from printworks.store.tables.base import metadata

# One row for each charge and refund of the ledger, with its number. Rows are never changed.
sales = Table(
    "sales",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", EnumText(EntryKind), nullable=False),
    # In UTC, in ISO 8601.
    Column("day", Text, nullable=False),
    Column("currency", Text, nullable=False),
    # Where the order is sent.
    Column("country", Text, nullable=False),
    Column("parts", Json, nullable=False),
)

# Written with each sale and each cost. Nobody waits for a row: whoever writes has locked the
# merchant's books. Without row ids, so that the days of a report lie beside each other.
sales_days = Table(
    "sales_days",
    metadata,
    Column("day", Text, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("currency", Text, primary_key=True),
    Column("country", Text, primary_key=True),
    Column("lab", Text, primary_key=True),
    # Or what stands for shipping, and for what is for no product.
    Column("sku", Text, primary_key=True),
    Column("orders", BigInteger, nullable=False),
    Column("copies", BigInteger, nullable=False),
    Column("net", BigInteger, nullable=False),
    Column("tax", BigInteger, nullable=False),
    Column("refunded_net", BigInteger, nullable=False),
    Column("refunded_tax", BigInteger, nullable=False),
    Column("items_cost", BigInteger, nullable=False),
    Column("shipping_cost", BigInteger, nullable=False),
    # Without tax, and the tax.
    Column("credited", BigInteger, nullable=False),
    Column("credited_tax", BigInteger, nullable=False),
    Column("debited", BigInteger, nullable=False),
    # For the verification of one merchant after the other.
    Index(None, "merchant_id", "day"),
    sqlite_with_rowid=False,
)
