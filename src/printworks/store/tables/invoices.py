"""Invoices and credit notes, their numbers, and the charges and credits that they are for."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from printworks.rules.invoices import InvoiceKind
from printworks.rules.ledger import EntryKind
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata

# Documents, which are never changed. The columns repeat what lists and sums need of them.
invoices = Table(
    "invoices",
    metadata,
    Column("id", RowId, primary_key=True),
    # Which seller's numbers it counts with, and its place among those of a year.
    Column("series", Text, nullable=False),
    Column("year", Integer, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    # As it is printed.
    Column("number", Text, nullable=False, unique=True),
    Column("kind", EnumText(InvoiceKind), nullable=False),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # The invoice that a credit note corrects, or the credit note that an invoice takes back.
    Column("corrects_id", ForeignKey("invoices.id"), index=True),
    Column("currency", Text, nullable=False),
    Column("net", BigInteger, nullable=False),
    Column("tax", BigInteger, nullable=False),
    Column("gross", BigInteger, nullable=False),
    Column("issued_at", Timestamp, nullable=False),
    # The document as text, exactly as it was hashed.
    Column("document", Text, nullable=False),
    # Of the document, and of the one before it in its series and year.
    Column("hash", Text, nullable=False),
    UniqueConstraint("series", "year", "sequence"),
    # For lists of a merchant, of all years and of one.
    Index(None, "merchant_id", "id"),
    Index(None, "merchant_id", "year", "id"),
    sqlite_autoincrement=True,
)

# How far the numbers have come. Whoever issues a document locks the row until the document is there,
# so that a number that was taken is a document, or was never taken.
invoice_counters = Table(
    "invoice_counters",
    metadata,
    Column("series", Text, primary_key=True),
    Column("year", Integer, primary_key=True, autoincrement=False),
    Column("last", BigInteger, nullable=False),
    # The hash of the last document.
    Column("head", Text, nullable=False),
)

# The ledger entries that need a document; written in the transaction of the entry.
invoice_causes = Table(
    "invoice_causes",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    # The number of the ledger entry.
    Column("entry", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", EnumText(EntryKind), nullable=False),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    # The entry that it takes back, or a part of it: a charge, or of a reversal the credit; of a
    # charge, itself.
    Column("charge", BigInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("tax", BigInteger, nullable=False),
    # What the invoice of a charge says; empty for what takes it back.
    Column("draft", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    # Null until the document is there.
    Column("invoice_id", ForeignKey("invoices.id"), index=True),
    Index(
        "ix_invoice_causes_waiting",
        "merchant_id",
        "entry",
        sqlite_where=text("invoice_id IS NULL"),
        postgresql_where=text("invoice_id IS NULL"),
    ),
)
