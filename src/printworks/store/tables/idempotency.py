"""Idempotency keys and the answers to their requests."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, Table, Text

from printworks.store.engine.columns import Timestamp
from printworks.store.tables.base import metadata, partial_index

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    # Until then the first request may still be running; after that, if there is no answer, its
    # process died before it did anything, and the next request takes its place.
    Column("claimed_until", Timestamp, nullable=False),
    Column("claim", Text, nullable=False),
    Column("answer_status", Integer),
    Column("answer_media_type", Text),
    Column("answer_body", LargeBinary),
    # The order that the answer tells of, so that the answer can be blanked with it.
    Column("order_id", BigInteger),
    # For the sweep that deletes old keys.
    Column("created_at", Timestamp, nullable=False, index=True),
)

# The answers about an order.
partial_index(
    "ix_idempotency_keys_order", idempotency_keys.c.order_id, where="order_id IS NOT NULL"
)
