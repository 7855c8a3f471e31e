"""Why an order is printed where it is, in sentences for the operator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from printworks.rules.routing.model import (
    LabFinding,
    LabVerdict,
    Plan,
    PlannedShipment,
    Routing,
    Unroutable,
)

# How many items are listed before the rest is only counted.
MOST_LISTED: Final = 5


class RoutingWords(NamedTuple):
    """How amounts, days and names are written: as they are stored, unless somebody says how."""

    # Of an amount in the currency of routing.
    money: Callable[[int], str] = str
    day: Callable[[date], str] = str
    lab: Callable[[str], str] = str
    service: Callable[[str], str] = str
    country: Callable[[str], str] = str


AS_STORED: Final = RoutingWords()


def explain(routing: Routing, words: RoutingWords = AS_STORED) -> list[str]:
    """Return the plan, what it costs, and why each other lab was not chosen."""
    verdicts = [
        _describe_verdict(v, words) for v in routing.verdicts if v.finding != LabFinding.CHOSEN
    ]
    if isinstance(routing, Unroutable):
        return [f"No lab can make and send {_name(routing.items)}.", *verdicts]
    return [*_describe_plan(routing.plan, words), *verdicts]


def _describe_plan(plan: Plan, words: RoutingWords) -> Iterator[str]:
    for shipment in plan.shipments:
        yield _describe_shipment(shipment, words)
    money = words.money
    costs = f"{money(plan.items_cost)} for printing and {money(plan.shipping_cost)} for shipping"
    yield f"Together that costs {money(plan.total)}: {costs}."
    yield _describe_promise(plan, words)
    if plan.printed_elsewhere:
        named = _name(plan.printed_elsewhere)
        country = words.country(plan.print_country or "")
        yield f"No lab in {country} can make and send {named} in time."
    if not plan.is_exact:
        yield "There were too many possibilities to try them all; a cheaper plan may exist."


def _describe_shipment(shipment: PlannedShipment, words: RoutingWords) -> str:
    copies = "1 copy" if shipment.copies == 1 else f"{shipment.copies} copies"
    tracked = "tracked" if shipment.is_tracked else "untracked"
    return (
        f"{words.lab(shipment.lab)} prints {_name(shipment.items)} ({shipment.band}, {copies}), "
        f"dispatches by {words.day(shipment.dispatch.latest)} and sends by "
        f"{words.service(shipment.service)} ({shipment.method}, {tracked}) "
        f"for {words.money(shipment.shipping_cost)}, to arrive from "
        f"{words.day(shipment.arrival.earliest)} to {words.day(shipment.arrival.latest)}."
    )


def _describe_promise(plan: Plan, words: RoutingWords) -> str:
    promise = f"the promise of {words.day(plan.promise)} by {plan.method}"
    if plan.meets_promise:
        return f"It meets {promise}."
    if any(shipment.method != plan.method for shipment in plan.shipments):
        return f"Not all of it can be sent by {plan.method}, so {promise} is not met."
    arrives = words.day(plan.arrives_by)
    return f"Nothing meets {promise}; this plan arrives the earliest, on {arrives}."


_SENTENCES: Final[Mapping[LabFinding, str]] = {
    LabFinding.CHOSEN: "{lab} prints {items}.",
    LabFinding.CANNOT_MAKE: "{lab} cannot make {items}: {reason}.",
    LabFinding.LEFT_OUT: "{lab} was left out for {items}: it rejected the order before.",
    LabFinding.PAUSED: "{lab} was not considered for {items}: paused, {reason}.",
    LabFinding.NO_SERVICE: "{lab} has no suitable service for {items}.",
    LabFinding.TOO_LATE: "{lab} is too late for {items}: they would arrive by {arrives_by}.",
    LabFinding.ABROAD: "{lab} was passed over for {items}: a lab in the print country is in time.",
    LabFinding.DEARER: "{lab} would cost {extra_cost} more for {items}.",
}


def _describe_verdict(verdict: LabVerdict, words: RoutingWords) -> str:
    lab, items = words.lab(verdict.lab), _name(verdict.items)
    if verdict.extra_cost == 0:
        return f"{lab} would cost the same for {items}, and came second."
    return _SENTENCES[verdict.finding].format(
        lab=lab,
        items=items,
        reason=verdict.reason,
        arrives_by=words.day(verdict.arrives_by) if verdict.arrives_by else "",
        extra_cost=words.money(verdict.extra_cost or 0),
    )


def _name(items: Sequence[int]) -> str:
    if len(items) == 1:
        return f"item {items[0]}"
    named = [str(item) for item in items[:MOST_LISTED]]
    rest = len(items) - MOST_LISTED
    last = f"{rest} more" if rest > 0 else named.pop()
    return f"items {', '.join(named)} and {last}"
