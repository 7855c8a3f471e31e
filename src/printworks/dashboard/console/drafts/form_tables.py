"""The forms: which fields each part of a catalogue has, in groups, with words for people.

That of a lab has its own file, `lab_form.py`.
"""

from typing import Final

from printworks.catalogue.products import Currency, QualityLevel
from printworks.catalogue.services import Carrier
from printworks.dashboard.console.drafts.fields import (
    BoxesField,
    ChoiceField,
    CountriesField,
    CountryField,
    DateField,
    DatesField,
    Field,
    FieldGroup,
    FlagField,
    LinesField,
    NumberField,
    PictureField,
    SizeField,
)
from printworks.dashboard.console.drafts.inputs import Choices, write_words
from printworks.dashboard.console.drafts.row_fields import (
    AttributesField,
    BandsField,
    PricesField,
    RowsField,
    SpanField,
)
from printworks.rules.mockups import COLOURS, Mockup
from printworks.rules.orders import ShippingMethod
from printworks.rules.sizing import Units
from printworks.rules.tax_table import TaxClass

_METHODS: Final[Choices] = tuple((method, method) for method in ShippingMethod)
_TAX_CLASSES: Final[Choices] = (
    (TaxClass.STANDARD, "At the standard rate"),
    (TaxClass.REDUCED, "At a reduced rate"),
    (TaxClass.BOOKS, "As books"),
)
_COUNTRIES_HINT: Final = "Countries or groups of them, one on each line; or Everywhere."

_PRODUCT: Final = (
    FieldGroup(
        title="What it is",
        fields=(
            Field(key="description", label="Name", hint="As merchants read it."),
            Field(key="sku", label="SKU", hint="Letters, digits, hyphens and dots."),
            ChoiceField(key="kind", label="Kind", declared="kinds"),
        ),
    ),
    FieldGroup(
        title="Picture",
        note="A photograph of the finished product. Without one, it is drawn by its size and colours.",
        fields=(
            PictureField(
                key="picture",
                label="Photograph",
                hint="A JPEG, PNG, WebP or HEIC file of at most 20 MB. It is shown at up to 800 pixels.",
            ),
        ),
    ),
    FieldGroup(
        title="Size",
        fields=(
            ChoiceField(
                key="units",
                label="Measured in",
                choices=((Units.INCHES, "Inches"), (Units.CM, "Centimetres")),
                default=Units.INCHES,
            ),
            SizeField(key="image", label="Printed size", hint="Width x height, such as 20 x 30."),
            SizeField(
                key="full",
                label="Size of the whole product",
                hint="If it is another one: with its frame, or without what is folded over.",
            ),
            NumberField(
                key="wrap",
                label="Folded over each edge",
                hint="For canvas on a stretcher.",
                inputmode="decimal",
            ),
        ),
    ),
    FieldGroup(
        title="Price",
        note="What merchants pay for one, before shipping.",
        fields=(PricesField(key="price", label="Price"),),
    ),
    FieldGroup(
        title="Selling and sending",
        fields=(
            CountriesField(key="sold_to", label="Sold to", hint=_COUNTRIES_HINT),
            ChoiceField(
                key="tax_class",
                label="Tax",
                choices=_TAX_CLASSES,
                default=TaxClass.STANDARD,
            ),
            ChoiceField(
                key="band",
                label="Shipping band",
                declared="bands",
                hint="What it shares a parcel with.",
            ),
        ),
    ),
    FieldGroup(
        title="Choices",
        note="What the merchant chooses with each order, such as a colour or a finish.",
        fields=(AttributesField(key="attributes", label="Choices"),),
    ),
)
_PRODUCT_MORE: Final = (
    ChoiceField(
        key="mockup",
        label="Drawn as",
        choices=tuple(
            (one, "Not at all" if one is Mockup.NONE else write_words(one)) for one in Mockup
        ),
        nothing="As usual for its kind",
    ),
    ChoiceField(
        key="mockup_colour",
        label="Drawn in",
        choices=tuple((one, write_words(one)) for one in COLOURS),
        nothing="As usual",
    ),
    FlagField(
        key="turn",
        label="A picture may be printed lying on its side",
        default=True,
        hint="Not on what has an upper edge, such as a mug.",
    ),
    Field(key="pixels", label="Best size of a picture", hint="In pixels, such as 2400x3600."),
    NumberField(
        key="density",
        label="Best pixels on each inch or centimetre",
        hint="Instead of the best size.",
        inputmode="decimal",
    ),
    BoxesField(
        key="quality",
        label="Quality levels in which it is offered",
        choices=tuple((level, level) for level in QualityLevel),
        default=[*QualityLevel],
    ),
    Field(
        key="type",
        label="Name of its type in the older API",
        hint="The SKU if it is empty.",
    ),
)
PRODUCT_GROUPS: Final = (
    *_PRODUCT,
    FieldGroup(
        title="More",
        fields=_PRODUCT_MORE,
        is_folded=True,
    ),
)

SERVICE_GROUPS: Final = (
    FieldGroup(
        title="The service",
        fields=(
            Field(key="name", label="Name"),
            Field(key="code", label="Short name", hint="Small letters, digits and hyphens."),
            ChoiceField(
                key="carrier",
                label="Carrier",
                choices=tuple((one, write_words(one)) for one in Carrier),
            ),
            BoxesField(key="labs", label="From these labs", declared="labs"),
            BoxesField(key="methods", label="Used for", choices=_METHODS),
            FlagField(key="tracked", label="Parcels are tracked"),
        ),
    ),
    FieldGroup(
        title="Where and how fast",
        fields=(
            CountriesField(key="to", label="To", hint=_COUNTRIES_HINT),
            CountriesField(key="except", label="But not to"),
            SpanField(key="transit_days", label="Working days on the way"),
        ),
    ),
    FieldGroup(
        title="What a parcel costs you",
        note="Leave a band empty that it does not take.",
        fields=(BandsField(key="bands", label="Costs"),),
    ),
)

TARIFF_GROUPS: Final = (
    FieldGroup(
        title="The tariff",
        fields=(
            Field(key="name", label="Name", hint="As merchants read it."),
            CountriesField(key="to", label="To", hint=_COUNTRIES_HINT),
            BoxesField(key="methods", label="For", choices=_METHODS),
            FlagField(key="tracked", label="With tracking"),
        ),
    ),
    FieldGroup(
        title="What merchants pay",
        note="The first parcel of so many items, and each further one. Leave a band empty that is not sent so.",
        fields=(BandsField(key="bands", label="Prices"),),
    ),
)

PROMISE_GROUPS: Final = (
    FieldGroup(
        title="The promise",
        note="Working days until a parcel arrives, at the latest. The closest counts: a country, a group, then Everywhere.",
        fields=(
            CountriesField(key="to", label="To", hint=_COUNTRIES_HINT),
            *(
                NumberField(key=method, label=method, inputmode="numeric", is_half=True)
                for method in ShippingMethod
            ),
        ),
    ),
)

GROUP_GROUPS: Final = (
    FieldGroup(
        title="The group",
        fields=(
            Field(key="name", label="Name", hint="Such as EU."),
            CountriesField(key="countries", label="Countries", hint="One on each line."),
        ),
    ),
)

HOLIDAY_GROUPS: Final = (
    FieldGroup(
        title="The calendar",
        fields=(
            Field(key="name", label="Name", hint="Such as the country."),
            DatesField(
                key="dates", label="Holidays", hint="Dates such as 2027-12-25, one on each line."
            ),
        ),
    ),
)

TAX_GROUPS: Final = (
    FieldGroup(
        title="The country",
        note="A rate counts from its first day until a later one of the same class does.",
        fields=(
            CountryField(key="country", label="Country"),
            RowsField(
                key="rates",
                label="Rates",
                row="Rate",
                fields=(
                    NumberField(key="rate", label="Rate in per cent", inputmode="decimal"),
                    DateField(key="from", label="From", hint="Such as 2027-01-01."),
                    ChoiceField(
                        key="class",
                        label="For",
                        choices=_TAX_CLASSES[1:],
                        nothing="At the standard rate",
                    ),
                ),
            ),
        ),
    ),
)

BASICS_GROUPS: Final = (
    FieldGroup(
        title="Currencies",
        note="Every product has a price in each. The worth of one unit only compares costs of labs: nothing is charged at it.",
        fields=(
            BoxesField(
                key="currencies",
                label="Sold in",
                choices=tuple((one, one) for one in Currency),
                default=[*Currency],
            ),
            *(
                NumberField(
                    key=f"rates.{one}", label=f"Worth of 1 {one}", inputmode="decimal", is_half=True
                )
                for one in Currency
            ),
        ),
    ),
    FieldGroup(
        title="Names",
        fields=(
            LinesField(key="kinds", label="Kinds of products", hint="One on each line."),
            LinesField(
                key="bands",
                label="Shipping bands",
                hint="What goes into one parcel at one price, one on each line.",
            ),
        ),
    ),
)
