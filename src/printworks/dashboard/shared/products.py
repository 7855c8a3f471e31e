"""Finding products by what people type."""

from collections.abc import Iterable

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.products import Product
from printworks.rules.search import simplify


def find_products(
    products: Iterable[Product], *, text: str = "", kind: str = "", country: str = ""
) -> list[Product]:
    """Return the products that have every word of a text in their sku, name or description."""
    words = simplify(text).split()
    return [
        product
        for product in products
        if (not kind or product.kind == kind)
        and (country not in COUNTRIES or product.is_sold_to(country))
        and _has_words(product, words)
    ]


def _has_words(product: Product, words: list[str]) -> bool:
    if not words:
        return True
    written = simplify(
        f"{product.sku} {product.type_names[0]} {product.kind} {product.description}"
    )
    return all(word in written for word in words)
