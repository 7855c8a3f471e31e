"""What recipients see of merchants."""

from sqlalchemy import Column, ForeignKey, Integer, Table, Text, text

from printworks.store.engine.columns import Timestamp
from printworks.store.tables.base import metadata, partial_index

# A merchant who has said nothing has no row. Not columns of `merchants`, which every request reads.
shops = Table(
    "shops",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("name", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("telephone", Text, nullable=False),
    Column("website", Text, nullable=False),
    Column("return_address", Text, nullable=False),
    Column("packing_slip", Text, nullable=False),
    Column("time_zone", Text, nullable=False, server_default=text("'UTC'")),
    # The name of the logo's file, which nobody can guess, and its size; null without a logo.
    Column("logo", Text),
    Column("logo_width", Integer),
    Column("logo_height", Integer),
    Column("updated_at", Timestamp, nullable=False),
)

# Whose a logo is, by its address.
partial_index("ix_shops_logo", shops.c.logo, where="logo IS NOT NULL")
