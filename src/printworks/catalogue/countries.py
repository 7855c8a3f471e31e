"""The countries that parcels go to."""

from collections.abc import Mapping
from importlib import resources
from typing import Final

import msgspec


class Country(msgspec.Struct, frozen=True, rename={"code": "isoCode"}):
    """A country, by its name in capitals and its two-letter code."""

    name: str
    code: str


def _load() -> Mapping[str, Country]:
    data = resources.files("printworks.catalogue").joinpath("data", "countries.json").read_bytes()
    return {country.code: country for country in msgspec.json.decode(data, type=list[Country])}


# By code, in the order of their names, as the file has them.
COUNTRIES: Final[Mapping[str, Country]] = _load()
