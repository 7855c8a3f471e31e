"""Amounts as people read them."""

from collections.abc import Mapping
from typing import Final

_SIGNS: Final[Mapping[str, str]] = {"GBP": "£", "USD": "$", "EUR": "€"}
# How many digits the minor unit has, where it is not two.
# fmt: off
_DIGITS: Final[Mapping[str, int]] = {
    **dict.fromkeys((
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV",
        "XAF", "XOF", "XPF",
    ), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}
# fmt: on


def format_money(amount: int, currency: str) -> str:
    """Write an amount of minor units as `£1,234.50`, or as `AUD 12.34` where no sign is clear."""
    digits = _DIGITS.get(currency, 2)
    whole, rest = divmod(abs(amount), 10**digits)
    number = f"{whole:,}" if digits == 0 else f"{whole:,}.{rest:0{digits}}"
    minus = "\N{MINUS SIGN}" if amount < 0 else ""
    sign = _SIGNS.get(currency)
    # A space at which no line is broken.
    return f"{minus}{sign}{number}" if sign else f"{minus}{currency}\N{NO-BREAK SPACE}{number}"
