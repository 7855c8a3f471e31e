"""The public holidays of the countries that parcels go to."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY, WorkingCalendar

# Where the parts of a country have different holidays, those of all of them count; here, those of
# the part to which most parcels go.
_REGIONS: Final[Mapping[str, str]] = {"GB": "ENG"}


@cache
def find_delivery_calendar(country: str, year: int) -> WorkingCalendar:
    """Return the days on which parcels are delivered in a country, this year and the next."""
    # Imported here because that takes a while, and few programs estimate an arrival.
    from holidays import country_holidays

    try:
        closed = country_holidays(country, _REGIONS.get(country), years=(year, year + 1))
    except NotImplementedError:
        # The library does not know the country.
        return MONDAY_TO_FRIDAY
    return WorkingCalendar(holidays=frozenset(closed))
