"""The price of an order and its planned shipments, calculated whenever it changes."""

from collections.abc import Mapping

import msgspec

from printworks.actions.production.routing import (
    RoutingTerms,
    find_delivery,
    list_wanted,
    make_shipments,
    price_shipping,
    route_order,
)
from printworks.actions.work import Work
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.routing.model import Routed, Routing
from printworks.store.images.images import Image, Images, list_images, update_prices
from printworks.store.labs.shipments import drop_planned, insert_shipments
from printworks.store.orders.orders import Order, update_order


class Quote(msgspec.Struct, frozen=True):
    """The price of an order, and the labs that would make it."""

    # Of one copy, by image.
    prices: Mapping[int, int]
    items: int
    shipping: int
    routing: Routing | None

    @property
    def total(self) -> int:
        return self.items + self.shipping


def find_quote(work: Work, order: Order, images: list[Image]) -> Quote:
    prices = {image.id: find_price(work, order, image.sku) for image in images}
    # Without the labs' backlog, which changes until the order is submitted.
    routing = route_order(order, images, RoutingTerms.of(work))
    items = sum(prices[image.id] * image.copies for image in images)
    shipping = find_shipping(order, images, work.catalogue, work.merchant.currency)
    return Quote(prices, items, shipping, routing)


def find_shipping(order: Order, images: Images, catalogue: Catalogue, currency: Currency) -> int:
    """Return what shipping costs the merchant: the tariff, whichever labs print the order."""
    delivery = find_delivery(order)
    if delivery is None:
        return 0
    wanted = list_wanted(images, delivery.country, catalogue)
    return price_shipping(wanted, catalogue, delivery, currency)


def find_price(work: Work, order: Order, sku: str) -> int:
    """Return what one copy costs the merchant; 0 while it cannot be sold there."""
    product = work.catalogue.find_product(sku)
    if product is None or order.destination_country is None:
        return 0
    return product.find_price(work.merchant.currency, country=order.destination_country) or 0


def quote_order(work: Work, order: Order) -> Order:
    """Store the price and the planned shipments of an order, until it changes again."""
    images = list_images(work.db, order.id)
    quote = find_quote(work, order, images)
    update_prices(work.db, images, quote.prices)
    drop_planned(work.db, order.id)
    if isinstance(quote.routing, Routed):
        planned = make_shipments(quote.routing.plan.shipments, work.catalogue, None)
        insert_shipments(work.db, order.id, planned, now=work.now)
    values = {
        "currency": work.merchant.currency if images else None,
        "price": quote.total,
        "shipping_price": quote.shipping,
    }
    return update_order(work.db, order, values) or order
