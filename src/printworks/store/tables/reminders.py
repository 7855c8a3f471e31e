"""Reminders of what merchants have not paid in time."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Table, Text, UniqueConstraint

from printworks.rules.reminders import ReminderTone
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata

# One that was sent, and why. The unique key sends each step once for one overdue time.
reminders = Table(
    "reminders",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # `overdue_since` of the merchant then.
    Column("overdue_since", Timestamp, nullable=False),
    # 1, 2, 3 …
    Column("step", Integer, nullable=False),
    Column("tone", EnumText(ReminderTone), nullable=False),
    # What was overdue, and the day, in ISO 8601, on which the oldest part of it was due.
    Column("amount", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("due_on", Text, nullable=False),
    # How many people of the merchant were told: none, if nobody wants to be.
    Column("readers", Integer, nullable=False),
    # In the time of the merchant.
    Column("sent_at", Timestamp, nullable=False),
    UniqueConstraint("merchant_id", "overdue_since", "step"),
    sqlite_autoincrement=True,
)
