"""The days on which nothing is delivered."""

import subprocess
import sys
from datetime import date

import pytest
from holidays import country_holidays

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
def test_each_country_has_the_holidays_that_the_library_says(code: str) -> None:
    region = "ENG" if code == "GB" else None

    said = country_holidays(code, region, years=(2026, 2027))

    assert find_delivery_calendar(code, 2026).holidays == frozenset(said)


@pytest.mark.parametrize("code", COUNTRIES)
def test_the_holidays_of_every_country_are_known(code: str) -> None:
    """A few countries have none."""
    assert find_delivery_calendar(code, 2026) is not MONDAY_TO_FRIDAY


def test_a_country_that_nobody_knows_has_none() -> None:
    assert find_delivery_calendar("QQ", 2026) is MONDAY_TO_FRIDAY


def test_the_files_of_other_countries_are_not_read() -> None:
    program = """
import sys
from printworks.catalogue.public_holidays import find_delivery_calendar
find_delivery_calendar("GB", 2026)
print("holidays.countries" in sys.modules)
"""
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
