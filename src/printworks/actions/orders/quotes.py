"""The price of an order, calculated whenever it changes: lookups in tables, and no routing."""

from collections.abc import Mapping, Sequence

from printworks.actions.production.routing import RoutedProduct, find_delivery, price_shipping
from printworks.actions.taxes import tax_order
from printworks.actions.work import Work
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.store.images.images import ItemSum, sum_items, update_price
from printworks.store.orders.orders import Order, update_order


def find_price(work: Work, order: Order, sku: str) -> int:
    """Return what one copy costs the merchant; 0 while it cannot be sold there."""
    product = work.catalogue.find_product(sku)
    if product is None or order.destination_country is None:
        return 0
    return product.find_price(work.merchant.currency, country=order.destination_country) or 0


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


def price_order(work: Work, order: Order, changes: Mapping[str, object]) -> Order:
    """Change an order whose items or delivery are others, and with it what it costs.

    Its shipments are planned again when somebody looks: see `plans.py`.
    """
    items = sum_items(work.db, order.id)
    prices = {item.sku: find_price(work, order, item.sku) for item in items}
    for item in items:
        if item.price != prices[item.sku]:
            update_price(work.db, order.id, item.sku, prices[item.sku])
    currency = work.merchant.currency
    shipping = find_shipping(order, items, work.catalogue, currency)
    priced = [item._replace(price=prices[item.sku]) for item in items]
    values = {
        **changes,
        "currency": currency if items else None,
        "price": shipping + sum(item.price * item.copies for item in priced),
        "shipping_price": shipping,
        **tax_order(work, order, priced, shipping=shipping),
        "needs_plan": True,
    }
    return update_order(work.db, order, values)
