"""Prices through 3.0."""

from printworks.api.endpoints import Call
from printworks.catalogue.countries import COUNTRIES
from printworks.errors import NotFound
from printworks.rules.orders import ShippingMethod
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.prices import PriceOut, PricesOut, ShippingRateOut, read_skus


def fetch_prices(call: Call) -> PricesOut:
    """Fetch prices."""
    country, prices = _find_country(call), call.work.prices
    products = [call.work.catalogue.find_product(sku) for sku in read_skus(call.body)]
    priced = [
        (product, prices.find(product, country)) for product in products if product is not None
    ]
    return PricesOut(
        [
            PriceOut.of(product.sku, price, prices.currency, prices.list_steps(product, country))
            for product, price in priced
            if price is not None
        ]
    )


def list_shipping_rates(call: Call) -> Envelope[list[ShippingRateOut]]:
    """List what shipping to a country costs."""
    country, catalogue, currency = _find_country(call), call.work.catalogue, call.merchant.currency
    rates = catalogue.list_rates(country, catalogue.list_sold_to(country), list(ShippingMethod))
    return Envelope(
        [ShippingRateOut.of(rate, currency) for rate in rates if currency in rate.steps]
    )


def _find_country(call: Call) -> str:
    country = call.path["countryCode"].upper()
    if country not in COUNTRIES:
        raise NotFound(f"Country with code {call.path['countryCode']} not found")
    return country
