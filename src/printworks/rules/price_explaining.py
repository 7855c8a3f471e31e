"""How a price came about, in a sentence."""

from collections.abc import Callable

from printworks.rules.price_list_reading import write_percent
from printworks.rules.price_lists import PickedPrice, PriceBasis


def explain_picked(picked: PickedPrice, by: str, money: Callable[[int], str]) -> str:
    """Say why one copy costs what it costs; `by` names the list."""
    price, usual = money(picked.price), money(picked.catalogue_price)
    begins = f", from {picked.from_copies:,} copies on" if picked.from_copies > 1 else ""
    match picked.basis:
        case PriceBasis.CATALOGUE:
            return f"{price} each, as in the catalogue."
        case PriceBasis.PERCENTAGE:
            percent = write_percent(picked.percent_off)
            return f"{price} each: {percent} % off the catalogue's {usual}, by {by}{begins}."
        case PriceBasis.PRICE:
            return f"{price} each, by {by}{begins}; the catalogue says {usual}."
