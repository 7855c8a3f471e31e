"""Labs, items and services for the tests of routing, and how to read its answers."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.calendars import Days, Window, WorkingCalendar
from printworks.rules.routing.costs import ShipmentPrice
from printworks.rules.routing.model import (
    Candidate,
    CannotMake,
    LabFinding,
    Offer,
    Plan,
    PrintItem,
    Routed,
    Routing,
    RoutingRequest,
    ServiceOffer,
)
from printworks.rules.routing.routing import route

BUDGET, STANDARD, EXPRESS = ShippingMethod.BUDGET, ShippingMethod.STANDARD, ShippingMethod.EXPRESS
# A Monday; every day is a working day here, so that dates can be counted on fingers.
MONDAY = date(2026, 3, 2)
EVERY_DAY = WorkingCalendar(frozenset(range(7)))


def day(number: int) -> date:
    """Return the day so many days after that Monday."""
    return MONDAY + timedelta(days=number)


PROMISE = day(5)


def an_item(number: int = 1, *, band: str = "Prints", copies: int = 1) -> PrintItem:
    """Make an item."""
    return PrintItem(number, f"SKU-{number}", band, copies)


def a_service(
    code: str = "post", *, takes: int = 2, price: Any = 200, **changes: Any
) -> ServiceOffer:
    """Make a service; a price of one number is that of any shipment of prints."""
    prices = price if isinstance(price, Mapping) else {"Prints": ShipmentPrice(price, 100)}
    given: dict[str, Any] = {
        "method": STANDARD,
        "is_tracked": False,
        "transit": Days(min(1, takes), takes),
        "prices": prices,
        "calendar": EVERY_DAY,
    }
    return ServiceOffer(code=code, **(given | changes))


def a_lab(
    code: str, costs: Mapping[int, int | str], *services: ServiceOffer, **changes: Any
) -> Candidate:
    """Make a lab with costs, or reasons, by item; it dispatches on day 1."""
    dispatch = changes.pop("dispatch", Window(day(0), day(1)))
    return Candidate(
        code=code,
        country=changes.pop("country", "GB"),
        offers={
            item: CannotMake(cost) if isinstance(cost, str) else Offer(cost, dispatch)
            for item, cost in costs.items()
        },
        services=services or (a_service(),),
        **changes,
    )


def ask(items: Sequence[PrintItem], labs: Sequence[Candidate], **changes: Any) -> Routing:
    """Route by Standard, to arrive on day 5."""
    given: dict[str, Any] = {"method": STANDARD, "promise": PROMISE}
    return route(RoutingRequest(items=items, candidates=labs, **(given | changes)))


def plan_of(routing: Routing) -> Plan:
    """Return the plan of an order that can be routed."""
    assert isinstance(routing, Routed)
    return routing.plan


def findings_of(routing: Routing) -> dict[tuple[str, int], LabFinding]:
    """Return the findings by lab and item, each of which has exactly one."""
    pairs = [(v.lab, item) for v in routing.verdicts for item in v.items]
    assert len(pairs) == len(set(pairs))
    return {(v.lab, item): v.finding for v in routing.verdicts for item in v.items}
