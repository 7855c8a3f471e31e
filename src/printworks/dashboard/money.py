"""Amounts as people read them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from printworks.errors import BadInput

# More than any amount that is kept.
_LARGEST: Final = Decimal(10) ** 12
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


def write_amount(amount: int, currency: str) -> str:
    """Write an amount of minor units as `-1234.50`, for programs."""
    digits = _DIGITS.get(currency, 2)
    return f"{Decimal(amount).scaleb(-digits):.{digits}f}"


def read_money(text: str, currency: str) -> int:
    """Read an amount as people write it, `1,234.50` or `£12`, in minor units."""
    plain = text.strip().removeprefix(currency).removeprefix(_SIGNS.get(currency, ""))
    wrong = f"Enter an amount such as {format_money(1250, currency)}."
    try:
        amount = Decimal(plain.strip().replace(",", "")) * 10 ** _DIGITS.get(currency, 2)
    except ArithmeticError:
        raise BadInput(wrong) from None
    # The size first: to write out a number of a million digits takes long.
    if not amount.is_finite() or not 0 < amount <= _LARGEST or amount != int(amount):
        raise BadInput(wrong)
    return int(amount)
