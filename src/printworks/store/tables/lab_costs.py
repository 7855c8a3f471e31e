"""What labs are owed for what they sent, and what they were paid."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from printworks.store.engine.columns import Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# A payment settles all costs of a lab in one currency up to a day.
lab_payments = Table(
    "lab_payments",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("lab", Text, nullable=False),
    Column("currency", Text, nullable=False),
    # The last day that it pays for, in ISO 8601.
    Column("until", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("memo", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

# Written when a shipment leaves its lab, and once more for each correction. Only the mark that it
# is paid is ever changed.
lab_costs = Table(
    "lab_costs",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("shipment_id", ForeignKey("shipments.id"), nullable=False),
    # 1 is the cost as planned; others are corrections.
    Column("number", Integer, nullable=False),
    Column("lab", Text, nullable=False),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    # Of the order, and where it was sent.
    Column("currency", Text, nullable=False),
    Column("country", Text, nullable=False),
    # Below zero where a correction is in our favour.
    Column("items_cost", BigInteger, nullable=False),
    Column("shipping_cost", BigInteger, nullable=False),
    # The cost of the items by product.
    Column("parts", Json, nullable=False),
    # Why it was corrected; empty for the first.
    Column("reason", Text, nullable=False),
    # In UTC, in ISO 8601.
    Column("day", Text, nullable=False),
    Column("payment_id", ForeignKey("lab_payments.id"), index=True),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("shipment_id", "number"),
    # For the verification of one merchant after the other.
    Index(None, "merchant_id", "id"),
    sqlite_autoincrement=True,
)

# To find what a payment settles.
partial_index(
    "ix_lab_costs_unpaid",
    lab_costs.c.lab,
    lab_costs.c.currency,
    lab_costs.c.day,
    where="payment_id IS NULL",
)

# What is owed: the sums of the costs that are not paid, written with each cost and each payment.
# By merchant, so that nobody waits for a row: whoever adds a cost has locked the merchant's books.
lab_debts = Table(
    "lab_debts",
    metadata,
    Column("lab", Text, primary_key=True),
    Column("currency", Text, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("costs", BigInteger, nullable=False),
    Column("items_cost", BigInteger, nullable=False),
    Column("shipping_cost", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
