"""What an order costs and how it would travel, reckoned whenever it changes."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
from sqlalchemy import Connection, bindparam, update

from printworks.actions.production.routing import FINE, make_shipments, route_order
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.routing.plans import Routed, Routing
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import Image, list_images
from printworks.store.labs.shipments import (
    drop_planned,
    insert_shipments,
)
from printworks.store.orders.orders import Order, update_order
from printworks.store.tables import images as images_table


class Quote(msgspec.Struct, frozen=True):
    """What an order costs, and by which labs it would be made."""

    # Of one copy, by image.
    prices: Mapping[int, int]
    items: int
    shipping: int
    routing: Routing | None

    @property
    def total(self) -> int:
        """The price of the order."""
        return self.items + self.shipping


def find_quote(
    merchant: Merchant,
    order: Order,
    images: list[Image],
    catalogue: Catalogue,
    *,
    now: datetime,
) -> Quote:
    """Reckon what an order costs."""
    prices = {image.id: find_price(image.sku, merchant, order, catalogue) for image in images}
    # What labs have before them counts when the order is submitted; until then it changes anyway.
    routing = route_order(order, images, catalogue, currency=merchant.currency, now=now, backlog={})
    shipping = routing.plan.shipping_cost // FINE if isinstance(routing, Routed) else 0
    items = sum(prices[image.id] * image.copies for image in images)
    return Quote(prices, items, shipping, routing)


def find_price(sku: str, merchant: Merchant, order: Order, catalogue: Catalogue) -> int:
    """Return what one copy costs the merchant; 0 while it cannot be sold there."""
    product = catalogue.find_product(sku)
    if product is None or order.destination_country is None:
        return 0
    return product.find_price(merchant.currency, country=order.destination_country) or 0


def quote_order(
    db: Connection, merchant: Merchant, order: Order, catalogue: Catalogue, *, now: datetime
) -> Order:
    """Write down what an order costs now and how it would travel: until it changes, this holds."""
    images = list_images(db, order.id)
    quote = find_quote(merchant, order, images, catalogue, now=now)
    _write_prices(db, images, quote.prices)
    drop_planned(db, order.id)
    if isinstance(quote.routing, Routed):
        planned = make_shipments(quote.routing.plan.packages, catalogue, None)
        insert_shipments(db, order.id, planned, now=now)
    values = {
        "currency": merchant.currency if images else None,
        "price": quote.total,
        "shipping_price": quote.shipping,
    }
    return update_order(db, order, values) or order


def _write_prices(db: Connection, images: list[Image], prices: Mapping[int, int]) -> None:
    changed = [
        {"image": image.id, "new_price": prices[image.id]}
        for image in images
        if image.price != prices[image.id]
    ]
    if changed:
        db.execute(
            update(images_table)
            .where(images_table.c.id == bindparam("image"))
            .values(price=bindparam("new_price")),
            changed,
        )
