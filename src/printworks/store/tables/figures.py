"""What happened on a day or in an hour, for charts."""

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

# One row for each hour that is over, of the day that is not stored yet. Rows are never changed, and
# deleted with their day.
hourly_figures = Table(
    "hourly_figures",
    metadata,
    # In UTC, such as "2026-11-15 13".
    Column("hour", Text, primary_key=True),
    Column("shipped", Integer, nullable=False),
    Column("in_time", Integer, nullable=False),
    # How many shipments there were of each production time, which is in tenths of an hour.
    Column("production_times", Json, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("delivered", Integer, nullable=False),
)
