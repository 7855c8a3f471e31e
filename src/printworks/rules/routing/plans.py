"""The answer of routing: who prints what and how it travels, and what became of every lab."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum

import msgspec

from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.calendars import Window


class PlannedShipment(msgspec.Struct, frozen=True, kw_only=True):
    """All items of one band that one lab prints; they travel together."""

    lab: str
    band: str
    items: tuple[int, ...]
    copies: int
    service: str
    method: ShippingMethod
    is_tracked: bool
    # Of the shipping alone.
    price: int
    dispatch: Window
    arrival: Window


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Who prints what, and by which services it is sent."""

    packages: tuple[PlannedShipment, ...]
    items_cost: int
    shipping_cost: int
    # The last day that would be in time, by the method that was asked for.
    promise: date
    method: ShippingMethod
    meets_promise: bool
    # False if there were too many ways to try them all.
    is_exact: bool

    @property
    def total(self) -> int:
        """The cost of items and shipping."""
        return self.items_cost + self.shipping_cost

    @property
    def labs(self) -> Mapping[int, str]:
        """The lab of each item."""
        return {item: package.lab for package in self.packages for item in package.items}

    @property
    def arrives_by(self) -> date:
        """The last day on which the last package arrives."""
        return max((package.arrival.latest for package in self.packages), default=self.promise)


class LabFinding(StrEnum):
    """What became of a lab."""

    CHOSEN = "chosen"
    CANNOT_MAKE = "cannot-make"
    LEFT_OUT = "left-out"
    PAUSED = "paused"
    NO_SERVICE = "no-service"
    TOO_LATE = "too-late"
    DEARER = "dearer"


class LabVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a lab for some items, and why."""

    lab: str
    items: tuple[int, ...]
    finding: LabFinding
    # Of CANNOT_MAKE and PAUSED, in the words of who said so.
    reason: str | None = None
    # Of TOO_LATE: the latest day by the fastest service that could be used.
    arrives_by: date | None = None
    # Of DEARER: what it costs more to have an item printed there instead, alone or with all that
    # the lab can make of its package, whichever is cheaper. 0 is a tie that the order of the
    # rules decided.
    extra_cost: int | None = None


class Routed(msgspec.Struct, frozen=True, tag="routed"):
    """A plan, and the verdict on every lab for every item."""

    plan: Plan
    verdicts: tuple[LabVerdict, ...]


class Unroutable(msgspec.Struct, frozen=True, tag="unroutable"):
    """Nobody can make these items and send them; the verdicts are on them alone."""

    items: tuple[int, ...]
    verdicts: tuple[LabVerdict, ...]


Routing = Routed | Unroutable
