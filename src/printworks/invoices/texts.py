"""Texts that others typed, made fit for a document."""

import re
from decimal import Decimal
from typing import Final

from babel.numbers import get_currency_precision

# What XML cannot hold, what no reader sees, and what turns the direction of a line around.
_UNFIT: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ud800-\udfff]+"
)


def clean(text: str) -> str:
    """Return a text on one line, without what cannot be printed."""
    return " ".join(_UNFIT.sub(" ", text).split())


def write_amount(minor: int, currency: str) -> str:
    """Write an amount as programs do: `12.50`."""
    return f"{Decimal(minor).scaleb(-get_currency_precision(currency)):f}"


def write_rate(rate: int) -> str:
    """Write a rate in percent, as programs do: `19`, `5.5`."""
    return f"{Decimal(rate).scaleb(-2).normalize():f}"
