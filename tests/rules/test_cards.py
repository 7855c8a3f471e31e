"""A card is good until the end of its month."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.cards import expires_soon, find_last_day, has_expired, name_brand


@pytest.mark.parametrize(
    ("month", "year", "last"),
    [(12, 2026, date(2026, 12, 31)), (2, 2028, date(2028, 2, 29)), (1, 2027, date(2027, 1, 31))],
)
def test_a_card_ends_with_its_month(month: int, year: int, last: date) -> None:
    assert find_last_day(month, year) == last
    assert not has_expired(month, year, today=last)
    assert expires_soon(month, year, today=last)


@given(month=st.integers(1, 12), year=st.integers(2000, 2100), today=st.dates(date(2000, 1, 1)))
def test_a_card_that_has_expired_does_not_expire_soon(month: int, year: int, today: date) -> None:
    assert not (has_expired(month, year, today=today) and expires_soon(month, year, today=today))


def test_brands_have_names() -> None:
    assert (name_brand("visa"), name_brand("new")) == ("Visa", "Card")
