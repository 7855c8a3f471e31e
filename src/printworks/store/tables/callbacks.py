"""Callbacks and their attempts."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from printworks.rules.events import CallbackState
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# One row for each event that merchants are notified of, whether they have a URL or not: together
# they are the merchant's feed, and can be sent again later.
callbacks = Table(
    "callbacks",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # The merchant's first, second, third ... event, without gaps; null for a test.
    Column("number", BigInteger),
    Column("order_id", ForeignKey("orders.id")),
    # The order's first, second, third ... event, without gaps.
    Column("sequence", Integer),
    Column("event_id", ForeignKey("order_events.id")),
    Column("state", EnumText(CallbackState), nullable=False),
    # Grows when it is sent again: jobs of an earlier round do nothing.
    Column("round", Integer, nullable=False, server_default=text("1")),
    # Failures in this round, and attempts in all.
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # Whether somebody asked for this one: then it is sent even if it tells nothing new.
    Column("is_asked_for", Boolean, nullable=False, server_default=false()),
    # The span that caused it, as a `traceparent`, if there are traces.
    Column("trace_parent", Text),
    # In the merchant's time, like every timestamp here.
    Column("next_at", Timestamp),
    Column("delivered_at", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("merchant_id", "number"),
    UniqueConstraint("order_id", "sequence"),
    sqlite_autoincrement=True,
)

# Callbacks that failed for good, which can be sent again.
partial_index(
    "ix_callbacks_given_up", callbacks.c.merchant_id, callbacks.c.number, where="state = 'given-up'"
)

callback_attempts = Table(
    "callback_attempts",
    metadata,
    Column("callback_id", ForeignKey("callbacks.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # For the sweep that deletes old attempts.
    Column("at", Timestamp, nullable=False, index=True),
    Column("url", Text, nullable=False),
    # The response of the receiver; null if there was none, and `error` says why.
    Column("status", Integer),
    Column("milliseconds", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("error", Text),
)
