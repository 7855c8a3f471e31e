"""Checks whether the values of a product are consistent, and builds the product."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType
from typing import Any, Final

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.form_reading import Known
from printworks.catalogue.forms import ProductForm
from printworks.catalogue.problems import list_some
from printworks.catalogue.products import Attribute, Currency, Product, Size
from printworks.rules.mockups import usual_mockup
from printworks.rules.sizing import Pixels, Units

USUAL_DENSITY: Final = {Units.INCHES: Decimal(150), Units.CM: Decimal(60)}


# The keys that a sentence is about, the outermost first.
Misfit = tuple[tuple[str, ...], str]


def find_misfits(values: Mapping[str, Any], known: Known) -> Iterator[Misfit]:
    """List the inconsistencies between those values that are valid by themselves."""
    if "sku" not in values:
        return
    if values.keys() >= {"image", "full", "wrap"}:
        sizes = (values["image"], values["full"], values["wrap"])
        for key, sentence in _find_wrong_sizes(values["sku"], *sizes):
            yield (key,), sentence
    for keys, sentence in _find_contradictions(values, known):
        yield keys, f"`{values['sku']}` {sentence}"


def _find_contradictions(values: Mapping[str, Any], known: Known) -> Iterator[Misfit]:
    if values.keys() >= {"attributes", "defaults"}:
        yield from _find_wrong_defaults(values["attributes"], values["defaults"])
    if "price" in values:
        for currency in sorted({currency for currency, _ in values["price"]}):
            if currency not in known.get("currencies", Currency):
                sentence = f"has a price in {currency}, which is not in `currencies`."
                yield ("price", currency), sentence
    if values.keys() >= {"price", "sold_to"}:
        yield from _find_wrong_prices(values["price"], values["sold_to"], known)


def _find_wrong_sizes(
    sku: str, image: Size | None, full: Size | None, wrap: Decimal | None
) -> Iterator[tuple[str, str]]:
    if wrap is not None and full is None:
        yield "full", f"`{sku}` has a `wrap`, so it needs `full`, the size without it."
        return
    inner, outer = _measure(image, full, wrap)
    if wrap is not None and image not in (None, inner):
        yield "image", f"The image of `{sku}` must be {inner} with this `wrap`, not {image}."
    if wrap is None and (inner.width > outer.width or inner.height > outer.height):
        yield (
            "image",
            f"The image of `{sku}` ({inner}) is larger than the whole product ({outer}); "
            "if it folds over the edges, say how far with `wrap`.",
        )


def _find_wrong_defaults(
    attributes: Mapping[str, Sequence[str]], defaults: Mapping[str, str]
) -> Iterator[Misfit]:
    for name, value in defaults.items():
        keys = ("defaults", name)
        if name not in attributes:
            yield keys, f"has a default of `{name}`, which is not in `attributes`."
        elif value not in attributes[name]:
            yield keys, f"has the default `{value}` of `{name}`, which is not one of its values."


def _find_wrong_prices(
    prices: Mapping[tuple[Currency, str | None], int], sold_to: frozenset[str], known: Known
) -> Iterator[Misfit]:
    for currency, country in prices:
        if "groups" in known and country and country not in sold_to:
            name = f"{currency}-{country}"
            yield ("price", name), f"has a price in {country}, where it is not sold."
    for currency in known.get("currencies", ()):
        if (currency, None) not in prices:
            # Leaves out groups that could not be read.
            countries = sold_to & COUNTRIES.keys()
            without = sorted(at for at in countries if (currency, at) not in prices)
            if without:
                sentence = f"is sold to {list_some(without)} without a price in {currency}."
                yield ("price", currency), sentence


def _measure(image: Size | None, full: Size | None, wrap: Decimal | None) -> tuple[Size, Size]:
    if wrap is not None and full is not None:
        return Size.of(full.width + 2 * wrap, full.height + 2 * wrap), full
    # Without a wrap, one of them may be absent.
    given = [size for size in (image, full) if size is not None]
    return given[0], given[-1]


def _recommend(image: Size, density: Decimal) -> Pixels:
    sides = (image.width * density, image.height * density)
    width, height = (int(side.to_integral_value(ROUND_HALF_UP)) for side in sides)
    return Pixels(max(width, 1), max(height, 1))


def build_product(form: ProductForm) -> Product:
    """Build a product from values without misfits."""
    image, full = _measure(form.image, form.full, form.wrap)
    density = form.density or USUAL_DENSITY[form.units]
    prices = form.price.items()
    base_prices = {currency: price for (currency, country), price in prices if country is None}
    exceptions = {(currency, at): price for (currency, at), price in prices if at is not None}
    return Product(
        sku=form.sku,
        type_name=form.type,
        quality_levels=form.quality,
        description=form.description,
        kind=form.kind,
        image_size=image,
        full_size=full,
        units=form.units,
        recommended_pixels=form.pixels or _recommend(image, density),
        shipping_band=form.band,
        attributes=tuple(
            Attribute(name, valid, form.defaults.get(name))
            for name, valid in form.attributes.items()
        ),
        sold_to=form.sold_to,
        base_prices=MappingProxyType(base_prices),
        prices_by_country=MappingProxyType(exceptions),
        picture=form.picture,
        mockup=form.mockup or usual_mockup(form.kind),
        mockup_colour=form.mockup_colour,
        may_turn=form.turn,
        tax_class=form.tax_class,
    )
