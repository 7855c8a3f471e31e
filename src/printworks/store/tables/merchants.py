"""Merchants and their API keys."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Table, Text, false, text

from printworks.catalogue.products import Currency
from printworks.rules.invoices import Invoicing
from printworks.rules.keys import KeyAccess
from printworks.rules.languages import Language
from printworks.rules.merchants import MerchantState
from printworks.rules.payments import Billing
from printworks.store.engine.columns import Duration, EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata

merchants = Table(
    "merchants",
    metadata,
    Column("id", RowId, primary_key=True),
    # What the merchant sends as its id: not guessable, and reveals nothing about other merchants.
    Column("code", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    # Whether it may order, and why not, in the operator's words.
    Column("state", EnumText(MerchantState), nullable=False, server_default=text("'active'")),
    Column("state_reason", Text, nullable=False, server_default=text("''")),
    # The currency in which the merchant is charged.
    Column("currency", EnumText(Currency), nullable=False, server_default=text("'GBP'")),
    # With which others it has price lists; null if with none.
    Column("group_id", ForeignKey("merchant_groups.id"), index=True),
    # How many orders the merchant has created; the newest order has this ordinal.
    Column("order_count", BigInteger, nullable=False, server_default=text("0")),
    # How many events the merchant's feed has.
    Column("event_count", BigInteger, nullable=False, server_default=text("0")),
    # How many bytes the merchant's files take: the sum of `merchant_files`.
    Column("file_bytes", BigInteger, nullable=False, server_default=text("0")),
    # Where callbacks are sent, and in which format; null is the format of the API version that
    # created the order.
    Column("callback_url", Text),
    Column("callback_format", Text),
    # The signing secrets, sealed, newest first: at most two, the older one with its expiry.
    Column("callback_secrets", Json, nullable=False, server_default=text("'[]'")),
    # A new address whose owner has not answered the challenge yet; null if there is none.
    Column("callback_candidate", Json),
    # Whether the operator vouches for its addresses, which are not challenged then.
    Column("callback_is_trusted", Boolean, nullable=False, server_default=false()),
    # The books: the number of entries, the hash of the last one, and what the merchant owes.
    Column("ledger_count", BigInteger, nullable=False, server_default=text("0")),
    Column("ledger_head", Text, nullable=False, server_default=text("''")),
    Column("balance", BigInteger, nullable=False, server_default=text("0")),
    # The most that the merchant may owe, in minor units; null is no limit.
    Column("credit_limit", BigInteger),
    Column("billing", EnumText(Billing), nullable=False, server_default=text("'card'")),
    # When it is sent invoices, where somebody collects tax.
    Column("invoicing", EnumText(Invoicing), nullable=False, server_default=text("'each-order'")),
    # The merchant's customer id and payment method at the payment provider.
    Column("customer", Text, nullable=False, server_default=text("''")),
    Column("payment_method", Text, nullable=False, server_default=text("''")),
    # The merchant's own limits of requests; null is that of the installation.
    Column("requests_per_second", BigInteger),
    Column("requests_burst", BigInteger),
    Column("requests_in_work", BigInteger),
    # The language of mails to its people; null is the operator's.
    Column("language", EnumText(Language)),
    # Whether its recipients are told that their parcel was sent, in which language (null is that of
    # their country), and where their answers go.
    Column("writes_to_recipients", Boolean, nullable=False, server_default=false()),
    Column("recipient_language", EnumText(Language)),
    Column("recipient_reply_to", Text, nullable=False, server_default=text("''")),
    # When its people were last told that its credit is low, or something overdue; null if it is not.
    Column("low_credit_told_at", Timestamp),
    Column("overdue_told_at", Timestamp),
    # Since when something has been overdue without a break, in its own time; null if nothing is.
    Column("overdue_since", Timestamp),
    # Why it is not reminded of that; empty if it is.
    Column("reminders_paused", Text, nullable=False, server_default=text("''")),
    # Sandbox only: how far this merchant's clock is ahead of the real time.
    Column("clock_offset", Duration, nullable=False, server_default=text("0")),
    # Until then a process moves that clock, and runs the merchant's jobs itself.
    Column("advancing_until", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    # SHA-256 of a key with 256 random bits: it cannot be guessed, so no slower hash is needed.
    Column("hash", Text, nullable=False, unique=True),
    Column("hint", Text, nullable=False),
    # What its owner calls it, and what it may do.
    Column("name", Text, nullable=False, server_default=text("''")),
    Column("access", EnumText(KeyAccess), nullable=False, server_default=text("'full'")),
    # The only lab whose orders it may submit; null is any.
    Column("lab", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp),
    # When another took its place; it works for a while longer.
    Column("replaced_at", Timestamp),
    # To within about a minute: it is not stored with every request.
    Column("last_used_at", Timestamp),
    sqlite_autoincrement=True,
)
