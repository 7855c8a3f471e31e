"""The catalogue through the 2.x family."""

from collections.abc import Iterable

from printworks.api.endpoints import Call
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.products import Product, QualityLevel
from printworks.catalogue.services import Service
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import NotFound
from printworks.wire.v2.catalogue import CatalogueOut, ItemOut, ShippingRateOut


def get_catalogue(call: Call) -> CatalogueOut:
    """Get what is sold to a country in a quality level."""
    country = COUNTRIES.get(call.path["countryCode"].upper())
    if country is None:
        raise NotFound(f"Country with code {call.path['countryCode']} not found")
    quality = _find_quality(call.path["qualityLevel"])
    products = call.work.catalogue.list_sold_to(country.code, quality=quality)
    return CatalogueOut.of(
        country,
        quality,
        [ItemOut.of(product, country.code) for product in products],
        _list_rates(call, country.code, products),
    )


def _find_quality(name: str) -> QualityLevel:
    by_name = {quality.lower(): quality for quality in QualityLevel}
    quality = by_name.get(name.lower())
    if quality is None:
        raise NotFound(f"QualityLevel {name} not found")
    return quality


def _list_rates(call: Call, country: str, products: Iterable[Product]) -> list[ShippingRateOut]:
    wanted = {product.shipping_band for product in products}
    return [
        ShippingRateOut.of(service, band, call.merchant.currency)
        for service in _list_services(call.work.catalogue, country)
        for band in service.bands
        if band in wanted
    ]


def _list_services(catalogue: Catalogue, country: str) -> list[Service]:
    """List the services of the labs in a country; of all labs if it has none."""
    reaching = [service for service in catalogue.services if service.goes_to(country)]
    at_home = {lab.code for lab in catalogue.labs if lab.country == country}
    return [service for service in reaching if at_home.intersection(service.labs)] or reaching
