"""The names of countries as people write them.

What programs get is the list of the contract, with names in capitals; see `countries.py`.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from babel import Locale

from printworks.catalogue.countries import COUNTRIES

_ENGLISH: Final = "en_GB"


def name_country(code: str | None) -> str:
    """Return `GB` as `United Kingdom`; a code that is no country stays as it is."""
    return _names().get(code or "", code or "")


@cache
def list_country_choices() -> Sequence[tuple[str, str]]:
    """Return the code and the name of each country that parcels go to, in the order of names."""
    return tuple(sorted(_names().items(), key=lambda country: _sort_key(country[1])))


@cache
def _names() -> Mapping[str, str]:
    known = Locale.parse(_ENGLISH).territories
    return {code: known[code] for code in COUNTRIES}


def _sort_key(name: str) -> str:
    """Put `Åland Islands` among those that begin with A."""
    plain = unicodedata.normalize("NFKD", name)
    return "".join(char for char in plain if not unicodedata.combining(char)).casefold()
