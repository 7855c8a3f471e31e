"""Which rate a country has for a class of products on a day, and which countries are in the Union."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Final, Self

import msgspec


class TaxClass(StrEnum):
    """What a product is for the tax: what has no rate of its own in a country has the standard one."""

    STANDARD = "standard"
    REDUCED = "reduced"
    BOOKS = "books"


# The member states, whose tax is one system.
UNION: Final = frozenset(
    {
        *("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE"),
        *("IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK"),
    }
)
# Places that another country taxes as its own.
_TAXED_AS: Final[Mapping[str, str]] = {"IM": "GB", "MC": "FR"}


class DatedRate(msgspec.Struct, frozen=True, order=True):
    """A rate in hundredths of a percent, and the first day on which it applies."""

    since: date
    rate: int


class TaxTable(msgspec.Struct, frozen=True):
    """The rates by country and class, each list by day."""

    rates: Mapping[tuple[str, TaxClass], Sequence[DatedRate]]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, TaxClass, DatedRate]]) -> Self:
        """Make a table of rows in any order."""
        rates: dict[tuple[str, TaxClass], list[DatedRate]] = {}
        for country, tax_class, rate in rows:
            rates.setdefault((country, tax_class), []).append(rate)
        return cls({key: tuple(sorted(found)) for key, found in rates.items()})

    def replaced_by(self, other: Self) -> Self:
        """Return a table in which the rates of a country and class are the other's, if it has any."""
        return type(self)({**self.rates, **other.rates})

    def find_rate(self, country: str, tax_class: TaxClass, day: date) -> int | None:
        """Return the rate of a country on a day; None if none is known."""
        dated = self.rates.get((country, tax_class)) or self.rates.get(
            (country, TaxClass.STANDARD), ()
        )
        known = [each.rate for each in dated if each.since <= day]
        return known[-1] if known else None


def find_tax_country(code: str) -> str:
    """Return the country by whose rules a destination is taxed."""
    return _TAXED_AS.get(code.upper(), code.upper())
