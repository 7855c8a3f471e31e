"""What a product is: how large, with which choices, sold to where and for how much."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Final, Self

import msgspec

from printworks.catalogue.problems import list_some
from printworks.errors import BadInput
from printworks.rules.mockups import Inches, Mockup, MockupPlan, Sizes, plan_mockup
from printworks.rules.sizing import Pixels, PrintArea, Units
from printworks.rules.tax_table import TaxClass

# Kinds that are worn, drunk from or hung up.
_WITH_UPPER_EDGE: Final = frozenset(
    {"bag", "case", "clothing", "cup", "hoodie", "keyring", "mug", "photobook", "shirt"}
)
# What clients call a value that is spelled otherwise.
OTHER_SPELLINGS: Final = {"gloss": "glossy"}


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
    # Without one, the merchant has to choose.
    default: str | None = None

    def find_value(self, wanted: str) -> str | None:
        """Return the value that is meant, as it is spelled here."""
        valid = {text.casefold(): text for text in self.valid_values}
        name = wanted.strip().casefold()
        return valid.get(name) or valid.get(OTHER_SPELLINGS.get(name, ""))


class Product(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be ordered."""

    sku: str
    # Unique within a quality level and a country, not beyond. None if the older versions do not
    # list it.
    type_name: str | None
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
    # The name of its photograph, if it has one.
    picture: str | None = None
    # How it is drawn, and in which colour if no choice says it.
    mockup: Mockup = Mockup.NONE
    mockup_colour: str | None = None
    # Whether a picture may be printed lying on its side: not on what has an upper edge.
    may_turn: bool = True
    # What it is for the tax.
    tax_class: TaxClass = TaxClass.STANDARD

    @property
    def type_names(self) -> tuple[str, ...]:
        """Every name by which the older versions may ask for it, the usual one first."""
        return tuple(dict.fromkeys((self.type_name or self.sku, self.sku.replace("-", "_"))))

    @property
    def print_area(self) -> PrintArea:
        """What the picture is laid on."""
        area = PrintArea.of(self.image_size.width, self.image_size.height, self.units)
        return area if self.may_turn else area._replace(may_turn=False)

    def plan_mockup(self, chosen: Mapping[str, str], *, is_turned: bool) -> MockupPlan | None:
        """Plan the drawing of this product as it was chosen; None if it has no mockup."""
        whole = PrintArea.of(self.full_size.width, self.full_size.height, self.units)
        sizes = Sizes(_measure(self.print_area), _measure(whole))
        return plan_mockup(
            self.mockup, sizes, chosen, colour=self.mockup_colour, is_turned=is_turned
        )

    def is_sold_to(self, country: str) -> bool:
        """Say whether it may be sent to this destination country."""
        return country.upper() in self.sold_to

    def find_price(self, currency: Currency, *, country: str) -> int | None:
        """Return the price in minor units, or None if it is not sold there or not for that."""
        if not self.is_sold_to(country):
            return None
        exception = self.prices_by_country.get((currency, country.upper()))
        return self.base_prices.get(currency) if exception is None else exception


def _measure(area: PrintArea) -> Inches:
    return float(area.width), float(area.height)


def find_turned_pictures(products: Iterable[Product]) -> Iterator[str]:
    """Say on which kinds pictures may be turned although such things usually have an upper edge."""
    turned: dict[str, list[str]] = {}
    for product in products:
        if product.may_turn and product.kind in _WITH_UPPER_EDGE:
            turned.setdefault(product.kind, []).append(product.sku)
    for kind, skus in turned.items():
        yield (
            f"Pictures may be turned on {list_some(skus)} of the kind {kind}, "
            "where they would lie on their side: `turn = false` keeps them upright."
        )


def choose_attributes(product: Product, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the choices as the product spells them, with its defaults for what is left open.

    Refuse what it does not offer, and name everything that has to be chosen and was not.
    """
    offered = {attribute.name.casefold(): attribute for attribute in product.attributes}
    chosen = {each.name: each.default for each in product.attributes}
    for name, value in wanted.items():
        attribute = offered.get(name.strip().casefold())
        if attribute is None:
            raise BadInput(f"Invalid attribute name {name}")
        chosen[attribute.name] = attribute.find_value(value)
        if chosen[attribute.name] is None:
            raise BadInput(
                f"Value of '{value}' supplied for attribute '{attribute.name}' isn't in the list "
                f"of supported values. Valid values are: [{','.join(attribute.valid_values)}]"
            )
    missing = [each for each in product.attributes if chosen[each.name] is None]
    if missing:
        raise BadInput(" ".join(map(_ask_for, missing)))
    return {name: value for name, value in chosen.items() if value is not None}


def _ask_for(attribute: Attribute) -> str:
    return (
        f"`attributes.{attribute.name}` is required. "
        f"Valid values are: [{','.join(attribute.valid_values)}]."
    )


def explain_misfit(product: Product, chosen: Mapping[str, str]) -> str | None:
    """Say in a sentence why a product can no longer be made as it was chosen; None if it can."""
    try:
        choose_attributes(product, chosen)
    except BadInput as refusal:
        return f"{refusal.message.rstrip('.')}."
    return None
