"""The cards that merchants save at a payment provider."""

from sqlalchemy import Column, ForeignKey, Integer, Table, Text, text

from printworks.rules.cards import CardState
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata

# Written before the provider is asked for a page on which a card is entered.
card_setups = Table(
    "card_setups",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    # Identifies it to the provider, and in the URL to which the merchant comes back: not guessable.
    Column("key", Text, nullable=False, unique=True),
    Column("provider", Text, nullable=False),
    Column("state", EnumText(CardState), nullable=False),
    # The merchant as the provider knew it then, and the provider's reference of the page.
    Column("customer", Text, nullable=False),
    Column("reference", Text, nullable=False, server_default=text("''")),
    # Why no card was saved, as a sentence.
    Column("reason", Text),
    Column("expires_at", Timestamp, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

# What may be shown of the card whose payment method a merchant has. One that an operator has set
# has no row here.
saved_cards = Table(
    "saved_cards",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("provider", Text, nullable=False),
    Column("payment_method", Text, nullable=False),
    Column("brand", Text, nullable=False),
    Column("last_four", Text, nullable=False),
    Column("expires_month", Integer, nullable=False),
    Column("expires_year", Integer, nullable=False),
    # Why the bank refused it the last time; null while it is taken.
    Column("refusal", Text),
    Column("saved_at", Timestamp, nullable=False),
)
