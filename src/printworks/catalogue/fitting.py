"""Whether the values of a product fit each other, and the product that they make."""

from collections.abc import Callable, Iterator, Mapping, Set
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType
from typing import Any, Final

from printworks.catalogue.problems import Mistake, list_some
from printworks.catalogue.products import Product, QualityLevel, Size, usual_type_name
from printworks.catalogue.values import Prices, Vocabulary
from printworks.rules.sizing import Pixels, Units

REQUIRED: Final = ("sku", "description", "kind", "band", "sold_to")
USUAL_DENSITY: Final = {Units.INCHES: Decimal(150), Units.CM: Decimal(60)}

OPTIONAL: Final = frozenset({"image", "full", "wrap"})

Values = Mapping[str, Any]


def find_misfits(values: Values, failed: Set[str], vocabulary: Vocabulary) -> Iterator[str]:
    """Say what does not fit, leaving out what depends on a value that is wrong in itself."""
    name = f"`{values['sku']}`" if "sku" in values else "A product"
    for key in REQUIRED:
        if key not in values and key not in failed:
            yield f"{name} has no `{key}`."
    if "sku" not in values:
        return
    for needs, check in _CHECKS:
        if not needs & failed and needs - OPTIONAL <= values.keys():
            try:
                check(values, vocabulary)
            except Mistake as mistake:
                yield str(mistake)


def build(values: Values) -> Product:
    """Make a product of values in which `find_misfits` found nothing."""
    image, full = _measure(values)
    units = values.get("units", Units.INCHES)
    density = values.get("density", USUAL_DENSITY[units])
    prices: Prices = values["price"]
    return Product(
        sku=values["sku"],
        type_name=values.get("type", usual_type_name(values["sku"])),
        quality_levels=values.get("quality", tuple(QualityLevel)),
        description=values["description"],
        kind=values["kind"],
        image_size=image,
        full_size=full,
        units=units,
        recommended_pixels=values.get("pixels") or _recommend(image, density),
        shipping_band=values["band"],
        attributes=values.get("attributes", ()),
        sold_to=values["sold_to"],
        base_prices=MappingProxyType(
            {currency: price for (currency, at), price in prices.items() if at is None}
        ),
        prices_by_country=MappingProxyType(
            {(currency, at): price for (currency, at), price in prices.items() if at is not None}
        ),
    )


def _measure(values: Values) -> tuple[Size, Size]:
    sku, wrap = values["sku"], values.get("wrap")
    image: Size | None = values.get("image")
    full: Size | None = values.get("full")
    if wrap is not None:
        return _measure_wrapped(sku, image, full, wrap)
    image, full = image or full, full or image
    if image is None or full is None:
        message = f"`{sku}` has no `image`, the printed size."
        raise Mistake(message)
    if image.width > full.width or image.height > full.height:
        message = (
            f"The image of `{sku}` ({image}) is larger than the whole product ({full}); "
            "if it folds over the edges, say how far with `wrap`."
        )
        raise Mistake(message)
    return image, full


def _measure_wrapped(
    sku: str, image: Size | None, full: Size | None, wrap: Decimal
) -> tuple[Size, Size]:
    if full is None:
        message = f"`{sku}` has a `wrap`, so it needs `full`, the size without it."
        raise Mistake(message)
    wrapped = Size.of(full.width + 2 * wrap, full.height + 2 * wrap)
    if image not in (None, wrapped):
        message = f"The image of `{sku}` must be {wrapped} with this `wrap`, not {image}."
        raise Mistake(message)
    return wrapped, full


def _recommend(image: Size, density: Decimal) -> Pixels:
    sides = (image.width * density, image.height * density)
    width, height = (int(side.to_integral_value(ROUND_HALF_UP)) for side in sides)
    return Pixels(max(width, 1), max(height, 1))


def _check_sizes(values: Values, _: Vocabulary) -> None:
    _measure(values)


def _check_exceptions(values: Values, vocabulary: Vocabulary) -> None:
    for _, country in values["price"]:
        is_sold = country is None or country in values["sold_to"]
        if vocabulary.has_all_groups and not is_sold:
            message = f"`{values['sku']}` has a price in {country}, where it is not sold."
            raise Mistake(message)


def _check_currencies(values: Values, vocabulary: Vocabulary) -> None:
    for currency, _ in values["price"]:
        if vocabulary.currencies is not None and currency not in vocabulary.currencies:
            message = f"`{values['sku']}` has a price in {currency}, which is not in `currencies`."
            raise Mistake(message)


def _check_prices(values: Values, vocabulary: Vocabulary) -> None:
    prices: Prices = values["price"]
    for currency in vocabulary.currencies or ():
        if (currency, None) in prices:
            continue
        without = sorted(at for at in values["sold_to"] if (currency, at) not in prices)
        if without:
            message = (
                f"`{values['sku']}` is sold to {list_some(without)} without a price in {currency}."
            )
            raise Mistake(message)


# Read a line as: unless one of these is wrong already, this must hold.
_CHECKS: Final[tuple[tuple[Set[str], Callable[[Values, Vocabulary], None]], ...]] = (
    ({"image", "full", "wrap"}, _check_sizes),
    ({"price", "sold_to"}, _check_exceptions),
    ({"price"}, _check_currencies),
    ({"price", "sold_to"}, _check_prices),
)
