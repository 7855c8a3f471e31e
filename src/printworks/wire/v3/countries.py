"""Countries as 3.0 shows them."""

from typing import Self

import msgspec

from printworks.catalogue.countries import Country


class CountryOut(msgspec.Struct, frozen=True):
    """A country; both names of its code are documented, so both are shown."""

    name: str
    isoCode: str
    countryCode: str

    @classmethod
    def of(cls, country: Country) -> Self:
        return cls(name=country.name, isoCode=country.code, countryCode=country.code)
