"""The latest API requests, for the merchant's developers."""

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text

from printworks.store.engine.columns import RowId, Timestamp
from printworks.store.tables.base import metadata

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
    Index(None, "merchant_id", "id"),
    sqlite_autoincrement=True,
)
