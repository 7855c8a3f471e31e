"""Builds the tariff, and checks that it has a price for all that is sold, and can be kept."""

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from printworks.catalogue.forms import TariffForm
from printworks.catalogue.labs import Lab
from printworks.catalogue.problems import Place, list_some
from printworks.catalogue.products import Product
from printworks.catalogue.services import Service
from printworks.catalogue.sources import CatalogueFiles
from printworks.catalogue.tariff import ShippingRate, Tariff
from printworks.catalogue.zones import ZoneEntry, choose_closest
from printworks.rules.orders import ShippingMethod

# By band and method, and by country.
ClosestRates = Mapping[tuple[Hashable, str], list[ZoneEntry[ShippingRate]]]


def choose_rates(forms: Sequence[TariffForm], files: CatalogueFiles) -> ClosestRates:
    """Choose the closest rates for each band, method and country; report ties."""
    return choose_closest(_list_rates(forms), files, verb="priced")


def build_tariff(closest: ClosestRates) -> Tariff:
    rates = {}
    for (_, country), entries in closest.items():
        found = sorted((entry.value for entry in entries), key=lambda rate: rate.is_tracked)
        rates[country, found[0].band, found[0].method] = tuple(found)
    return Tariff(MappingProxyType(rates))


def _list_rates(forms: Sequence[TariffForm]) -> Iterator[ZoneEntry[ShippingRate]]:
    for position, form in enumerate(forms):
        tracking = "tracked" if form.tracked else "untracked"
        for band, steps in form.bands.items():
            place: Place = ("tariff", position, "bands", band)
            for method in form.methods:
                rate = ShippingRate(
                    name=form.name,
                    band=band,
                    method=method,
                    is_tracked=form.tracked,
                    steps=MappingProxyType(steps),
                )
                words = f"{band} by {method}, {tracking},"
                for name, countries in form.to.items():
                    yield ZoneEntry(rate, words, (band, method), name, countries, place)


def check_prices(products: Iterable[Product], closest: ClosestRates, files: CatalogueFiles) -> None:
    """Report bands that are sold to a country without a price for one of the methods."""
    sold: dict[str, set[str]] = defaultdict(set)
    for product in products:
        sold[product.shipping_band] |= product.sold_to
    for band, method in itertools.product(sold, ShippingMethod):
        missing = sorted(at for at in sold[band] if ((band, method), at) not in closest)
        if missing:
            sentence = f"{band} is sold to {list_some(missing)} without a price for {method}."
            files.report(("tariff", 0), sentence)


def check_tracking(
    products: Iterable[Product],
    labs: Sequence[Lab],
    services: Sequence[Service],
    closest: ClosestRates,
    files: CatalogueFiles,
) -> None:
    """Report tracked prices that would be charged for a product that cannot be sent so."""
    sold: dict[tuple[frozenset[str], str], list[Product]] = defaultdict(list)
    for product in products:
        makers = frozenset(lab.code for lab in labs if lab.can_make(product))
        sold[makers, product.shipping_band].append(product)
    for (makers, band), made in sold.items():
        taking = [one for one in services if band in one.bands and makers.intersection(one.labs)]
        countries = frozenset[str]().union(*(product.sold_to for product in made))
        for method in ShippingMethod:
            wrong: dict[Place, list[str]] = defaultdict(list)
            for country in sorted(countries & _find_untracked(taking, method)):
                for entry in closest.get(((band, method), country), ()):
                    if entry.value.is_tracked:
                        wrong[entry.place].append(country)
            for place, found in wrong.items():
                sentence = f"no tracked service takes `{made[0].sku}` to {list_some(found)}"
                files.report(place, f"{band} by {method} is priced as tracked, but {sentence}.")


def _find_untracked(taking: Sequence[Service], method: ShippingMethod) -> frozenset[str]:
    """Return the countries to which these services send by a method, but never with tracking."""
    of_method = [service for service in taking if method in service.methods]
    by_method, anyhow = _find_reach(of_method), _find_reach(taking)
    # Other methods are used where none of the services offers this one.
    others = _find_reach([one for one in taking if one.tracked]) - by_method
    return anyhow - _find_reach([one for one in of_method if one.tracked]) - others


def _find_reach(services: Sequence[Service]) -> frozenset[str]:
    return frozenset[str]().union(*(service.countries for service in services))
