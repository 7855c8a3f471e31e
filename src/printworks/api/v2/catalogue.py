"""The catalogue through the 2.x family."""

from collections.abc import Iterable

from printworks.api.endpoints import Call
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.products import Product, QualityLevel
from printworks.errors import NotFound
from printworks.wire.v2.catalogue import CatalogueOut, ItemOut, ShippingRateOut
from printworks.wire.v2.shipping import methods_in


def get_catalogue(call: Call) -> CatalogueOut:
    """Get what is sold to a country in a quality level."""
    country = COUNTRIES.get(call.path["countryCode"].upper())
    if country is None:
        raise NotFound(f"Country with code {call.path['countryCode']} not found")
    quality = _find_quality(call.path["qualityLevel"])
    sold = call.work.catalogue.list_sold_to(country.code, quality=quality)
    # Some have come since, and are known by their skus alone.
    products = [product for product in sold if product.type_name is not None]
    return CatalogueOut.of(
        country,
        quality,
        [ItemOut.of(product, country.code, call.work.prices) for product in products],
        _list_rates(call, country.code, products),
    )


def _find_quality(name: str) -> QualityLevel:
    by_name = {quality.lower(): quality for quality in QualityLevel}
    quality = by_name.get(name.lower())
    if quality is None:
        raise NotFound(f"QualityLevel {name} not found")
    return quality


def _list_rates(call: Call, country: str, products: Iterable[Product]) -> list[ShippingRateOut]:
    """List what an order that is made through this version can be charged."""
    rates = call.work.catalogue.list_rates(country, products, methods_in(call.version))
    return [ShippingRateOut.of(rate, call.merchant.currency) for rate in rates]
