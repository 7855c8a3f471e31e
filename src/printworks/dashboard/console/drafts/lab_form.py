"""The form of a lab: what it is, when it works, what it makes and how orders reach it."""

from typing import Final

from printworks.catalogue.labs import Connector, LastChance
from printworks.dashboard.console.drafts.fields import (
    DAY_CHOICES,
    ChoiceField,
    CountryField,
    DatesField,
    DaysField,
    Field,
    FieldGroup,
    FlagField,
    LinesField,
    MoneyField,
    NumberField,
    TimeField,
)
from printworks.dashboard.console.drafts.inputs import Choices
from printworks.dashboard.console.drafts.row_fields import RowsField

_LAST_CHANCES: Final[Choices] = (
    (LastChance.NEVER, "Never"),
    (LastChance.SUBMITTED, "Until the lab accepts it"),
    (LastChance.ACCEPTED, "Until it is in production"),
)

_MAKING_FIELDS: Final = (
    LinesField(key="kinds", label="Kinds", hint="With commas between them."),
    LinesField(key="bands", label="Only in these shipping bands"),
    LinesField(key="skus", label="Only these products", hint="A * stands for anything: BOOK-*."),
    LinesField(key="except", label="But not these products"),
    NumberField(key="percent", label="Cost in per cent of the price", inputmode="decimal"),
    MoneyField(key="each", label="Cost of each", inputmode="decimal"),
    NumberField(key="days", label="Days, if not as usual", inputmode="numeric"),
)

LAB_GROUPS: Final = (
    FieldGroup(
        title="The lab",
        fields=(
            Field(key="name", label="Name"),
            Field(key="code", label="Short name", hint="Small letters, digits and hyphens."),
            CountryField(key="country", label="Country"),
            Field(key="time_zone", label="Time zone", hint="Such as Europe/London."),
            ChoiceField(key="currency", label="Currency of its costs", declared="currencies"),
        ),
    ),
    FieldGroup(
        title="When it works",
        fields=(
            DaysField(
                key="working_days",
                label="Working days",
                choices=DAY_CHOICES,
                default=["mon-fri"],
            ),
            TimeField(
                key="cut_off",
                label="Begins the same day what comes before",
                hint="There, such as 14:00.",
            ),
            NumberField(
                key="production_days", label="Working days for production", inputmode="numeric"
            ),
            NumberField(key="capacity", label="Items it can make a day", inputmode="numeric"),
            DatesField(
                key="holidays",
                label="Holidays",
                hint="Names of calendars, or dates such as 2027-12-25, one on each line.",
            ),
            FlagField(key="paused", label="It takes no new work at present", default=False),
        ),
    ),
    FieldGroup(
        title="What it makes, at what cost",
        note="The first line that fits a product counts. A cost is per cent of the price, an amount, or both.",
        fields=(RowsField(key="makes", label="Lines", row="Line", fields=_MAKING_FIELDS),),
    ),
    FieldGroup(
        title="More",
        is_folded=True,
        fields=(
            ChoiceField(
                key="can_cancel_until",
                label="An order can be cancelled",
                choices=_LAST_CHANCES,
                default=LastChance.SUBMITTED,
            ),
            ChoiceField(
                key="can_hold_until",
                label="An order can be held",
                choices=_LAST_CHANCES,
                default=LastChance.NEVER,
            ),
            ChoiceField(
                key="can_change_shipping_until",
                label="An address can be changed",
                choices=_LAST_CHANCES,
                default=LastChance.SUBMITTED,
            ),
            FlagField(key="packing_slips", label="It adds packing slips", default=False),
            ChoiceField(
                key="connector",
                label="How orders reach it",
                choices=(
                    (Connector.SIMULATED, "Not at all: simulated"),
                    (Connector.FOLDER, "As files in a folder"),
                ),
                nothing="As in the settings",
            ),
        ),
    ),
)
