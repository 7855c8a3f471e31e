"""Amounts as people read them."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from printworks.errors import BadInput

# More than any stored amount.
_LARGEST: Final = 10**12
# A comma before three digits is there to be read more easily; any other is a decimal point.
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_PLAIN: Final = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,3}))?")
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


def read_money(text: str, currency: str, *, what: str = "an amount", least: int = 1) -> int:
    """Read an amount as people write it, `1,234.50`, `12,5` or `£12`, in minor units."""
    written = text.strip().removeprefix(currency).removeprefix(_SIGNS.get(currency, "")).strip()
    plain = written.replace(",", "" if _GROUPED.fullmatch(written) else ".")
    digits = _DIGITS.get(currency, 2)
    found = _PLAIN.fullmatch(plain)
    if found is not None and len(rest := found[2] or "") <= digits:
        amount = int(found[1] + rest.ljust(digits, "0"))
        if least <= amount <= _LARGEST:
            return amount
    raise BadInput(f"Enter {what} such as {format_money(1250, currency)}.")
