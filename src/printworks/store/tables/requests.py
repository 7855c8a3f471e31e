"""The latest API requests, for the merchant's developers."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text

from printworks.store.engine.columns import RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

api_requests = Table(
    "api_requests",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # For the sweep that deletes old requests.
    Column("at", Timestamp, nullable=False, index=True),
    Column("method", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("milliseconds", Integer, nullable=False),
    Column("request_id", Text, nullable=False),
    # The key that was used, which may be gone by now, and where the request came from.
    Column("key_id", BigInteger),
    Column("address", Text),
    # Of a request that was refused: the sentence, what was sent and what was answered, without
    # personal data, and the order that its path names.
    Column("refusal", Text),
    Column("body", Text),
    Column("answer", Text),
    Column("order_id", BigInteger),
    Index(None, "merchant_id", "id"),
    sqlite_autoincrement=True,
)

# What was refused about an order, to be blanked with it.
partial_index("ix_api_requests_order", api_requests.c.order_id, where="order_id IS NOT NULL")
