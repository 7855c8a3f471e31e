"""Why an order is printed where it is, in sentences for the operator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

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

Money = Callable[[int], str]


def explain(routing: Routing, money: Money = str) -> list[str]:
    """Return the plan, what it costs, and why each other lab was not chosen.

    `money` formats an amount in the currency of routing.
    """
    verdicts = [
        _describe_verdict(v, money) for v in routing.verdicts if v.finding != LabFinding.CHOSEN
    ]
    if isinstance(routing, Unroutable):
        return [f"No lab can make and send {_name(routing.items)}.", *verdicts]
    return [*_describe_plan(routing.plan, money), *verdicts]


def _describe_plan(plan: Plan, money: Money) -> Iterator[str]:
    for shipment in plan.shipments:
        yield _describe_shipment(shipment, money)
    costs = f"{money(plan.items_cost)} for printing and {money(plan.shipping_cost)} for shipping"
    yield f"Together that costs {money(plan.total)}: {costs}."
    yield _describe_promise(plan)
    if plan.printed_elsewhere:
        named = _name(plan.printed_elsewhere)
        yield f"No lab in {plan.print_country} can make and send {named} in time."
    if not plan.is_exact:
        yield "There were too many possibilities to try them all; a cheaper plan may exist."


def _describe_shipment(shipment: PlannedShipment, money: Money) -> str:
    copies = "1 copy" if shipment.copies == 1 else f"{shipment.copies} copies"
    tracked = "tracked" if shipment.is_tracked else "untracked"
    return (
        f"{shipment.lab} prints {_name(shipment.items)} ({shipment.band}, {copies}), dispatches by "
        f"{shipment.dispatch.latest} and sends by {shipment.service} ({shipment.method}, {tracked}) "
        f"for {money(shipment.shipping_cost)}, to arrive from {shipment.arrival.earliest} to "
        f"{shipment.arrival.latest}."
    )


def _describe_promise(plan: Plan) -> str:
    promise = f"the promise of {plan.promise} by {plan.method}"
    if plan.meets_promise:
        return f"It meets {promise}."
    if any(shipment.method != plan.method for shipment in plan.shipments):
        return f"Not all of it can be sent by {plan.method}, so {promise} is not met."
    return f"Nothing meets {promise}; this plan arrives the earliest, on {plan.arrives_by}."


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


def _describe_verdict(verdict: LabVerdict, money: Money) -> str:
    items = _name(verdict.items)
    if verdict.extra_cost == 0:
        return f"{verdict.lab} would cost the same for {items}, and came second."
    return _SENTENCES[verdict.finding].format(
        lab=verdict.lab,
        items=items,
        reason=verdict.reason,
        arrives_by=verdict.arrives_by,
        extra_cost=money(verdict.extra_cost or 0),
    )


def _name(items: Sequence[int]) -> str:
    if len(items) == 1:
        return f"item {items[0]}"
    named = [str(item) for item in items[:MOST_LISTED]]
    rest = len(items) - MOST_LISTED
    last = f"{rest} more" if rest > 0 else named.pop()
    return f"items {', '.join(named)} and {last}"
