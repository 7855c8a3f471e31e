"""The public holidays of the countries that parcels go to."""

from collections.abc import Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY, WorkingCalendar

if TYPE_CHECKING:
    from holidays import HolidayBase

# Where the parts of a country have different holidays, those of all of them count; here, those of
# the part to which most parcels go.
_REGIONS: Final[Mapping[str, str]] = {"GB": "ENG"}


@cache
def find_delivery_calendar(country: str, year: int) -> WorkingCalendar:
    """Return the days on which parcels are delivered in a country, this year and the next."""
    kind = _find_kind(country)
    if kind is None:
        # The library does not know the country.
        return MONDAY_TO_FRIDAY
    closed = kind(subdiv=_REGIONS.get(country), years=(year, year + 1))
    return WorkingCalendar(holidays=frozenset(closed))


def _find_kind(country: str) -> "type[HolidayBase] | None":
    """Return the holidays of a country, read from its own file of the library.

    An import would read the files of all countries: 7 MB and 0.1 s in every process.
    """
    # Imported here because that takes a while, and few programs estimate an arrival.
    import holidays
    from holidays.registry import COUNTRIES

    for module, (name, *codes) in COUNTRIES.items():
        if country in codes:
            file = Path(holidays.__file__).with_name("countries") / f"{module}.py"
            loaded = ModuleType(f"holidays.countries.{module}")
            SourceFileLoader(loaded.__name__, str(file)).exec_module(loaded)
            found: type[HolidayBase] = getattr(loaded, name)
            return found
    return None
