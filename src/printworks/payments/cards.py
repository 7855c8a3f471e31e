"""What providers say about saving a card, without charging it."""

import msgspec


class CardRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A merchant who wants to save a card."""

    # The idempotency key, and part of the address to which the merchant comes back.
    key: str
    merchant: str
    currency: str
    # The merchant as the provider knows it; empty if it does not.
    customer: str = ""


class CardPage(msgspec.Struct, frozen=True, kw_only=True):
    """Where the merchant enters the card; nothing is saved yet."""

    url: str
    reference: str


class CardDetails(msgspec.Struct, frozen=True, kw_only=True):
    """A card that is saved at the provider, and what may be shown of it."""

    customer: str
    payment_method: str
    brand: str
    last_four: str
    expires_month: int
    expires_year: int


class CardRefused(msgspec.Struct, frozen=True, kw_only=True):
    """No card was saved; the reason is a sentence for the merchant."""

    reason: str


CardOutcome = CardPage | CardDetails | CardRefused
