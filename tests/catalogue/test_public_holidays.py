"""The days on which nothing is delivered."""

from datetime import date

import pytest

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.public_holidays import find_delivery_calendar
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY


@pytest.mark.parametrize(
    ("country", "day"),
    [
        ("GB", date(2026, 12, 28)),
        ("GB", date(2027, 3, 29)),
        ("US", date(2026, 11, 26)),
        ("DE", date(2027, 5, 17)),
        ("JP", date(2026, 11, 23)),
    ],
)
def test_nothing_is_delivered_on_a_holiday_of_this_year_or_the_next(
    country: str, day: date
) -> None:
    assert not find_delivery_calendar(country, 2026).is_working(day)


@pytest.mark.parametrize("code", COUNTRIES)
def test_the_holidays_of_every_country_are_known(code: str) -> None:
    """A few countries have none."""
    assert find_delivery_calendar(code, 2026) is not MONDAY_TO_FRIDAY


def test_a_country_that_nobody_knows_has_none() -> None:
    assert find_delivery_calendar("QQ", 2026) is MONDAY_TO_FRIDAY
