"""Merchants and the keys they show."""

from sqlalchemy import BigInteger, Column, ForeignKey, Table, Text, text

from printworks.catalogue.products import Currency
from printworks.rules.payments import Billing
from printworks.store.engine.columns import Duration, EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata

merchants = Table(
    "merchants",
    metadata,
    Column("id", RowId, primary_key=True),
    # What the merchant sends as its id: not guessable, and says nothing about the others.
    Column("code", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    # What the merchant is charged in.
    Column("currency", EnumText(Currency), nullable=False, server_default=text("'GBP'")),
    # How many orders the merchant has ever made; the newest order has this ordinal.
    Column("order_count", BigInteger, nullable=False, server_default=text("0")),
    # How many events the merchant was ever told of, or would have been with an address.
    Column("event_count", BigInteger, nullable=False, server_default=text("0")),
    # Where the merchant is told of events, and in which words; null is in those of the version
    # that made the order.
    Column("callback_url", Text),
    Column("callback_format", Text),
    # With what callbacks are signed, newest first: at most two, the older one with its end.
    Column("callback_secrets", Json, nullable=False, server_default=text("'[]'")),
    # What the ledger comes to: entries, the hash of the last one, and what the merchant owes.
    Column("ledger_count", BigInteger, nullable=False, server_default=text("0")),
    Column("ledger_head", Text, nullable=False, server_default=text("''")),
    Column("balance", BigInteger, nullable=False, server_default=text("0")),
    # The most that the merchant may owe, in minor units; null is without a limit.
    Column("credit_limit", BigInteger),
    Column("billing", EnumText(Billing), nullable=False, server_default=text("'card'")),
    # Who the merchant is to the payment provider, and with which card it pays.
    Column("customer", Text, nullable=False, server_default=text("''")),
    Column("payment_method", Text, nullable=False, server_default=text("''")),
    # Sandbox only: how far this merchant's clock is ahead of the real one.
    Column("clock_offset", Duration, nullable=False, server_default=text("0")),
    # Until then somebody moves that clock, and runs the merchant's jobs in its own order.
    Column("advancing_until", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    # SHA-256 of a key with 256 random bits: nothing to guess, so nothing slower is needed.
    Column("hash", Text, nullable=False, unique=True),
    Column("hint", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp),
    # Within a minute or so: it is noted now and then, not with every request.
    Column("last_used_at", Timestamp),
    sqlite_autoincrement=True,
)
