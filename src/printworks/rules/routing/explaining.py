"""Why an order is printed where it is, in sentences for the operator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from printworks.rules.routing.plans import (
    LabFinding,
    LabVerdict,
    Plan,
    PlannedShipment,
    Routing,
    Unroutable,
)

# So many items are named before the rest is only counted.
NAMED: Final = 5

Money = Callable[[int], str]


def explain(routing: Routing, money: Money = str) -> list[str]:
    """Tell the plan, what it costs, and why each other lab was turned down.

    `money` writes an amount in the currency of routing.
    """
    verdicts = [_tell_verdict(v, money) for v in routing.verdicts if v.finding != LabFinding.CHOSEN]
    if isinstance(routing, Unroutable):
        return [f"Nobody can make and send {_name(routing.items)}.", *verdicts]
    return [*_tell_plan(routing.plan, money), *verdicts]


def _tell_plan(plan: Plan, money: Money) -> Iterator[str]:
    for package in plan.packages:
        yield _tell_package(package, money)
    costs = f"{money(plan.items_cost)} for printing and {money(plan.shipping_cost)} for shipping"
    yield f"Together that costs {money(plan.total)}: {costs}."
    yield _tell_promise(plan)
    if not plan.is_exact:
        yield "There were too many ways to try them all; a cheaper one may exist."


def _tell_package(package: PlannedShipment, money: Money) -> str:
    copies = "1 copy" if package.copies == 1 else f"{package.copies} copies"
    tracked = "tracked" if package.is_tracked else "untracked"
    return (
        f"{package.lab} prints {_name(package.items)} ({package.band}, {copies}), dispatches by "
        f"{package.dispatch.latest} and sends by {package.service} ({package.method}, {tracked}) "
        f"for {money(package.price)}, to arrive from {package.arrival.earliest} to "
        f"{package.arrival.latest}."
    )


def _tell_promise(plan: Plan) -> str:
    promise = f"the promise of {plan.promise} by {plan.method}"
    if plan.meets_promise:
        return f"It meets {promise}."
    if any(package.method != plan.method for package in plan.packages):
        return f"It cannot all be sent by {plan.method}, so that {promise} is not met."
    return f"Nothing meets {promise}; this is complete as early as can be, on {plan.arrives_by}."


# Read a line as: "lab-a ... items 1 and 2" and what follows.
_SENTENCES: Final[Mapping[LabFinding, str]] = {
    LabFinding.CHOSEN: "{lab} prints {items}.",
    LabFinding.CANNOT_MAKE: "{lab} cannot make {items}: {reason}.",
    LabFinding.LEFT_OUT: "{lab} was left out for {items}: it refused before.",
    LabFinding.PAUSED: "{lab} was passed over for {items}: paused, {reason}.",
    LabFinding.NO_SERVICE: "{lab} has no service for {items} that may be used.",
    LabFinding.TOO_LATE: "{lab} is too late for {items}: they would arrive by {arrives_by}.",
    LabFinding.DEARER: "{lab} would cost {extra_cost} more for {items}.",
}


def _tell_verdict(verdict: LabVerdict, money: Money) -> str:
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
    named = [str(item) for item in items[:NAMED]]
    rest = len(items) - NAMED
    last = f"{rest} more" if rest > 0 else named.pop()
    return f"items {', '.join(named)} and {last}"
