"""How the prices of an order came about, and until when it keeps them, as pages say it."""

from typing import Final

import msgspec

from printworks.dashboard.shared.money import format_money
from printworks.rules.price_explaining import explain_picked
from printworks.rules.price_lists import PriceTerms, read_terms
from printworks.rules.quotes import keeps_quote
from printworks.store.orders.orders import Order

_MOST_SENTENCES: Final = 12


class PriceWords(msgspec.Struct, frozen=True):
    """Sentences about the prices of an order."""

    sentences: list[str]
    # Products that are not among the sentences.
    others: int = 0


def explain_prices(order: Order, *, names_list: bool) -> PriceWords:
    """Say how the price of each product came about; merchants are not told what a list is called."""
    terms, currency = read_terms(order.price_terms), order.currency
    if terms is None or currency is None:
        return PriceWords([])
    by = _name(terms) if names_list else "your price list"
    said = [
        f"{sku}: {explain_picked(picked, by, lambda amount: format_money(amount, currency))}"
        for sku, picked in terms.items.items()
    ]
    return PriceWords(said[:_MOST_SENTENCES], max(0, len(said) - _MOST_SENTENCES))


def is_quoted(order: Order) -> bool:
    """Whether an order has a quote that will end."""
    return keeps_quote(order.status, order.quote_expires_at, order.payment_request_id)


def _name(terms: PriceTerms) -> str:
    return f"the list “{terms.name}”"
