"""Amounts are written as people read them."""

import pytest

from printworks.dashboard.shared.money import format_money, read_money
from printworks.errors import BadInput


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


@pytest.mark.parametrize(
    ("written", "currency", "amount"),
    [
        ("12.34", "GBP", 1234),
        (" £12 ", "GBP", 1200),
        ("1,234.5", "USD", 123450),
        ("AUD 3", "AUD", 300),
        ("1234", "JPY", 1234),
        ("12,50", "EUR", 1250),
        ("12,5", "EUR", 1250),
        ("1,234", "EUR", 123400),
        ("1,234,567.89", "USD", 123456789),
        ("1.234", "KWD", 1234),
    ],
)
def test_an_amount_is_read_as_people_write_it(written: str, currency: str, amount: int) -> None:
    assert read_money(written, currency) == amount


@pytest.mark.parametrize(
    "written",
    [
        "",
        "0",
        "-1",
        "1.005",
        "much",
        "NaN",
        "Infinity",
        "1e999999999",
        "1e13",
        "£",
        "1 2",
        "1,2,3",
        "1,234,56",
        "٣",
        "9" * 5000,
    ],
)
def test_what_is_no_amount_is_refused_with_an_example(written: str) -> None:
    with pytest.raises(BadInput, match=r"such as £12\.50"):
        read_money(written, "GBP")
