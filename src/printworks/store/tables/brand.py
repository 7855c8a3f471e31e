"""What the operator calls the service, and how it looks."""

from sqlalchemy import Boolean, Column, Integer, Table, Text

from printworks.store.engine.columns import Timestamp
from printworks.store.tables.base import metadata

# One row, with the id 1; none until the operator says something.
brand = Table(
    "brand",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("accent", Text, nullable=False),
    Column("sender_name", Text, nullable=False),
    Column("sender_email", Text, nullable=False),
    Column("reply_to", Text, nullable=False),
    Column("imprint", Text, nullable=False),
    Column("terms", Text, nullable=False),
    Column("show_labs", Boolean, nullable=False),
    # The name of the logo's file, which nobody can guess, and its size; null without a logo.
    Column("logo", Text),
    Column("logo_width", Integer),
    Column("logo_height", Integer),
    Column("updated_at", Timestamp, nullable=False),
)
