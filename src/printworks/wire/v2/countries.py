"""Countries as the 2.x family shows them."""

from typing import Self

import msgspec

from printworks.catalogue.countries import Country


class CountryOut(msgspec.Struct, frozen=True):
    """A country, and whether anything is sold there."""

    countryCode: str
    hasProducts: bool
    name: str
    errorMessage: str | None = None

    @classmethod
    def of(cls, country: Country, *, has_products: bool) -> Self:
        return cls(country.code, has_products, country.name)
