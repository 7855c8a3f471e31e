"""The price of an order, calculated whenever it changes: lookups in tables, and no routing."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from printworks.actions.production.routing import RoutedProduct, find_delivery, price_shipping
from printworks.actions.taxes import tax_order
from printworks.actions.work import Work
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.price_lists import PickedPrice, write_terms
from printworks.store.images.images import Image, ItemSum, sum_items, update_price
from printworks.store.orders.orders import Order, update_order


class QuotedOrder(NamedTuple):
    """An order, and what one copy of each of its products costs, by sku."""

    order: Order
    prices: Mapping[str, int]

    def show(self, images: Iterable[Image]) -> list[Image]:
        """Return images of the order with their prices in it."""
        return [
            image
            if image.price == self.prices[image.sku]
            else msgspec.structs.replace(image, price=self.prices[image.sku])
            for image in images
        ]


def pick_price(work: Work, order: Order, sku: str, copies: int) -> PickedPrice | None:
    """Return what each copy costs the merchant; None while it cannot be sold there."""
    product = work.catalogue.find_product(sku)
    if product is None or order.destination_country is None:
        return None
    return work.prices.pick(product, order.destination_country, copies)


def find_price(work: Work, order: Order, sku: str, copies: int) -> int:
    """Return what each of so many copies costs the merchant; 0 while it cannot be sold there."""
    picked = pick_price(work, order, sku, copies)
    return 0 if picked is None else picked.price


def find_shipping(
    order: Order, items: Sequence[ItemSum], catalogue: Catalogue, currency: Currency
) -> int:
    """Return what shipping costs the merchant: the tariff, whichever labs print the order."""
    delivery = find_delivery(order)
    if delivery is None:
        return 0
    found = [(catalogue.find_product(item.sku), item.copies) for item in items if item.copies]
    wanted = [
        RoutedProduct(place, product, copies)
        for place, (product, copies) in enumerate(found)
        if product is not None and product.is_sold_to(delivery.country)
    ]
    return price_shipping(wanted, catalogue, delivery, currency)


def calculate_price(
    work: Work, order: Order, items: Sequence[ItemSum]
) -> tuple[dict[str, int], dict[str, object]]:
    """Return what a copy of each product costs, and the values of an order with these items."""
    copies = Counter[str]()
    for item in items:
        copies[item.sku] += item.copies
    picked = {sku: pick_price(work, order, sku, number) for sku, number in copies.items()}
    known = {sku: one for sku, one in picked.items() if one is not None}
    prices = {sku: 0 if one is None else one.price for sku, one in picked.items()}
    currency = work.merchant.currency
    shipping = find_shipping(order, items, work.catalogue, currency)
    priced = [item._replace(price=prices[item.sku]) for item in items]
    values: dict[str, object] = {
        "currency": currency if items else None,
        "price": shipping + sum(prices[sku] * number for sku, number in copies.items()),
        "shipping_price": shipping,
        **tax_order(work, order, priced, shipping=shipping),
        "price_terms": write_terms(work.prices.rates, known),
        "quote_expires_at": work.now + work.backing.quote_keeps if items else None,
    }
    return prices, values


def quote_order(work: Work, order: Order, changes: Mapping[str, object]) -> QuotedOrder:
    """Change an order whose items or delivery are others, and with it what it costs.

    Its shipments are planned again when somebody looks: see `plans.py`.
    """
    items = sum_items(work.db, order.id)
    prices, values = calculate_price(work, order, items)
    for sku in sorted({item.sku for item in items if item.price != prices[item.sku]}):
        update_price(work.db, order.id, sku, prices[sku])
    changed = update_order(work.db, order, {**changes, **values, "needs_plan": True})
    return QuotedOrder(changed, prices)


def price_order(work: Work, order: Order, changes: Mapping[str, object]) -> Order:
    """Like `quote_order`, for callers that show no images."""
    return quote_order(work, order, changes).order
