"""Explain to the merchant why an order is printed where it is.

What labs charge us is not shown: only which of them would have cost more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from printworks.actions.production.routing import FINE
from printworks.catalogue.country_names import name_country
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.dates import write_day
from printworks.dashboard.shared.labels import count, join
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.branding import find_brand
from printworks.rules.routing.explaining import RoutingWords
from printworks.rules.routing.model import LabFinding, LabVerdict, Plan, PlannedShipment, Routed
from printworks.store.images.images import Image
from printworks.store.orders.shipments import Decision

# What people call images, by their numbers.
ImageNames: TypeAlias = Mapping[int, str]

# So many images are named before the rest is only counted.
_NAMED: Final = 4
# An order of many products has a result of each lab for each of them.
_MOST_REASONS: Final = 24


class RoutingChoice(NamedTuple):
    """One decision: what was chosen, and why the others were not."""

    heading: str
    chosen: tuple[str, ...]
    others: tuple[str, ...]


_REASONS: Final[Mapping[LabFinding, str]] = {
    LabFinding.CHOSEN: "{lab} prints {images}.",
    LabFinding.CANNOT_MAKE: "{lab} does not make this: {reason}.",
    LabFinding.LEFT_OUT: "{lab} was asked before and declined.",
    LabFinding.PAUSED: "{lab} is paused: {reason}.",
    LabFinding.NO_SERVICE: "{lab} has no matching shipping service to that country.",
    LabFinding.TOO_LATE: "{lab} would be too late: it would arrive by {day}.",
    LabFinding.ABROAD: "{lab} is not in the country where the order should be printed.",
    LabFinding.DEARER: "{lab} would have cost more.",
}


def write_for_operators(catalogue: Catalogue, currency: str) -> RoutingWords:
    """Return how the explanation of a routing is written for operators, with amounts."""
    services = {service.code: service.name for service in catalogue.services}
    return RoutingWords(
        money=lambda amount: format_money(round(amount / FINE), currency),
        day=write_day,
        lab=lambda code: name_lab(code, catalogue),
        service=lambda code: services.get(code, code),
        country=name_country,
    )


def describe_choices(
    decisions: Sequence[Decision],
    catalogue: Catalogue,
    images: Sequence[Image] = (),
    *,
    usually: str = "When it was submitted",
) -> list[RoutingChoice]:
    """Explain which labs were chosen and why not the others, latest decision first.

    Images are called by their names if they are given. `usually` is when that was, unless labs
    had declined before.
    """
    names = {image.id: image.title for image in images}
    return [_describe(decision, catalogue, names, usually) for decision in reversed(decisions)]


def _describe(
    decision: Decision, catalogue: Catalogue, names: ImageNames, usually: str
) -> RoutingChoice:
    refused = [name_lab(code, catalogue) for code in decision.without]
    heading = f"After {join(refused)} had declined" if refused else usually
    routing = decision.routing
    others = [verdict for verdict in routing.verdicts if verdict.finding is not LabFinding.CHOSEN]
    named = len({verdict.items for verdict in routing.verdicts}) > 1
    reasons = _shorten([_describe_verdict(one, catalogue, names, is_named=named) for one in others])
    if not isinstance(routing, Routed):
        return RoutingChoice(heading, ("No lab could make and ship it.",), reasons)
    shipments = [
        _describe_shipment(shipment, catalogue, names) for shipment in routing.plan.shipments
    ]
    chosen = (
        *shipments,
        _describe_promise(routing.plan),
        *_describe_elsewhere(routing.plan, names),
    )
    return RoutingChoice(heading, chosen, reasons)


def _shorten(sentences: Sequence[str]) -> tuple[str, ...]:
    apart = list(dict.fromkeys(sentences))
    rest = len(apart) - _MOST_REASONS
    return (*apart[:_MOST_REASONS], *([f"And {rest} more like these."] if rest > 0 else []))


# What a lab is called, by its code.
LabNaming = Callable[[str, Catalogue], str]


def name_lab(code: str, catalogue: Catalogue) -> str:
    """Return what a lab is called, and in which country it is."""
    lab = catalogue.find_lab(code)
    return code if lab is None else f"{lab.name} ({name_country(lab.country)})"


def show_lab(code: str, catalogue: Catalogue) -> str:
    """Return what a merchant is told of a lab: its name only if the operator says so."""
    if find_brand().brand.show_labs:
        return name_lab(code, catalogue)
    lab = catalogue.find_lab(code)
    return "our lab" if lab is None else f"our lab ({name_country(lab.country)})"


def _describe_shipment(package: PlannedShipment, catalogue: Catalogue, names: ImageNames) -> str:
    return (
        f"{name_lab(package.lab, catalogue)} prints {_name(package.items, names)}: "
        f"{count(package.copies, 'copy', 'copies')}, sent by {write_day(package.dispatch.latest)}, "
        f"to arrive by {write_day(package.arrival.latest)}."
    )


def _describe_promise(plan: Plan) -> str:
    asked = f"{plan.method} shipping promises {write_day(plan.promise)}"
    if plan.meets_promise:
        return f"{asked}. This is the cheapest way to meet that."
    return f"{asked}. No lab can meet that; this is the earliest possible."


def _describe_elsewhere(plan: Plan, names: ImageNames) -> list[str]:
    if not plan.printed_elsewhere:
        return []
    country, items = name_country(plan.print_country), _name(plan.printed_elsewhere, names)
    return [f"No lab in {country} can make and send {items} in time."]


def _describe_verdict(
    verdict: LabVerdict, catalogue: Catalogue, names: ImageNames, *, is_named: bool
) -> str:
    lab, images = name_lab(verdict.lab, catalogue), _name(verdict.items, names)
    if verdict.extra_cost == 0:
        sentence = f"{lab} would have cost the same."
    else:
        sentence = _REASONS[verdict.finding].format(
            lab=lab,
            images=images,
            reason=verdict.reason,
            day=write_day(verdict.arrives_by) if verdict.arrives_by else "",
        )
    return f"For {images}: {sentence}" if is_named else sentence


def _name(images: Sequence[int], names: ImageNames) -> str:
    named = [names.get(image, f"image {image}") for image in images[:_NAMED]]
    rest = len(images) - len(named)
    return join([*named, f"{rest} more"] if rest else named)
