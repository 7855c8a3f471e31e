"""Amounts are written as people read them."""

import pytest

from printworks.dashboard.money import format_money


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        (1234, "GBP", "£12.34"),
        (5, "GBP", "£0.05"),
        (0, "EUR", "€0.00"),
        (123456789, "USD", "$1,234,567.89"),
        (-1234, "GBP", "\N{MINUS SIGN}£12.34"),
        (1234, "AUD", "AUD\N{NO-BREAK SPACE}12.34"),
        (1234, "JPY", "JPY\N{NO-BREAK SPACE}1,234"),
        (1234, "KWD", "KWD\N{NO-BREAK SPACE}1.234"),
    ],
)
def test_an_amount_is_written_by_its_currency(amount: int, currency: str, written: str) -> None:
    assert format_money(amount, currency) == written
