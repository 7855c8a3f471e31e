"""Products that differ in size only, as one line of a catalogue: a family with its sizes inside."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Final

import msgspec

from printworks.catalogue.products import Currency, Product, QualityLevel, Size
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.search import simplify
from printworks.rules.sizing import IN_INCHES, Units

# Sizes in the description of a product: 8x10 inch, 20x30 cm, A3, 14 cm, all before or within the name.
_SIZES: Final = re.compile(
    r"\b\d+(?:\.\d+)?x\d+(?:\.\d+)?(?: (?:inch|cm)\b)?|\bA\d\b|^\d+(?:\.\d+)? (?:inch|cm)\b"
)
_SPACES: Final = re.compile(r"\s+")
# A word that means nothing without the size that followed it.
_DANGLING: Final = re.compile(r" (?:of|in)$")
# In which units people think, by the currency of the merchant.
_UNITS: Final[Mapping[Currency, Units]] = {
    Currency.GBP: Units.INCHES,
    Currency.USD: Units.INCHES,
    Currency.EUR: Units.CM,
    Currency.AUD: Units.CM,
}
_SIGNS: Final[Mapping[Units, str]] = {Units.INCHES: "in", Units.CM: "cm"}


class SizeClass(StrEnum):
    """How large a product is: its longer side."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


# Up to these, in inches.
_SMALL: Final = 8
_MEDIUM: Final = 16
_WORDS: Final[Mapping[Units, Mapping[SizeClass, str]]] = {
    Units.INCHES: {
        SizeClass.SMALL: "Up to 8 in",
        SizeClass.MEDIUM: "8 to 16 in",
        SizeClass.LARGE: "Over 16 in",
    },
    Units.CM: {
        SizeClass.SMALL: "Up to 20 cm",
        SizeClass.MEDIUM: "20 to 40 cm",
        SizeClass.LARGE: "Over 40 cm",
    },
}


class Family(msgspec.Struct, frozen=True):
    """Products that differ in size only, the smallest first."""

    name: str
    kind: str
    products: tuple[Product, ...]

    def list_sold_to(self, country: str) -> list[Product]:
        """List those that may be sent to a country."""
        return [product for product in self.products if product.is_sold_to(country)]


class FamilyFilter(msgspec.Struct, frozen=True):
    """What somebody looks for; empty is everything."""

    text: str = ""
    kind: str = ""
    size: str = ""


def list_families(catalogue: Catalogue) -> Sequence[Family]:
    """List everything that is sold, by kind and then as the catalogue has it."""
    return catalogue.remember("families", lambda: _group(catalogue))


def find_family(catalogue: Catalogue, product: Product) -> Family:
    """Return the family of a product."""
    by_sku: Mapping[str, Family] = catalogue.remember(
        "families by sku",
        lambda: {one.sku: family for family in list_families(catalogue) for one in family.products},
    )
    return by_sku[product.sku]


def search_families(
    catalogue: Catalogue, country: str, wanted: FamilyFilter
) -> list[tuple[Family, list[Product]]]:
    """Return the families with what fits of each, of all that is sold to a country."""
    words = simplify(wanted.text).split()
    written = catalogue.remember("written for search", lambda: _write(catalogue))
    found = []
    for family in list_families(catalogue):
        if wanted.kind and family.kind != wanted.kind:
            continue
        fitting = [
            product
            for product in family.list_sold_to(country)
            if (not wanted.size or classify(product) == wanted.size)
            and all(word in written[product.sku] for word in words)
        ]
        if fitting:
            found.append((family, fitting))
    return found


def find_units(currency: Currency) -> Units:
    """Return the units in which the merchant of a currency thinks."""
    return _UNITS[currency]


def list_size_classes(units: Units) -> list[tuple[str, str]]:
    """List the classes of sizes to choose from, with what they mean."""
    return [(str(size), words) for size, words in _WORDS[units].items()]


def classify(product: Product) -> SizeClass:
    """Return how large a product is."""
    longest = max(product.full_size.width, product.full_size.height)
    inches = Fraction(longest) * IN_INCHES[product.units]
    if inches <= _SMALL:
        return SizeClass.SMALL
    return SizeClass.MEDIUM if inches <= _MEDIUM else SizeClass.LARGE


def write_size_in(product: Product, units: Units) -> str:
    """Return the size of a product in the units that are wanted."""
    size = product.full_size
    wide, high = (_convert(side, product.units, units) for side in (size.width, size.height))
    return f"{wide} \N{MULTIPLICATION SIGN} {high} {_SIGNS[units]}"


def write_sizes(product: Product, units: Units) -> str:
    """Return the size in the units that are wanted, and in its own if these are others."""
    wanted = write_size_in(product, units)
    if product.units is units:
        return wanted
    return f"{wanted} ({write_size_in(product, product.units)})"


def name_kind(kind: str) -> str:
    """Return `fine-art` as `Fine art`."""
    return kind.replace("-", " ").capitalize()


def _convert(length: object, own: Units, wanted: Units) -> str:
    inches = Fraction(str(length)) * IN_INCHES[own]
    return f"{round(float(inches / IN_INCHES[wanted]), 1):g}"


def _group(catalogue: Catalogue) -> tuple[Family, ...]:
    found: dict[tuple[str, str, tuple[str, ...]], list[Product]] = {}
    best = {_name(product) for product in catalogue.products if not _is_simple(product)}
    for product in catalogue.products:
        # What has other choices is another thing, whatever it is called.
        choices = tuple(attribute.name for attribute in product.attributes)
        name = _name(product)
        if _is_simple(product) and name in best:
            name = f"{name}, standard quality"
        found.setdefault((product.kind, name, choices), []).append(product)
    places = {kind: place for place, kind in enumerate(catalogue.kinds)}
    ordered = sorted(found.items(), key=lambda one: places[one[0][0]])
    return tuple(
        Family(name, kind, tuple(sorted(products, key=lambda one: _area(one.full_size, one.units))))
        for (kind, name, _), products in ordered
    )


def _is_simple(product: Product) -> bool:
    """Say whether a product is of the standard range only, of which there may be a better one."""
    return product.quality_levels == (QualityLevel.STANDARD,)


def _name(product: Product) -> str:
    """Return what a product is called without its size."""
    name = _SPACES.sub(" ", _SIZES.sub("", product.description)).strip(" ,")
    name = _DANGLING.sub("", name)
    return f"{name[:1].upper()}{name[1:]}" if name else name_kind(product.kind)


def _area(size: Size, units: Units) -> Fraction:
    return Fraction(size.width) * Fraction(size.height) * IN_INCHES[units] ** 2


def _write(catalogue: Catalogue) -> dict[str, str]:
    """Return what is searched of each product, by sku."""
    return {
        product.sku: simplify(f"{product.sku} {product.kind} {product.description}")
        for product in catalogue.products
    }
