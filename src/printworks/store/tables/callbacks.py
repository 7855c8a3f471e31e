"""What merchants are told, and how that went."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from printworks.rules.events import CallbackState
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata

# One row for each event that merchants are told of, with an address or without: together they
# are the merchant's feed, and what is told again later.
callbacks = Table(
    "callbacks",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # The merchant's first, second, third ... event, without gaps; null if it is only a test.
    Column("number", BigInteger),
    Column("order_id", ForeignKey("orders.id")),
    # The order's first, second, third ... event, without gaps.
    Column("sequence", Integer),
    Column("event_id", ForeignKey("order_events.id")),
    Column("state", EnumText(CallbackState), nullable=False),
    # Grows when somebody asks for it again: jobs of an earlier round have nothing to do any more.
    Column("round", Integer, nullable=False, server_default=text("1")),
    # How often it failed in this round, and how often it was sent in all.
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # In the merchant's time, as everything here.
    Column("next_at", Timestamp),
    Column("delivered_at", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("merchant_id", "number"),
    UniqueConstraint("order_id", "sequence"),
    sqlite_autoincrement=True,
)

# What somebody may want to look into, and send again.
Index(
    "ix_callbacks_given_up",
    callbacks.c.merchant_id,
    callbacks.c.number,
    sqlite_where=text("state = 'given-up'"),
    postgresql_where=text("state = 'given-up'"),
)

callback_attempts = Table(
    "callback_attempts",
    metadata,
    Column("callback_id", ForeignKey("callbacks.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # For the sweep that forgets old attempts.
    Column("at", Timestamp, nullable=False, index=True),
    Column("url", Text, nullable=False),
    # What the receiver said; null if no answer came, and `error` says why.
    Column("status", Integer),
    Column("milliseconds", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("error", Text),
)
