"""Prices through 3.0."""

from printworks.api.endpoints import Call
from printworks.catalogue.countries import COUNTRIES
from printworks.errors import NotFound
from printworks.wire.v3.prices import PriceOut, PricesOut, read_skus


def fetch_prices(call: Call) -> PricesOut:
    """Fetch prices."""
    country = call.path["countryCode"].upper()
    if country not in COUNTRIES:
        raise NotFound(f"Country with code {call.path['countryCode']} not found")
    currency = call.merchant.currency
    products = [call.work.catalogue.find_product(sku.strip()) for sku in read_skus(call.body)]
    priced = [
        (product, product.find_price(currency, country=country))
        for product in products
        if product is not None
    ]
    return PricesOut(
        [PriceOut(product.sku, price, currency) for product, price in priced if price is not None]
    )
