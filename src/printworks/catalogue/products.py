"""What a product is: how large, with which choices, sold to where and for how much."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Self

import msgspec

from printworks.errors import BadInput
from printworks.rules.sizing import Pixels, PrintArea, Units


class QualityLevel(StrEnum):
    """The two ranges in which a type of product may be offered."""

    PRO = "Pro"
    STANDARD = "Standard"


class Currency(StrEnum):
    """The currencies that prices may be given in."""

    GBP = "GBP"
    USD = "USD"
    EUR = "EUR"
    AUD = "AUD"


class Size(msgspec.Struct, frozen=True):
    """A width and a height, exact, in the units of the product."""

    width: Decimal
    height: Decimal

    @classmethod
    def of(cls, width: Decimal, height: Decimal) -> Self:
        """Make a size without needless zeros: 22.75, not 22.750."""
        return cls(_trim(width), _trim(height))

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


def _trim(length: Decimal) -> Decimal:
    # `normalize` alone would write 20 as 2E+1.
    whole = length.to_integral_value()
    return whole if whole == length else length.normalize()


class Attribute(msgspec.Struct, frozen=True):
    """A choice that the merchant has, and what there is to choose from."""

    name: str
    valid_values: tuple[str, ...]


class Product(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be ordered."""

    sku: str
    # Unique within a quality level and a country, not beyond.
    type_name: str
    quality_levels: tuple[QualityLevel, ...]
    description: str
    kind: str
    # The picture is larger than the product where it is folded over the edges.
    image_size: Size
    full_size: Size
    units: Units
    recommended_pixels: Pixels
    shipping_band: str
    attributes: tuple[Attribute, ...]
    sold_to: frozenset[str]
    base_prices: Mapping[Currency, int]
    prices_by_country: Mapping[tuple[Currency, str], int]

    @property
    def type_names(self) -> tuple[str, ...]:
        """Every name by which the older versions may ask for it, the usual one first."""
        return tuple(dict.fromkeys((self.type_name, usual_type_name(self.sku))))

    @property
    def print_area(self) -> PrintArea:
        """What the picture is laid on."""
        return PrintArea.of(self.image_size.width, self.image_size.height, self.units)

    def is_sold_to(self, country: str) -> bool:
        """Say whether it may be sent to this destination country."""
        return country.upper() in self.sold_to

    def find_price(self, currency: Currency, *, country: str) -> int | None:
        """Return the price in minor units, or None if it is not sold there or not for that."""
        if not self.is_sold_to(country):
            return None
        exception = self.prices_by_country.get((currency, country.upper()))
        return self.base_prices.get(currency) if exception is None else exception


def usual_type_name(sku: str) -> str:
    """Return the type name of a product that has no other."""
    return sku.replace("-", "_")


def choose_attributes(product: Product, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the choices as the product spells them, or refuse one that it does not offer."""
    offered = {attribute.name.casefold(): attribute for attribute in product.attributes}
    chosen = {}
    for name, value in wanted.items():
        attribute = offered.get(name.casefold())
        if attribute is None:
            raise BadInput(f"Invalid attribute name {name}")
        valid = {text.casefold(): text for text in attribute.valid_values}
        if value.casefold() not in valid:
            raise BadInput(
                f"Value of '{value}' supplied for attribute '{attribute.name}' isn't in the list "
                f"of supported values. Valid values are: [{','.join(attribute.valid_values)}]"
            )
        chosen[attribute.name] = valid[value.casefold()]
    return chosen


def offers_attributes(product: Product, chosen: Mapping[str, str]) -> bool:
    """Say whether a product still offers what was chosen."""
    try:
        choose_attributes(product, chosen)
    except BadInput:
        return False
    return True
