"""Payments, and the memory of the simulated bank."""

from sqlalchemy import BigInteger, Column, ForeignKey, Table, Text, text

from printworks.catalogue.products import Currency
from printworks.rules.payments import Payer, PaymentState
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# Written before the provider is asked.
payment_requests = Table(
    "payment_requests",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    # Identifies it to the provider, and in the URL of its page: not guessable.
    Column("key", Text, nullable=False, unique=True),
    Column("payer", EnumText(Payer), nullable=False),
    Column("provider", Text, nullable=False),
    Column("state", EnumText(PaymentState), nullable=False),
    Column("amount", BigInteger, nullable=False),
    # What the merchant's balance pays beside it: reserved until the payment has ended.
    Column("from_balance", BigInteger, nullable=False, server_default=text("0")),
    Column("currency", EnumText(Currency), nullable=False),
    # The customer and payment method at the provider, as they were when it was first asked.
    Column("customer", Text, nullable=False),
    Column("payment_method", Text, nullable=False),
    # The provider's reference, and where the payer authorises it.
    Column("reference", Text, nullable=False, server_default=text("''")),
    Column("url", Text),
    # Why it was not paid, or its refund rejected, as a sentence.
    Column("reason", Text),
    # How many refunds of it a bank has rejected: the next one has another name.
    Column("rejected_refunds", BigInteger, nullable=False, server_default=text("0")),
    # Until when the payer may authorise it.
    Column("expires_at", Timestamp, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

# Whatever else goes wrong, an order is not paid for twice.
partial_index(
    "uq_payment_requests_paying",
    payment_requests.c.order_id,
    where="state IN ('asked', 'waiting', 'paid')",
    unique=True,
)
# Pending payments and refunds, the oldest first.
partial_index(
    "ix_payment_requests_pending",
    payment_requests.c.id,
    where="state IN ('asked', 'waiting', 'refunding')",
)

# What claims a part of a merchant's balance.
partial_index(
    "ix_payment_requests_claiming",
    payment_requests.c.merchant_id,
    where="state IN ('asked', 'waiting', 'refunding', 'refund-rejected')",
)

# Whose payers wait for an operator.
partial_index(
    "ix_payment_requests_rejected", payment_requests.c.id, where="state = 'refund-rejected'"
)

# The state of each charge at the sandbox's simulated bank.
simulated_charges = Table(
    "simulated_charges",
    metadata,
    Column("key", Text, primary_key=True),
    Column("state", Text, nullable=False),
)
