"""Countries through the 2.x family."""

import functools

from printworks.api.endpoints import Call
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.snapshot import Catalogue
from printworks.wire.v2.countries import CountryOut


def list_countries(call: Call) -> list[CountryOut]:
    """List countries."""
    return _show_countries(call.work.catalogue)


# One for the catalogue that is in use.
@functools.lru_cache(maxsize=1)
def _show_countries(catalogue: Catalogue) -> list[CountryOut]:
    listed = (product for product in catalogue.products if product.type_name is not None)
    sold_to = frozenset().union(*(product.sold_to for product in listed))
    return [
        CountryOut.of(country, has_products=country.code in sold_to)
        for country in COUNTRIES.values()
    ]
