"""The cards that merchants save: what becomes of one, and when it can no longer be charged."""

from datetime import date, timedelta
from enum import StrEnum
from typing import Final


class CardState(StrEnum):
    """What became of a page on which a card can be saved."""

    WAITING = "waiting"
    SAVED = "saved"
    # Not saved: the bank or the merchant said no, or the time was over.
    REFUSED = "refused"
    # Another page was opened after it.
    REPLACED = "replaced"


# How long a page for a card can be used; Stripe's are open for a day.
SAVE_WITHIN: Final = timedelta(hours=24)
# How long before a card expires its merchant is told.
_TELL_BEFORE: Final = timedelta(days=30)

CARD_BRANDS: Final = {
    "amex": "American Express",
    "diners": "Diners Club",
    "discover": "Discover",
    "jcb": "JCB",
    "mastercard": "Mastercard",
    "unionpay": "UnionPay",
    "visa": "Visa",
}


def name_brand(brand: str) -> str:
    """Return what a brand of cards is called."""
    return CARD_BRANDS.get(brand, "Card")


def find_last_day(month: int, year: int) -> date:
    """Return the last day on which a card can be charged: that of its month."""
    following = date(year + month // 12, month % 12 + 1, 1)
    return following - timedelta(days=1)


def has_expired(month: int, year: int, *, today: date) -> bool:
    """Whether a card can no longer be charged."""
    return today > find_last_day(month, year)


def expires_soon(month: int, year: int, *, today: date) -> bool:
    """Whether a card that is still good should be replaced."""
    last = find_last_day(month, year)
    return last - _TELL_BEFORE <= today <= last
