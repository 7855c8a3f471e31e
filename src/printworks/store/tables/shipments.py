"""Shipments, and why their labs were chosen."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, Table, Text

from printworks.catalogue.services import Carrier
from printworks.rules.production import LabState
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# What one lab prints and sends together: planned while the order is open, fixed and offered
# to the lab at submission.
shipments = Table(
    "shipments",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    # Null while it is only planned.
    Column("state", EnumText(LabState)),
    Column("lab", Text, nullable=False),
    Column("band", Text, nullable=False),
    Column("service", Text, nullable=False),
    Column("carrier", EnumText(Carrier), nullable=False),
    Column("is_tracked", Boolean, nullable=False),
    # What the lab and the carrier charge us, as planned.
    Column("items_cost", BigInteger, nullable=False),
    Column("shipping_cost", BigInteger, nullable=False),
    Column("image_ids", Json, nullable=False),
    Column("copies", Integer, nullable=False),
    # Days in ISO 8601.
    Column("earliest_arrival", Text, nullable=False),
    Column("latest_arrival", Text, nullable=False),
    # When the lab got it, and why it is held there.
    Column("sent_at", Timestamp),
    Column("held_because", Text),
    # Why the lab did not make it.
    Column("reason", Text),
    Column("tracking_number", Text),
    Column("tracking_url", Text),
    # For production times by day.
    Column("shipped_at", Timestamp, index=True),
    Column("delivered_at", Timestamp),
    # The unguessable part of its name at the lab: after a restore, the same number may be given to
    # another shipment, and an answer that was left over must not be taken for its own.
    Column("lab_token", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

# What labs still have to make, and what operators have to decide about.
partial_index(
    "ix_shipments_open",
    shipments.c.lab,
    shipments.c.copies,
    where="state IN ('offered', 'accepted', 'in-production', 'failed')",
)

# A shipment that somebody asks about, by what its carrier calls it.
partial_index(
    "ix_shipments_tracking", shipments.c.tracking_number, where="tracking_number IS NOT NULL"
)

# Why the labs of an order were chosen, and the others not; one more row each time that a lab
# rejected a part of it.
plans = Table(
    "plans",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("routing", Json, nullable=False),
    # Labs that have rejected it.
    Column("without", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)
