"""What routing is asked (items, and the offers of labs) and what it answers (plan and verdicts)."""

from collections.abc import Mapping, Sequence, Set
from datetime import date
from enum import StrEnum
from typing import Final

import msgspec

from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY, Days, Window, WorkingCalendar
from printworks.rules.routing.costs import ShipmentPrice

# A search that takes more steps (one item compared with one lab) ends with the best so far.
MOST_STEPS: Final = 200_000


class PrintItem(msgspec.Struct, frozen=True):
    """An image of an order with its product."""

    id: int
    sku: str
    # Items of one shipping band can travel in one shipment.
    band: str
    copies: int


class Offer(msgspec.Struct, frozen=True):
    """A lab can make an item. The cost is that of one copy, in the currency of routing."""

    cost: int
    dispatch: Window


class CannotMake(msgspec.Struct, frozen=True):
    """A lab cannot make an item; the reason follows a colon, such as "no frames in gold"."""

    reason: str


class ServiceOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A service by which a lab ships to the destination of the order."""

    code: str
    method: ShippingMethod
    is_tracked: bool
    transit: Days
    # By band; other bands are not carried.
    prices: Mapping[str, ShipmentPrice]
    calendar: WorkingCalendar = MONDAY_TO_FRIDAY


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A lab, and what it offers for one order."""

    code: str
    country: str
    # By item id; the lab cannot make other items.
    offers: Mapping[int, Offer | CannotMake]
    services: tuple[ServiceOffer, ...]
    # Why the lab takes no orders now, such as "on holiday until Monday"; None if it does.
    paused: str | None = None


class RoutingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An order to route: every item has to arrive on the promised day or before.

    Untracked services are never used where tracking is needed; for bands that prefer it, only if
    they cannot be sent with tracking completely.
    """

    items: Sequence[PrintItem]
    candidates: Sequence[Candidate]
    method: ShippingMethod
    promise: date
    needs_tracking: bool = False
    prefers_tracking: Set[str] = frozenset()
    # An item that a lab there can send in time by the method is printed there, even if that costs
    # more; all others are printed anywhere.
    print_country: str | None = None
    # Labs that have rejected the order.
    without: Set[str] = frozenset()
    most_steps: int = MOST_STEPS

    @property
    def bands(self) -> list[str]:
        """The bands of the items, in their order."""
        return list(dict.fromkeys(item.band for item in self.items))


class PlannedShipment(msgspec.Struct, frozen=True, kw_only=True):
    """All items of one band that one lab prints; they travel together."""

    lab: str
    band: str
    items: tuple[int, ...]
    copies: int
    service: str
    method: ShippingMethod
    is_tracked: bool
    items_cost: int
    shipping_cost: int
    dispatch: Window
    arrival: Window


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Which lab prints what, and by which services it is sent."""

    # Plans in the database have this name for them.
    shipments: tuple[PlannedShipment, ...] = msgspec.field(name="packages")
    items_cost: int
    shipping_cost: int
    # The last day that would be in time, by the method that was asked for.
    promise: date
    method: ShippingMethod
    meets_promise: bool
    # False if the search ended before it had ruled out every other plan.
    is_exact: bool
    print_country: str | None = None
    # Items for which no lab of the print country was in time.
    printed_elsewhere: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """The cost of items and shipping."""
        return self.items_cost + self.shipping_cost

    @property
    def labs(self) -> Mapping[int, str]:
        """The lab of each item."""
        return {item: shipment.lab for shipment in self.shipments for item in shipment.items}

    @property
    def arrives_by(self) -> date:
        """The last day on which the last shipment arrives."""
        return max((shipment.arrival.latest for shipment in self.shipments), default=self.promise)


class LabFinding(StrEnum):
    """The result for a lab."""

    CHOSEN = "chosen"
    CANNOT_MAKE = "cannot-make"
    LEFT_OUT = "left-out"
    PAUSED = "paused"
    NO_SERVICE = "no-service"
    TOO_LATE = "too-late"
    # A lab of the print country can send the item in time.
    ABROAD = "abroad"
    DEARER = "dearer"


class LabVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result for a lab and some of the items, and the reason for it."""

    lab: str
    items: tuple[int, ...]
    finding: LabFinding
    # Of CANNOT_MAKE and PAUSED, in the words of the offer.
    reason: str | None = None
    # Of TOO_LATE: the latest day by the fastest service that could be used.
    arrives_by: date | None = None
    # Of DEARER: the extra cost if an item were printed there instead, alone or with all items of
    # its shipment that the lab can make, whichever is cheaper. 0 is a tie.
    extra_cost: int | None = None


class Routed(msgspec.Struct, frozen=True, tag="routed"):
    """A plan, and the verdict on every lab for every item."""

    plan: Plan
    verdicts: tuple[LabVerdict, ...]


class Unroutable(msgspec.Struct, frozen=True, tag="unroutable"):
    """No lab can make and send these items; the verdicts are on them alone."""

    items: tuple[int, ...]
    verdicts: tuple[LabVerdict, ...]


Routing = Routed | Unroutable
