"""What there is to print, and what each lab offers: at what cost, by when, sent how."""

from collections.abc import Mapping

import msgspec

from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY, Days, Window, WorkingCalendar


class PrintItem(msgspec.Struct, frozen=True):
    """An image of an order with its product."""

    id: int
    sku: str
    # What may travel in one package with it.
    band: str
    copies: int


class Offer(msgspec.Struct, frozen=True):
    """A lab can make an item. The cost is that of one copy, in the currency of routing."""

    cost: int
    dispatch: Window


class CannotMake(msgspec.Struct, frozen=True):
    """A lab cannot make an item; the reason follows a colon, such as "no frames in gold"."""

    reason: str


class ShipmentPrice(msgspec.Struct, frozen=True):
    """What a package costs by the copies in it: so many at the first price, then by steps."""

    first: int
    # How many copies the first price pays for, and how many each further step.
    items: int = 1
    each_further: int = 0
    step: int = 1

    def __post_init__(self) -> None:
        """Refuse prices that fall with the number of copies: the search relies on it."""
        if min(self.first, self.each_further, self.items) < 0 or self.step < 1:
            message = "A price cannot be negative, nor a step smaller than one copy."
            raise ValueError(message)

    def price_for(self, copies: int) -> int:
        """Return the price of a package with so many copies."""
        further = max(0, copies - self.items)
        return self.first + self.each_further * -(-further // self.step)

    def end_of_step(self, copies: int) -> int:
        """Return how many copies go for the price of so many."""
        further = max(0, copies - self.items)
        return self.items + self.step * -(-further // self.step)


class ServiceOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A way in which a lab sends packages to the destination of the order."""

    code: str
    method: ShippingMethod
    is_tracked: bool
    transit: Days
    # By band; a band that is not here is not carried.
    prices: Mapping[str, ShipmentPrice]
    calendar: WorkingCalendar = MONDAY_TO_FRIDAY


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A lab, and what it offers for one order."""

    code: str
    # By the id of the item; an item that is not here is not made.
    offers: Mapping[int, Offer | CannotMake]
    services: tuple[ServiceOffer, ...]
    # Why the lab takes no orders now, such as "on holiday until Monday"; None if it does.
    paused: str | None = None
