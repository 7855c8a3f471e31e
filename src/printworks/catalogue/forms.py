"""What the files may contain: a form for each kind of block, with a field for each key."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta

from printworks.catalogue import values
from printworks.catalogue.form_reading import BlockForm, Known, ParsedFrom
from printworks.catalogue.labs import LabTerms
from printworks.catalogue.problems import Mistake, suggest
from printworks.catalogue.products import Currency, Product, QualityLevel
from printworks.catalogue.services import Carrier, StepPrice
from printworks.rules.mockups import Mockup
from printworks.rules.orders import ShippingMethod
from printworks.rules.sizing import Units
from printworks.rules.tax_table import TaxClass

# Defaults, never modified.
NO_LINES: Final[dict[Any, Any]] = {}
NO_BLOCKS: Final[list[Any]] = []
_COLUMNS: Final = Meta(min_length=1, description="a list of names")
_ROWS: Final = Meta(min_length=1, description="a list of rows, each a list of cells")
_MAKES: Final = Meta(
    min_length=1, description='a list of lines such as { kinds = ["print"], percent = 40 }'
)
_BLOCKS: Final = Meta(description="written as `[[{key}]]`, with two brackets")


class ProductForm(BlockForm, frozen=True, kw_only=True):
    NOUN: ClassVar[str] = "a product"

    sku: values.Sku
    type: values.TypeName | None = None
    description: values.Text
    kind: values.Kind
    band: values.Band
    quality: values.Listed[QualityLevel] = tuple(QualityLevel)
    units: Units = Units.INCHES
    image: values.PrintSize | None = None
    full: values.PrintSize | None = None
    wrap: values.Amount | None = None
    pixels: values.PixelSize | None = None
    density: values.Amount | None = None
    picture: values.PictureName | None = None
    mockup: Mockup | None = None
    mockup_colour: values.MockupColour | None = None
    attributes: Annotated[
        dict[values.Text, values.Texts],
        Meta(description="a table of names, each with its list of values"),
    ] = NO_LINES
    defaults: Annotated[
        dict[values.Text, values.Text],
        Meta(description="a table of names of `attributes`, each with one of its values"),
    ] = NO_LINES
    turn: values.Flag = True
    tax_class: TaxClass = TaxClass.STANDARD
    sold_to: values.Countries
    price: Annotated[
        dict[values.PriceName, values.Price],
        Meta(description="a table such as { GBP = 25, EUR = 30 }"),
    ] = NO_LINES


class FamilyForm(ProductForm, frozen=True, kw_only=True):
    """A product, or what several products in rows share."""

    columns: Annotated[tuple[Annotated[str, _COLUMNS], ...], _COLUMNS]
    rows: Annotated[list[Annotated[list[Any], _ROWS]], _ROWS]


class MakingLine(BlockForm, frozen=True, kw_only=True, rename={"exceptions": "except"}):
    """A line of `makes`: which products a lab makes, at what cost and how fast."""

    NOUN: ClassVar[str] = "a line of `makes`"

    kinds: values.Kinds | None = None
    bands: values.Bands | None = None
    skus: values.SkuPatterns | None = None
    exceptions: values.SkuPatterns | None = None
    percent: values.Amount | None = None
    each: values.Money | None = None
    days: values.ProductionDays | None = None

    def __post_init__(self) -> None:
        if self.percent is None and self.each is None:
            raise Mistake("The line has no cost: give it `percent`, `each` or both.")

    def fits(self, product: Product) -> bool:
        """Say whether the line is about this product."""
        return (
            (self.kinds is None or product.kind in self.kinds)
            and (self.bands is None or product.shipping_band in self.bands)
            and (self.skus is None or self.skus.fullmatch(product.sku) is not None)
            and (self.exceptions is None or not self.exceptions.fullmatch(product.sku))
        )

    def find_cost(self, price: int) -> int:
        """Return the cost of a product: a percentage of its price, rounded half up, plus `each`."""
        above, below = (self.percent or Decimal(0)).as_integer_ratio()
        return (2 * price * above + 100 * below) // (200 * below) + (self.each or 0)


class LabForm(LabTerms, frozen=True, kw_only=True):
    """A lab, and what it makes."""

    production_days: values.ProductionDays
    makes: Annotated[list[MakingLine], _MAKES]


_STEPS: Final = Meta(
    min_length=2,
    max_length=2,
    description="the price of the first items and that of each further step, such as [199, 80], "
    "not {value}",
)
Steps = Annotated[list[values.Money], _STEPS]


class StepsForm(BlockForm, frozen=True, kw_only=True):
    """The price of shipping items of one band, by currency."""

    NOUN: ClassVar[str] = "a price"

    items: values.Count
    GBP: Steps | None = None
    USD: Steps | None = None
    EUR: Steps | None = None
    AUD: Steps | None = None


def _set_steps(form: StepsForm, known: Known) -> dict[Currency, StepPrice]:
    written = {currency: getattr(form, currency) for currency in Currency}
    prices = {name: StepPrice(form.items, *steps) for name, steps in written.items() if steps}
    wanted = known.get("currencies", tuple(prices))
    for currency in prices:
        if currency not in wanted:
            raise Mistake(f"`{currency}` is not in `currencies`{suggest(currency, wanted)}")
    missing = [currency for currency in wanted if currency not in prices]
    if missing:
        raise Mistake(f"`{{key}}` has no price in {', '.join(missing)}.")
    return prices


_PRICE_LINE: Final = Meta(description="a table such as { items = 50, GBP = [199, 80] }")
StepPrices = Annotated[
    dict[Currency, StepPrice], ParsedFrom(Annotated[StepsForm, _PRICE_LINE], _set_steps)
]
PricedBands = Annotated[
    dict[values.Band, StepPrices],
    Meta(
        min_length=1,
        description="a table of shipping bands, each with lines such as "
        "Prints = { items = 50, GBP = [199, 80] }",
    ),
]


class ServiceForm(BlockForm, frozen=True, kw_only=True, rename={"exceptions": "except"}):
    NOUN: ClassVar[str] = "a service"

    code: values.Code
    name: values.Text
    carrier: Carrier
    labs: values.LabCodes
    methods: values.Listed[ShippingMethod]
    to: values.Countries
    exceptions: values.Countries = frozenset()
    transit_days: values.TransitDays
    tracked: values.Flag
    bands: PricedBands

    def __post_init__(self) -> None:
        if self.to <= self.exceptions:
            raise Mistake("`except` leaves no country.", "except")


class TariffForm(BlockForm, frozen=True, kw_only=True):
    """What merchants pay for shipping to some countries, with tracking or without."""

    NOUN: ClassVar[str] = "a tariff"

    name: values.Text
    to: values.Zones
    methods: values.Listed[ShippingMethod]
    tracked: values.Flag
    bands: PricedBands


class PromiseForm(BlockForm, frozen=True, kw_only=True):
    """The days until arrival that are promised, by shipping method."""

    NOUN: ClassVar[str] = "a promise"

    to: values.Zones
    Budget: values.PromisedDays | None = None
    Standard: values.PromisedDays | None = None
    Express: values.PromisedDays | None = None
    Overnight: values.PromisedDays | None = None

    def __post_init__(self) -> None:
        if all(getattr(self, method) is None for method in ShippingMethod):
            raise Mistake(f"Nothing is promised: name one of {', '.join(ShippingMethod)}.")


_TAX_LINES: Final = Meta(
    min_length=1, description="a list of lines such as { rate = 19, from = 2021-01-01 }"
)


class TaxLine(BlockForm, frozen=True, kw_only=True, rename={"tax_class": "class", "since": "from"}):
    """A rate of tax, in percent, and its first day."""

    NOUN: ClassVar[str] = "a line of `rates`"

    tax_class: TaxClass = TaxClass.STANDARD
    rate: values.TaxPercent
    since: values.Day


class TaxesForm(BlockForm, frozen=True, kw_only=True):
    """The rates of tax of a country."""

    NOUN: ClassVar[str] = "the taxes of a country"

    country: values.CountryCode
    rates: Annotated[list[TaxLine], _TAX_LINES]


class CatalogueForm(BlockForm, frozen=True, kw_only=True):
    """All files together. Values may refer to keys before theirs."""

    NOUN: ClassVar[str] = "a catalogue"

    currencies: values.Listed[Currency] = tuple(Currency)
    kinds: values.Texts = ()
    bands: values.Texts = ()
    groups: Annotated[
        dict[values.GroupName, values.Countries],
        Meta(description="a table of names, each with its list of countries"),
    ] = NO_LINES
    holidays: Annotated[
        dict[values.Text, values.Holidays],
        Meta(description="a table of names, each with its list of dates"),
    ] = NO_LINES
    rates: Annotated[
        dict[values.KnownCurrency, values.Amount],
        Meta(description="a table of names, each with what one unit is worth"),
    ] = NO_LINES
    # Read by `ProductFamily`.
    products: Annotated[list[Annotated[dict[str, Any], _BLOCKS]], _BLOCKS] = NO_BLOCKS
    labs: Annotated[list[LabForm], _BLOCKS] = NO_BLOCKS
    services: Annotated[list[ServiceForm], _BLOCKS] = NO_BLOCKS
    promises: Annotated[list[PromiseForm], _BLOCKS] = NO_BLOCKS
    tariff: Annotated[list[TariffForm], _BLOCKS] = NO_BLOCKS
    taxes: Annotated[list[TaxesForm], _BLOCKS] = NO_BLOCKS
