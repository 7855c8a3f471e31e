"""Receipts of what was erased, and what the sweeps have removed."""

from sqlalchemy import BigInteger, Column, ForeignKey, Table, Text, text

from printworks.rules.privacy import ErasureState
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# One row for each time that the recipient of an order was erased: the receipt. It names no person.
erasures = Table(
    "erasures",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("state", EnumText(ErasureState), nullable=False),
    # Who wanted it, as the operator wrote it down, and who did it.
    Column("asked_by", Text, nullable=False),
    Column("done_by", Text, nullable=False),
    # How much of each subject was removed; null until that has happened.
    Column("removed", Json),
    # What somebody has to delete elsewhere, in sentences.
    Column("left_elsewhere", Json),
    Column("created_at", Timestamp, nullable=False),
    Column("erased_at", Timestamp),
    # When its files and the labs' copies were gone, too.
    Column("finished_at", Timestamp),
    sqlite_autoincrement=True,
)

# Erasures that have not ended: one for each order, at most.
partial_index(
    "uq_erasures_unfinished", erasures.c.order_id, where="finished_at IS NULL", unique=True
)

# When each sweep last ran, and what it removed.
sweeps = Table(
    "sweeps",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("swept_at", Timestamp, nullable=False),
    Column("removed", BigInteger, nullable=False),
    # Since the beginning.
    Column("total", BigInteger, nullable=False, server_default=text("0")),
)
