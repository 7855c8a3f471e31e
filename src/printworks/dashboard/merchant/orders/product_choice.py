"""Choosing a product by looking: a shelf of tiles, and all about the one that is chosen.

The product that somebody has chosen stays chosen until they choose another, wherever the order
goes: what depends on the country are prices and sentences, and nothing that can be filled in.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

import msgspec
from markupsafe import Markup

from printworks.catalogue.country_names import name_country
from printworks.catalogue.products import Product
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.merchant.orders.form_values import FormValues
from printworks.dashboard.shared.labels import SIZINGS, name_attribute
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.product_families import (
    Family,
    FamilyFilter,
    find_family,
    find_units,
    list_size_classes,
    name_kind,
    search_families,
    write_size_in,
    write_sizes,
)
from printworks.dashboard.shared.product_pictures import draw_product, draw_swatch
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.visits import LONGEST_SEARCH, MerchantVisit
from printworks.rules.sizing import Pixels, Units, mismatch

# Before the name of a choice of the product.
CHOICE: Final = "choice-"
# What is looked for on the shelf, and from which tile on it is shown.
LOOKED_FOR: Final = ("q", "kind", "size")
_FROM: Final = "from"
# The tile that was pressed.
_PICK: Final = "pick"
_TILES: Final = 24
# Most pictures of cameras have this shape, and so has our sample.
_USUAL_SHAPE: Final = Pixels(2, 3)


class ProductTile(msgspec.Struct, frozen=True, kw_only=True):
    """A family of products on the shelf."""

    # What is chosen by choosing the tile.
    sku: str
    name: str
    sizes: str
    price: str
    drawing: Markup
    is_chosen: bool


class SizeChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A size of the chosen family."""

    sku: str
    label: str
    # What it costs, or empty if it is not sold there.
    price: str
    is_chosen: bool


class ChoiceOption(msgspec.Struct, frozen=True):
    """A value that can be chosen."""

    value: str
    label: str
    swatch: Markup | None


class FieldChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the merchant can choose of a product."""

    field: str
    label: str
    options: Sequence[ChoiceOption]
    chosen: str
    # Without a default, it has to be chosen.
    is_required: bool


class ChosenProduct(msgspec.Struct, frozen=True, kw_only=True):
    """All about the product that is chosen."""

    sku: str
    name: str
    drawing: Markup
    about: str
    # Why it cannot be ordered for this country; empty if it can.
    problem: str
    sizes: Sequence[SizeChoice]
    choices: Sequence[FieldChoice]


class ShelfView(msgspec.Struct, frozen=True, kw_only=True):
    """What is on the shelf, and how it was looked for."""

    tiles: Sequence[ProductTile]
    found: int
    # Where the next tiles begin; None after the last.
    following: int | None
    wanted: FamilyFilter
    kinds: Sequence[tuple[str, str]]
    sizes: Sequence[tuple[str, str]]


class ProductChoiceView(msgspec.Struct, frozen=True, kw_only=True):
    """What the part of a form about the product shows."""

    shelf: ShelfView
    # None in a catalogue that has nothing for this country.
    product: ChosenProduct | None
    sizings: Sequence[tuple[str, str]] = tuple(
        (sizing, str(name)) for sizing, name in SIZINGS.items()
    )


def find_chosen(visit: MerchantVisit, values: FormValues, country: str) -> Product | None:
    """Return the product that is chosen, sold to the country or not; at first, a usual one."""
    catalogue = visit.services.catalogue
    wanted = visit.query.get(_PICK) or values["sku"]
    product = catalogue.find_product(wanted)
    return product or choose_first(catalogue, catalogue.list_sold_to(country))


def describe_choice(
    visit: MerchantVisit, values: FormValues, country: str, product: Product | None
) -> ProductChoiceView:
    """Return what can be printed for a country, and all about the product that is chosen."""
    return ProductChoiceView(
        shelf=_describe_shelf(visit, values, country, product),
        product=None if product is None else _describe_chosen(visit, values, country, product),
    )


def choose_first(catalogue: Catalogue, products: Sequence[Product]) -> Product | None:
    """Return the default product: one that crops nothing off a usual picture."""
    kinds = {kind: place for place, kind in enumerate(catalogue.kinds)}
    ordered = sorted(products, key=lambda product: kinds[product.kind])
    fitting = (product for product in ordered if mismatch(_USUAL_SHAPE, product.print_area) == 1)
    return next(fitting, ordered[0] if ordered else None)


def explain_not_sold(product: Product, country: str) -> str:
    """Say that a product does not go to a country."""
    return f"{product.description} ({product.sku}) is not sold to {name_country(country)}."


def name_value(value: str) -> str:
    """Return `MirrorWrap` as `Mirror wrap`, and sizes such as XL as they are."""
    return value if value.isupper() or value[:1].isdigit() else name_attribute(value)


def _describe_shelf(
    visit: MerchantVisit, values: FormValues, country: str, product: Product | None
) -> ShelfView:
    catalogue = visit.services.catalogue
    wanted = FamilyFilter(*(values[name][:LONGEST_SEARCH] for name in LOOKED_FOR))
    found = search_families(catalogue, country, wanted)
    if not (wanted.text or wanted.kind):
        found = _mix(found)
    begin = read_number(visit.query.get(_FROM, "")) or 0
    shown = found[begin : begin + _TILES]
    chosen = find_family(catalogue, product) if product is not None else None
    is_more = begin + _TILES < len(found)
    return ShelfView(
        tiles=[
            _describe_tile(visit, country, family, fitting, is_chosen=family is chosen)
            for family, fitting in shown
        ],
        found=len(found),
        following=begin + _TILES if is_more else None,
        wanted=wanted,
        kinds=[("", "All"), *((kind, name_kind(kind)) for kind in catalogue.kinds)],
        sizes=list_size_classes(find_units(visit.merchant.currency)),
    )


def _mix(
    found: Sequence[tuple[Family, list[Product]]],
) -> list[tuple[Family, list[Product]]]:
    """Return one of each kind first, so that whoever looks around sees what there is."""
    by_kind: dict[str, list[tuple[Family, list[Product]]]] = {}
    for one in found:
        by_kind.setdefault(one[0].kind, []).append(one)
    return [one for row in zip_longest(*by_kind.values()) for one in row if one is not None]


def _describe_tile(
    visit: MerchantVisit, country: str, family: Family, fitting: list[Product], *, is_chosen: bool
) -> ProductTile:
    currency, prices = visit.merchant.currency, visit.work.prices
    each = [prices.find(product, country) for product in fitting]
    known = [price for price in each if price is not None]
    first = choose_first(visit.services.catalogue, fitting) or fitting[0]
    units = find_units(currency)
    least = format_money(min(known), currency) if known else ""
    return ProductTile(
        sku=first.sku,
        name=family.name,
        sizes=(f"{len(fitting)} sizes" if len(fitting) > 1 else write_size_in(fitting[0], units)),
        price=f"from {least}" if least and len(set(known)) > 1 else least,
        drawing=draw_product(first),
        is_chosen=is_chosen,
    )


def _describe_chosen(
    visit: MerchantVisit, values: FormValues, country: str, product: Product
) -> ChosenProduct:
    family = find_family(visit.services.catalogue, product)
    choices = list_choices(product, values)
    drawn = {choice.field.removeprefix(CHOICE): choice.chosen for choice in choices}
    is_sold = product.is_sold_to(country)
    return ChosenProduct(
        sku=product.sku,
        name=family.name,
        drawing=draw_product(product, drawn),
        about=_describe(visit, product, country),
        problem="" if is_sold else explain_not_sold(product, country),
        sizes=_list_sizes(visit, family, country, product),
        choices=choices,
    )


def _list_sizes(
    visit: MerchantVisit, family: Family, country: str, chosen: Product
) -> list[SizeChoice]:
    currency, prices = visit.merchant.currency, visit.work.prices
    units = find_units(currency)
    labels = {one.sku: _write_size(one, units) for one in family.products}
    # Of two regions, each with a product of its own, a country may have both.
    seen = Counter(labels[one.sku] for one in family.list_sold_to(country))
    found = []
    for one in family.products:
        price, label = prices.find(one, country), labels[one.sku]
        found.append(
            SizeChoice(
                sku=one.sku,
                label=f"{label} ({one.sku})" if seen[label] > 1 else label,
                price="" if price is None else format_money(price, currency),
                is_chosen=one is chosen,
            )
        )
    return found


def _write_size(product: Product, units: Units) -> str:
    """Return the outer size, and that of the picture where a mount makes it smaller."""
    size, image, full = write_size_in(product, units), product.image_size, product.full_size
    if image.width >= full.width or image.height >= full.height:
        return size
    inner = msgspec.structs.replace(product, full_size=image)
    return f"{size}, picture {write_size_in(inner, units)}"


def list_choices(product: Product, values: Mapping[str, str] | FormValues) -> list[FieldChoice]:
    """Return what can be chosen of a product, and what is chosen."""
    found = []
    for attribute in product.attributes:
        field = f"{CHOICE}{attribute.name}"
        typed = values[field]
        found.append(
            FieldChoice(
                field=field,
                label=name_attribute(attribute.name),
                options=[
                    ChoiceOption(value, name_value(value), draw_swatch(value))
                    for value in attribute.valid_values
                ],
                chosen=typed if typed in attribute.valid_values else attribute.default or "",
                is_required=attribute.default is None,
            )
        )
    return found


def _describe(visit: MerchantVisit, product: Product, country: str) -> str:
    currency = visit.merchant.currency
    price = visit.work.prices.find(product, country)
    wide, high = product.recommended_pixels
    costs = "" if price is None else f"{format_money(price, currency)} each. "
    size = write_sizes(product, find_units(currency))
    return (
        f"{costs}{size}. Looks best with {wide:,} \N{MULTIPLICATION SIGN} {high:,} pixels or more."
    )
