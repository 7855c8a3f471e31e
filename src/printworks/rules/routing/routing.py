"""Which lab prints what, and by which service it is sent.

The cheapest plan that meets the promise; of equal ones that with fewer packages, then that whose
labs, listed item by item, come first by their codes, then the services that come first. If no plan
meets the promise, the cheapest of those that are complete earliest.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from datetime import date
from functools import cache, partial, reduce
from operator import and_
from typing import Final, NamedTuple

from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.assignments import MOST_STEPS, solve
from printworks.rules.routing.calendars import Window, find_arrival
from printworks.rules.routing.offers import Candidate, CannotMake, Offer, PrintItem, ServiceOffer
from printworks.rules.routing.plans import (
    LabFinding,
    LabVerdict,
    Plan,
    PlannedShipment,
    Routed,
    Routing,
    Unroutable,
)
from printworks.rules.routing.sharing import Costs, LabChoice, Sharing, SharingProblem

_NOT_MADE: Final = CannotMake("not in its range")


_ListArrivals = Callable[[int, str, Window], tuple[date, ...]]


class _Way(NamedTuple):
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
    # For each item, by lab.
    ways: Sequence[Mapping[int, _Way]]

    def find_fastest(self) -> date | None:
        """Return the first day by which everything can have arrived; None if not everything can."""
        if not all(self.ways):
            return None
        fastest = (min(min(way.arrivals) for way in ways.values()) for ways in self.ways)
        return max(fastest, default=date.min)


class _Shared(NamedTuple):
    """The items of one band, shared out."""

    # Places of the items in the order.
    places: Sequence[int]
    problem: SharingProblem
    labs: Sequence[int]
    is_exact: bool


def route(
    items: Sequence[PrintItem],
    candidates: Collection[Candidate],
    *,
    method: ShippingMethod,
    promise: date,
    needs_tracking: bool = False,
    prefers_tracking: bool = False,
    without: Set[str] = frozenset(),
    most_steps: int = MOST_STEPS,
) -> Routing:
    """Choose labs and services for all items, so that the last day of arrival is promised.

    Labs in `without` have refused the order and are left out. Services of other methods than the
    one asked for are used only if the order cannot be sent without them, and such a plan does not
    meet the promise. Untracked services are never used where tracking is needed; where it is
    preferred, only for bands that cannot wholly be sent with tracking.
    """
    opening = _open_preferring_tracked if prefers_tracking and not needs_tracking else _open_market
    tracked = frozenset(_list_bands(items) if needs_tracking or prefers_tracking else ())
    open_market = partial(opening, items, candidates, tracked=tracked, without=without)
    market = open_market(methods={method})
    fastest = market.find_fastest()
    is_as_asked = fastest is not None
    if fastest is None:
        market = open_market(methods=set(ShippingMethod))
        fastest = market.find_fastest()
    if fastest is None:
        return _refuse(market)
    deadline, order = max(promise, fastest), [item.id for item in items]
    shared = [_share(market, band, deadline, most_steps) for band in _list_bands(items)]
    packages = [package for part in shared for package in _pack(market, part)]
    packages.sort(key=lambda package: order.index(package.items[0]))
    plan = Plan(
        packages=tuple(packages),
        items_cost=sum(_sum_items(part) for part in shared),
        shipping_cost=sum(package.price for package in packages),
        promise=promise,
        method=method,
        meets_promise=is_as_asked and fastest <= promise,
        is_exact=all(part.is_exact for part in shared),
    )
    return Routed(plan, _judge(market, shared))


def _open_preferring_tracked(
    items: Sequence[PrintItem],
    candidates: Collection[Candidate],
    *,
    methods: Set[ShippingMethod],
    tracked: Set[str],
    without: Set[str],
) -> _Market:
    """Gather what may be chosen; bands that cannot wholly travel with tracking do without."""
    market = _open_market(items, candidates, methods=methods, tracked=tracked, without=without)
    lacking = {item.band for item, ways in zip(items, market.ways, strict=True) if not ways}
    if not lacking:
        return market
    return _open_market(
        items, candidates, methods=methods, tracked=tracked - lacking, without=without
    )


def _open_market(
    items: Sequence[PrintItem],
    candidates: Collection[Candidate],
    *,
    methods: Set[ShippingMethod],
    tracked: Set[str],
    without: Set[str],
) -> _Market:
    """Gather what may be chosen; bands in `tracked` travel with tracking or not at all."""
    labs = sorted(candidates, key=lambda lab: lab.code)
    services = {
        (n, band): tuple(
            service
            for service in sorted(lab.services, key=lambda service: service.code)
            if service.method in methods
            and band in service.prices
            and (service.is_tracked or band not in tracked)
        )
        for n, lab in enumerate(labs)
        for band in _list_bands(items)
    }
    market = _Market(items, labs, without, services, [])
    list_arrivals = cache(partial(_list_arrivals, market))
    return market._replace(ways=[_list_ways(market, item, list_arrivals) for item in items])


def _list_bands(items: Sequence[PrintItem]) -> list[str]:
    return list(dict.fromkeys(item.band for item in items))


def _list_ways(market: _Market, item: PrintItem, list_arrivals: _ListArrivals) -> dict[int, _Way]:
    ways = {}
    for n, lab in enumerate(market.labs):
        offer = lab.offers.get(item.id, _NOT_MADE)
        is_open = lab.paused is None and lab.code not in market.without
        if is_open and isinstance(offer, Offer) and market.services[n, item.band]:
            ways[n] = _Way(offer, list_arrivals(n, item.band, offer.dispatch))
    return ways


def _list_arrivals(market: _Market, lab: int, band: str, dispatch: Window) -> tuple[date, ...]:
    return tuple(
        find_arrival(dispatch, service.transit, service.calendar).latest
        for service in market.services[lab, band]
    )


def _share(market: _Market, band: str, deadline: date, most_steps: int) -> _Shared:
    places = [place for place, item in enumerate(market.items) if item.band == band]
    problem = SharingProblem(
        copies=[market.items[place].copies for place in places],
        choices=[_list_choices(market, place, deadline) for place in places],
        prices=[
            [service.prices[band] for service in market.services[n, band]]
            for n in range(len(market.labs))
        ],
    )
    labs, is_exact = solve(problem, most_steps=most_steps)
    return _Shared(places, problem, labs, is_exact)


def _list_choices(market: _Market, place: int, deadline: date) -> dict[int, LabChoice]:
    choices = {}
    for lab, way in market.ways[place].items():
        in_time = sum(1 << n for n, day in enumerate(way.arrivals) if day <= deadline)
        if in_time:
            choices[lab] = LabChoice(way.offer.cost * market.items[place].copies, in_time)
    return choices


def _sum_items(part: _Shared) -> int:
    return sum(
        choices[lab].cost for choices, lab in zip(part.problem.choices, part.labs, strict=True)
    )


def _pack(market: _Market, part: _Shared) -> Iterator[PlannedShipment]:
    for lab in sorted(set(part.labs)):
        members = [n for n, chosen in enumerate(part.labs) if chosen == lab]
        items = [market.items[part.places[n]] for n in members]
        offers = [market.ways[part.places[n]][lab].offer for n in members]
        copies, band = sum(item.copies for item in items), items[0].band
        in_time = reduce(and_, (part.problem.choices[n][lab].services for n in members))
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
            price=service.prices[band].price_for(copies),
            dispatch=dispatch,
            arrival=find_arrival(dispatch, service.transit, service.calendar),
        )


class _Judgement(NamedTuple):
    """A verdict without its items, so that those with the same one can be told together."""

    finding: LabFinding
    reason: str | None = None
    arrives_by: date | None = None
    extra_cost: int | None = None


_Judge = Callable[[int, int], _Judgement]


def _refuse(market: _Market) -> Unroutable:
    places = [place for place, ways in enumerate(market.ways) if not ways]
    items = tuple(market.items[place].id for place in places)
    return Unroutable(
        items, _gather(market, places, lambda place, lab: _exclude(market, place, lab))
    )


def _judge(market: _Market, shared: Sequence[_Shared]) -> tuple[LabVerdict, ...]:
    compare: dict[int, Callable[[int, int], _Judgement | None]] = {}
    for part in shared:
        compare |= dict.fromkeys(part.places, _compare(part))

    def judge(place: int, lab: int) -> _Judgement:
        way = market.ways[place].get(lab)
        if way is None:
            return _exclude(market, place, lab)
        return compare[place](place, lab) or _Judgement(
            LabFinding.TOO_LATE, arrives_by=min(way.arrivals)
        )

    return _gather(market, range(len(market.items)), judge)


def _exclude(market: _Market, place: int, lab: int) -> _Judgement:
    """Say why a lab cannot be used for an item at all."""
    candidate = market.labs[lab]
    offer = candidate.offers.get(market.items[place].id, _NOT_MADE)
    if isinstance(offer, CannotMake):
        return _Judgement(LabFinding.CANNOT_MAKE, reason=offer.reason)
    if candidate.code in market.without:
        return _Judgement(LabFinding.LEFT_OUT)
    if candidate.paused is not None:
        return _Judgement(LabFinding.PAUSED, reason=candidate.paused)
    return _Judgement(LabFinding.NO_SERVICE)


def _compare(part: _Shared) -> Callable[[int, int], _Judgement | None]:
    """Say of labs that were in time whether they were chosen, or how much dearer they are."""
    sharing = Sharing(Costs(part.problem, breaks_ties=False), part.labs)
    index = {place: n for n, place in enumerate(part.places)}
    together = cache(sharing.extra_together)

    def compare(place: int, lab: int) -> _Judgement | None:
        n = index[place]
        if lab not in part.problem.choices[n]:
            return None
        if part.labs[n] == lab:
            return _Judgement(LabFinding.CHOSEN)
        extra = min(sharing.extra_alone(n, lab), together(part.labs[n], lab))
        return _Judgement(LabFinding.DEARER, extra_cost=extra)

    return compare


def _gather(market: _Market, places: Collection[int], judge: _Judge) -> tuple[LabVerdict, ...]:
    verdicts = []
    for lab, candidate in enumerate(market.labs):
        alike: dict[_Judgement, list[int]] = {}
        for place in places:
            alike.setdefault(judge(place, lab), []).append(market.items[place].id)
        verdicts += [
            LabVerdict(lab=candidate.code, items=tuple(items), **judgement._asdict())
            for judgement, items in alike.items()
        ]
    return tuple(verdicts)
