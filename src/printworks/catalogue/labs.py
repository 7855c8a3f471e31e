"""What a lab is: what it makes and at what cost, when it works, what it still lets change."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final

import msgspec

from printworks.catalogue import values
from printworks.catalogue.form_reading import BlockForm
from printworks.catalogue.products import Product
from printworks.rules.routing.calendars import LabHours, Window

MONDAY_TO_FRIDAY: Final = frozenset(range(5))


class LastChance(StrEnum):
    """The last state of an order, as its lab sees it, in which something may still change.

    Each includes the ones before it; once in production nothing changes any more.
    """

    NEVER = "never"
    SUBMITTED = "submitted"
    ACCEPTED = "accepted"


class Connector(StrEnum):
    """How orders reach a lab."""

    SIMULATED = "simulated"
    FOLDER = "folder"


class LabTerms(BlockForm, frozen=True, kw_only=True):
    """What the files say about a lab, apart from what it makes."""

    NOUN: ClassVar[str] = "a lab"

    code: values.Code
    name: values.Text
    country: values.CountryCode
    time_zone: values.TimeZone
    currency: values.KnownCurrency
    # Monday is 0.
    working_days: values.WeekDays = MONDAY_TO_FRIDAY
    holidays: values.Holidays = frozenset()
    # What arrives later counts as the next working day's.
    cut_off: values.TimeOfDay
    # Items a day.
    capacity: values.Count
    paused: values.Flag = False
    can_cancel_until: LastChance = LastChance.SUBMITTED
    can_hold_until: LastChance = LastChance.NEVER
    can_change_shipping_until: LastChance = LastChance.SUBMITTED
    packing_slips: values.Flag = False
    # None leaves it to the environment.
    connector: Connector | None = None


class Making(msgspec.Struct, frozen=True):
    """What it takes a lab to make a copy of a product."""

    # In minor units of its currency.
    cost: int
    production_days: int


class Lab(LabTerms, frozen=True, kw_only=True, eq=False):
    """A place that prints and packs. Days and times are its own, in its time zone."""

    # By sku.
    makes: Mapping[str, Making]
    hours: LabHours

    def find_dispatch(self, skus: Iterable[str], *, ordered_at: datetime) -> Window:
        """Return when products that are sent together are dispatched."""
        made = [self.makes[sku].production_days for sku in skus if sku in self.makes]
        return self.hours.find_dispatch(ordered_at, max(made, default=0))

    def can_make(self, product: Product) -> bool:
        """Say whether the lab makes this product, paused or not."""
        return product.sku in self.makes

    def find_cost(self, product: Product, copies: int) -> int | None:
        """Return what so many copies cost, in minor units, or None if it is not made here."""
        making = self.makes.get(product.sku)
        return None if making is None else making.cost * copies
