"""Money that somebody is asked for."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Table, Text, text

from printworks.catalogue.products import Currency
from printworks.rules.payments import Payer, PaymentState
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata

# Money that somebody is asked for; written down before anybody asks.
payment_requests = Table(
    "payment_requests",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    # By which the provider knows it, and the address of our page about it: not guessable.
    Column("key", Text, nullable=False, unique=True),
    Column("payer", EnumText(Payer), nullable=False),
    Column("provider", Text, nullable=False),
    Column("state", EnumText(PaymentState), nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("currency", EnumText(Currency), nullable=False),
    # Who pays, and with what, in the provider's words, as it was when it was first asked.
    Column("customer", Text, nullable=False),
    Column("payment_method", Text, nullable=False),
    # What the provider calls it, and where the payer authorises it.
    Column("reference", Text, nullable=False, server_default=text("''")),
    Column("url", Text),
    # Why nothing was paid, as a sentence.
    Column("reason", Text),
    # Until when the payer may authorise it.
    Column("expires_at", Timestamp, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

_takes_money = text("state IN ('asked', 'waiting', 'paid')")

# Whatever goes wrong elsewhere, an order is not paid for twice.
Index(
    "uq_payment_requests_paying",
    payment_requests.c.order_id,
    unique=True,
    sqlite_where=_takes_money,
    postgresql_where=_takes_money,
)
_is_pending = text("state IN ('asked', 'waiting')")
# Payments without an end, the oldest first.
Index(
    "ix_payment_requests_pending",
    payment_requests.c.id,
    sqlite_where=_is_pending,
    postgresql_where=_is_pending,
)

# What the sandbox's own bank remembers of each charge.
simulated_charges = Table(
    "simulated_charges",
    metadata,
    Column("key", Text, primary_key=True),
    Column("state", Text, nullable=False),
)
