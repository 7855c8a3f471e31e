"""Work in lots: files of orders, and the same done to many orders."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from printworks.rules.lots import LineState, LotKind, LotState
from printworks.store.engine.columns import ByteText, EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

lots = Table(
    "lots",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    Column("kind", EnumText(LotKind), nullable=False),
    Column("state", EnumText(LotState), nullable=False),
    # What makes it the same lot when it is sent again: the hash of the file, or of the form.
    Column("key", Text, nullable=False),
    # The name of the file.
    Column("name", Text, nullable=False),
    # Whether the orders of a file are submitted, too.
    Column("submits", Boolean, nullable=False),
    # Whether pictures that will look blurred are printed all the same.
    Column("prints_blurred", Boolean, nullable=False),
    # Who asked for it, for the audit log.
    Column("who", Text, nullable=False),
    # The first row of the file, for the copy of its bad rows.
    Column("heads", Json, nullable=False),
    Column("totals", Json, nullable=False),
    # For the sweep that deletes old lots.
    Column("created_at", Timestamp, nullable=False, index=True),
    Column("finished_at", Timestamp),
    UniqueConstraint("merchant_id", "key"),
    sqlite_autoincrement=True,
)

# The orders of a lot: to be created, or there already.
lot_lines = Table(
    "lot_lines",
    metadata,
    Column("lot_id", ForeignKey("lots.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", EnumText(LineState), nullable=False),
    Column("reference", ByteText),
    # The rows of the spreadsheet.
    Column("rows", Json, nullable=False),
    Column("order_id", BigInteger),
    # The payment that was asked for; there is never a second one for the same line.
    Column("payment_id", BigInteger),
    # The order to be created, and the cells of its rows; null as soon as it exists, so that its
    # recipient is known in one place only. Of an order to be submitted, the price that was shown.
    Column("content", Json),
    Column("cells", Json),
    # What is wrong, or why it was refused.
    Column("problems", Json, nullable=False),
)

# What a file says of somebody whose order was made from another one, to be blanked with that.
partial_index("ix_lot_lines_cells", lot_lines.c.reference, where="cells IS NOT NULL")
