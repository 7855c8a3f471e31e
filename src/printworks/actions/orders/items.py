"""The items of an order, found in the catalogue again when the order changes."""

from typing import Final

from printworks.actions.work import Work
from printworks.catalogue.products import Product, choose_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, NotSold
from printworks.store.images.images import Image, list_images, update_products
from printworks.store.orders.orders import Order

# What decides which product an item is, and whether it is sold.
RESOLVED_BY: Final = frozenset({"destination_country", "print_country", "quality_level"})


def resolve_items(work: Work, before: Order, order: Order) -> None:
    """Give every item the product that it is in the changed order, or refuse the change.

    An item of an order with a quality level is what its type means there. Others keep their sku.
    """
    if all(getattr(before, name) == getattr(order, name) for name in RESOLVED_BY):
        return
    images = list_images(work.db, order.id)
    found = [(image, _resolve(work.catalogue, image, before, order)) for image in images]
    place = _name_place(order.destination_country, before, order)
    products = {
        image.id: (product.sku, _choose_again(image, product, place)) for image, product in found
    }
    update_products(work.db, images, products)


def _resolve(catalogue: Catalogue, image: Image, before: Order, order: Order) -> Product:
    product = catalogue.find_product(image.sku)
    destination = order.destination_country
    country = order.print_country or destination
    if product is not None and country is not None and _is_by_type(product, before, order):
        name, quality = product.type_names[0], order.quality_level
        product = catalogue.resolve_type(name, quality=quality, country=country)
        if product is None:
            raise NotSold(image.sku, _name_place(country, before, order))
    if product is None or (destination is not None and not product.is_sold_to(destination)):
        raise NotSold(image.sku, _name_place(destination, before, order))
    return product


def _is_by_type(product: Product, before: Order, order: Order) -> bool:
    if order.quality_level is None:
        return False
    # Whoever gave the sku of another quality level wanted that product.
    return before.quality_level is None or before.quality_level in product.quality_levels


def _choose_again(image: Image, product: Product, place: str) -> dict[str, str]:
    try:
        return choose_attributes(product, image.attributes)
    except BadInput as refusal:
        where = f"{place} with its attributes: {refusal.message.removesuffix('.')}"
        raise NotSold(image.sku, where) from refusal


def _name_place(country: str | None, before: Order, order: Order) -> str:
    country = country or order.print_country or "any country"
    if order.quality_level in (None, before.quality_level):
        return country
    return f"{country} in quality level {order.quality_level}"
