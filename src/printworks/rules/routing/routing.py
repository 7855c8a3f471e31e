"""Which lab prints what, and by which service it is sent.

The cheapest plan that meets the promise; of equal ones that with fewer shipments, then that whose
labs, listed item by item, come first by their codes, then the services that come first. If no plan
meets the promise, the cheapest of those that are complete earliest.

An order may name the country where it is to be printed. Then an item that some lab there makes and
sends in time, by the promise and the method that was asked for, is printed there whatever it costs;
each other item may be printed anywhere.
"""

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from datetime import date
from functools import cache, partial, reduce
from operator import and_
from typing import Final, NamedTuple

from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.calendars import Window, find_arrival
from printworks.rules.routing.costs import Assignment, AssignmentProblem, Costs, LabChoice
from printworks.rules.routing.model import (
    Candidate,
    CannotMake,
    LabFinding,
    LabVerdict,
    Offer,
    Plan,
    PlannedShipment,
    PrintItem,
    Routed,
    Routing,
    RoutingRequest,
    ServiceOffer,
    Unroutable,
)
from printworks.rules.routing.search import solve

_NOT_MADE: Final = CannotMake("not in its range")


_ListArrivals = Callable[[int, str, Window], tuple[date, ...]]


class _Option(NamedTuple):
    """A lab that makes an item and sends it by at least one service that may be used."""

    offer: Offer
    # By service, the latest day of arrival.
    arrivals: tuple[date, ...]


class _Market(NamedTuple):
    """All that may be chosen from: labs and services in the order of their codes."""

    items: Sequence[PrintItem]
    labs: Sequence[Candidate]
    without: Set[str]
    # By lab and band.
    services: Mapping[tuple[int, str], tuple[ServiceOffer, ...]]
    # For each item, which others it is like: the same is found for all of them.
    kinds: Sequence[int]
    # For each item, by lab.
    options: Sequence[Mapping[int, _Option]]
    # For each item, the labs of the print country that are in time.
    at_home: Sequence[Set[int]] = ()

    def is_passed_over(self, place: int, lab: int) -> bool:
        """Whether other labs, in the print country and in time, have to print an item."""
        home = self.at_home[place]
        return bool(home) and lab not in home

    def find_fastest(self) -> date | None:
        """Return the first day by which every item can arrive; None if some cannot be sent."""
        if not all(self.options):
            return None
        alike = dict(zip(self.kinds, self.options, strict=True)).values()
        fastest = (min(min(one.arrivals) for one in each.values()) for each in alike)
        return max(fastest, default=date.min)


class _AssignedBand(NamedTuple):
    """The items of one band, each with its lab."""

    # Positions of the items in the order.
    places: Sequence[int]
    problem: AssignmentProblem
    labs: Sequence[int]
    is_exact: bool


def route(request: RoutingRequest) -> Routing:
    """Choose labs and services for all items of an order.

    Services of other methods than the one asked for are used only if the order cannot be sent
    without them, and such a plan does not meet the promise.
    """
    market = _open_market(request, {request.method})
    fastest = market.find_fastest()
    is_as_asked = fastest is not None
    if fastest is None:
        market = _open_market(request, set(ShippingMethod))
        fastest = market.find_fastest()
    if fastest is None:
        return _refuse(market)
    deadline, order = max(request.promise, fastest), [item.id for item in request.items]
    bands = [_assign(market, band, deadline, request.most_steps) for band in request.bands]
    shipments = [shipment for band in bands for shipment in _plan_shipments(market, band)]
    shipments.sort(key=lambda shipment: order.index(shipment.items[0]))
    plan = Plan(
        shipments=tuple(shipments),
        items_cost=sum(_sum_items(band) for band in bands),
        shipping_cost=sum(shipment.shipping_cost for shipment in shipments),
        promise=request.promise,
        method=request.method,
        print_country=request.print_country,
        printed_elsewhere=_list_elsewhere(request, shipments),
        meets_promise=is_as_asked and fastest <= request.promise,
        is_exact=all(band.is_exact for band in bands),
    )
    return Routed(plan, _explain_labs(market, bands, request.print_country))


def _list_elsewhere(
    request: RoutingRequest, shipments: Sequence[PlannedShipment]
) -> tuple[int, ...]:
    """Return the items that are not printed in the country that was asked for."""
    if request.print_country is None:
        return ()
    home = {lab.code for lab in request.candidates if lab.country == request.print_country}
    return tuple(item for one in shipments if one.lab not in home for item in one.items)


def _open_market(request: RoutingRequest, methods: Set[ShippingMethod]) -> _Market:
    """Gather what may be chosen, with tracking where the request asks for it."""
    if request.needs_tracking:
        return _gather_options(request, methods, set(request.bands))
    if not request.prefers_tracking:
        return _gather_options(request, methods, set())
    market = _gather_options(request, methods, request.prefers_tracking)
    pairs = zip(request.items, market.options, strict=True)
    untracked = {item.band for item, options in pairs if not options}
    if not untracked & request.prefers_tracking:
        return market
    return _gather_options(request, methods, request.prefers_tracking - untracked)


def _gather_options(
    request: RoutingRequest, methods: Set[ShippingMethod], tracked: Set[str]
) -> _Market:
    """Gather what may be chosen; bands in `tracked` travel with tracking or not at all."""
    labs = sorted(request.candidates, key=lambda lab: lab.code)
    bands = request.bands
    services = {
        (n, band): tuple(
            service
            for service in sorted(lab.services, key=lambda service: service.code)
            if service.method in methods
            and band in service.prices
            and (service.is_tracked or band not in tracked)
        )
        for n, lab in enumerate(labs)
        for band in bands
    }
    kinds = _find_kinds(labs, request.items)
    market = _Market(request.items, labs, request.without, services, kinds, [])
    list_arrivals = cache(partial(_list_arrivals, market))
    alike = dict(zip(kinds, request.items, strict=True))
    options = {kind: _list_options(market, item, list_arrivals) for kind, item in alike.items()}
    at_home = {
        kind: _find_home(request, market, item.band, options[kind]) for kind, item in alike.items()
    }
    return market._replace(
        options=[options[kind] for kind in kinds], at_home=[at_home[kind] for kind in kinds]
    )


def _find_kinds(labs: Sequence[Candidate], items: Sequence[PrintItem]) -> list[int]:
    """Return a number for each item, the same for items that differ in nothing but their id."""
    numbers: dict[Hashable, int] = {}
    offers = [lab.offers for lab in labs]
    # By identity, which is faster than comparing: an order of many equal prints shares its offers.
    kinds = [(item.band, item.copies, *[id(of.get(item.id)) for of in offers]) for item in items]
    return [numbers.setdefault(kind, len(numbers)) for kind in kinds]


def _find_home(
    request: RoutingRequest, market: _Market, band: str, options: Mapping[int, _Option]
) -> Set[int]:
    """Return the labs of the print country that send an item in time, as it was asked for."""
    if request.print_country is None:
        return frozenset()
    return {
        lab
        for lab, option in options.items()
        if market.labs[lab].country == request.print_country
        and any(
            day <= request.promise and service.method == request.method
            for day, service in zip(option.arrivals, market.services[lab, band], strict=True)
        )
    }


def _list_options(
    market: _Market, item: PrintItem, list_arrivals: _ListArrivals
) -> dict[int, _Option]:
    options = {}
    for n, lab in enumerate(market.labs):
        offer = lab.offers.get(item.id, _NOT_MADE)
        is_open = lab.paused is None and lab.code not in market.without
        if is_open and isinstance(offer, Offer) and market.services[n, item.band]:
            options[n] = _Option(offer, list_arrivals(n, item.band, offer.dispatch))
    return options


def _list_arrivals(market: _Market, lab: int, band: str, dispatch: Window) -> tuple[date, ...]:
    return tuple(
        find_arrival(dispatch, service.transit, service.calendar).latest
        for service in market.services[lab, band]
    )


def _assign(market: _Market, band: str, deadline: date, most_steps: int) -> _AssignedBand:
    places = [place for place, item in enumerate(market.items) if item.band == band]
    alike = {market.kinds[place]: place for place in places}
    choices = {kind: _list_choices(market, place, deadline) for kind, place in alike.items()}
    problem = AssignmentProblem(
        copies=[market.items[place].copies for place in places],
        choices=[choices[market.kinds[place]] for place in places],
        prices=[
            [service.prices[band] for service in market.services[n, band]]
            for n in range(len(market.labs))
        ],
    )
    labs, is_exact = solve(problem, most_steps=most_steps)
    return _AssignedBand(places, problem, labs, is_exact)


def _list_choices(market: _Market, place: int, deadline: date) -> dict[int, LabChoice]:
    choices = {}
    for lab, option in market.options[place].items():
        if market.is_passed_over(place, lab):
            continue
        in_time = sum(1 << n for n, day in enumerate(option.arrivals) if day <= deadline)
        if in_time:
            choices[lab] = LabChoice(option.offer.cost * market.items[place].copies, in_time)
    return choices


def _sum_items(band: _AssignedBand) -> int:
    return sum(
        choices[lab].cost for choices, lab in zip(band.problem.choices, band.labs, strict=True)
    )


def _plan_shipments(market: _Market, assigned: _AssignedBand) -> Iterator[PlannedShipment]:
    for lab in sorted(set(assigned.labs)):
        members = [n for n, chosen in enumerate(assigned.labs) if chosen == lab]
        items = [market.items[assigned.places[n]] for n in members]
        offers = [market.options[assigned.places[n]][lab].offer for n in members]
        copies, band = sum(item.copies for item in items), items[0].band
        in_time = reduce(and_, (assigned.problem.choices[n][lab].services for n in members))
        usable = [s for n, s in enumerate(market.services[lab, band]) if in_time >> n & 1]
        service = min(usable, key=lambda service: service.prices[band].price_for(copies))
        dispatch = Window(
            max(offer.dispatch.earliest for offer in offers),
            max(offer.dispatch.latest for offer in offers),
        )
        yield PlannedShipment(
            lab=market.labs[lab].code,
            band=band,
            items=tuple(item.id for item in items),
            copies=copies,
            service=service.code,
            method=service.method,
            is_tracked=service.is_tracked,
            items_cost=sum(assigned.problem.choices[n][lab].cost for n in members),
            shipping_cost=service.prices[band].price_for(copies),
            dispatch=dispatch,
            arrival=find_arrival(dispatch, service.transit, service.calendar),
        )


class _Reason(NamedTuple):
    """A verdict without its items, so that items with the same one can be listed together."""

    finding: LabFinding
    reason: str | None = None
    arrives_by: date | None = None
    extra_cost: int | None = None


_FindReason = Callable[[int, int], _Reason]


def _refuse(market: _Market) -> Unroutable:
    places = [place for place, options in enumerate(market.options) if not options]
    items = tuple(market.items[place].id for place in places)
    alike = _group_alike(places, lambda place: market.kinds[place])
    return Unroutable(items, _group_verdicts(market, alike, partial(_exclude, market)))


def _explain_labs(
    market: _Market, bands: Sequence[_AssignedBand], print_country: str | None
) -> tuple[LabVerdict, ...]:
    compare: dict[int, Callable[[int, int], _Reason | None]] = {}
    chosen: dict[int, int] = {}
    for band in bands:
        compare |= dict.fromkeys(band.places, _compare(band))
        chosen |= zip(band.places, band.labs, strict=True)

    def find_reason(place: int, lab: int) -> _Reason:
        option = market.options[place].get(lab)
        if option is None:
            return _exclude(market, place, lab)
        if market.is_passed_over(place, lab) and market.labs[lab].country != print_country:
            return _Reason(LabFinding.ABROAD)
        return compare[place](place, lab) or _Reason(
            LabFinding.TOO_LATE, arrives_by=min(option.arrivals)
        )

    places = range(len(market.items))
    alike = _group_alike(places, lambda place: (market.kinds[place], chosen[place]))
    return _group_verdicts(market, alike, find_reason)


def _exclude(market: _Market, place: int, lab: int) -> _Reason:
    """Return why a lab cannot be used for an item at all."""
    candidate = market.labs[lab]
    offer = candidate.offers.get(market.items[place].id, _NOT_MADE)
    if isinstance(offer, CannotMake):
        return _Reason(LabFinding.CANNOT_MAKE, reason=offer.reason)
    if candidate.code in market.without:
        return _Reason(LabFinding.LEFT_OUT)
    if candidate.paused is not None:
        return _Reason(LabFinding.PAUSED, reason=candidate.paused)
    return _Reason(LabFinding.NO_SERVICE)


def _compare(band: _AssignedBand) -> Callable[[int, int], _Reason | None]:
    """Return a function that tells for a lab in time whether it was chosen, or its extra cost."""
    assignment = Assignment(Costs(band.problem, breaks_ties=False), band.labs)
    index = {place: n for n, place in enumerate(band.places)}
    together = cache(assignment.extra_together)

    def compare(place: int, lab: int) -> _Reason | None:
        n = index[place]
        if lab not in band.problem.choices[n]:
            return None
        if band.labs[n] == lab:
            return _Reason(LabFinding.CHOSEN)
        extra = min(assignment.extra_alone(n, lab), together(band.labs[n], lab))
        return _Reason(LabFinding.DEARER, extra_cost=extra)

    return compare


def _group_alike(
    places: Iterable[int], find_kind: Callable[[int], Hashable]
) -> Collection[Sequence[int]]:
    """Return places of the same kind together; groups and places in their order."""
    groups: dict[Hashable, list[int]] = {}
    for place in places:
        groups.setdefault(find_kind(place), []).append(place)
    return groups.values()


def _group_verdicts(
    market: _Market, alike: Collection[Sequence[int]], find_reason: _FindReason
) -> tuple[LabVerdict, ...]:
    """Return the verdicts on each lab; what is true of one place is true of all like it."""
    verdicts = []
    for lab, candidate in enumerate(market.labs):
        groups: dict[_Reason, list[int]] = {}
        for places in alike:
            groups.setdefault(find_reason(places[0], lab), []).extend(places)
        for reason, places in groups.items():
            items = tuple([market.items[place].id for place in sorted(places)])
            verdicts.append(LabVerdict(lab=candidate.code, items=items, **reason._asdict()))
    return tuple(verdicts)
