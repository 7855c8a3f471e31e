"""The countries that parcels go to."""

from collections.abc import Mapping
from importlib import resources
from typing import Final

import msgspec


class Country(msgspec.Struct, frozen=True, rename={"code": "isoCode"}):
    """A country and its two-letter code."""

    name: str
    code: str


def _by_name(country: Country) -> str:
    # The list mixes capitals and small letters.
    return country.name.casefold()


def _load() -> Mapping[str, Country]:
    data = resources.files("printworks.catalogue").joinpath("data", "countries.json").read_bytes()
    listed = msgspec.json.decode(data, type=list[Country])
    return {country.code: country for country in sorted(listed, key=_by_name)}


# By code, in the order of their names.
COUNTRIES: Final[Mapping[str, Country]] = _load()
