"""What happened on a day, for charts."""

from sqlalchemy import Column, Float, Integer, Table, Text

from printworks.store.engine.columns import Json
from printworks.store.tables.base import metadata

# One row for each day that is over. Rows are never changed.
daily_figures = Table(
    "daily_figures",
    metadata,
    # In UTC, in ISO 8601.
    Column("day", Text, primary_key=True),
    Column("orders", Integer, nullable=False),
    # By currency, in minor units.
    Column("revenue", Json, nullable=False),
    # By currency, what a report shows of the day.
    Column("sales", Json, nullable=False),
    Column("shipped", Integer, nullable=False),
    Column("in_time", Integer, nullable=False),
    # Null if nothing was shipped.
    Column("median_hours", Float),
    Column("attempts", Integer, nullable=False),
    Column("delivered", Integer, nullable=False),
)
