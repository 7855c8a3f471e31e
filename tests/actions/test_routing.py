"""Routing with the catalogue that is built in, against trying everything from its own numbers."""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product as combine
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from printworks.actions.production.routing import FINE, RoutingTerms, route_order
from printworks.catalogue.labs import Lab
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency, Product
from printworks.catalogue.public_holidays import find_delivery_calendar
from printworks.catalogue.services import Service
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.model import Plan, PlannedShipment, Routed
from printworks.store.images.images import Image
from printworks.store.orders.orders import Order
from tests.factories import NOON

ORDERS: Final = 2000
PARTS: Final = 8
DAY: Final = timedelta(days=1)
WEEKEND: Final = (5, 6)

PRINT: Final = "GLOBAL-PHO-4X6-PRO"
MUG: Final = "MUG-10OZ-WHITE"
CANVAS: Final = "EU-CAN-8X10"
FRAME: Final = "EU-FRA-EMA-12X12"


class Line(NamedTuple):
    """So many copies of a product."""

    image: int
    product: Product
    copies: int


class Question(NamedTuple):
    """An order, and the moment and the state of the world in which it is submitted."""

    lines: Sequence[Line]
    country: str
    method: ShippingMethod
    currency: Currency
    now: datetime
    backlog: Mapping[str, int]
    print_country: str | None = None


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The catalogue that is built in."""
    return open_catalogue(None)


def find_plan(question: Question, catalogue: Catalogue, **values: Any) -> Plan:
    """Have it routed."""
    routing = route_order(
        an_order(question),
        [an_image(line) for line in question.lines],
        RoutingTerms(
            catalogue=catalogue,
            currency=question.currency,
            now=question.now,
            backlog=question.backlog,
            **values,
        ),
    )
    assert isinstance(routing, Routed)
    return routing.plan


def an_order(question: Question) -> Order:
    """Make an order of which only matters where it goes and how."""
    given = dict.fromkeys(Order.__struct_fields__) | {
        "destination_country": question.country,
        "shipping_method": question.method,
        "is_tracked": False,
        "print_country": question.print_country,
    }
    return Order(**given)  # type: ignore[arg-type]


def an_image(line: Line) -> Image:
    """Make an image of which only matters what is made of it."""
    given = dict.fromkeys(Image.__struct_fields__) | {
        "id": line.image,
        "sku": line.product.sku,
        "copies": line.copies,
    }
    return Image(**given)  # type: ignore[arg-type]


def make_questions(catalogue: Catalogue, *, part: int) -> Iterator[Question]:
    """Make up small orders; the same every time."""
    chance = random.Random(part)
    countries = sorted({country for _, country in catalogue.promises})
    sold = {country: catalogue.list_sold_to(country) for country in countries}
    for _ in range(ORDERS // PARTS):
        # Half of all orders go where most of the labs are.
        country = chance.choice([chance.choice(countries), chance.choice(["GB", "DE", "FR", "US"])])
        if not sold[country]:
            continue
        yield Question(
            lines=[
                Line(number, chance.choice(sold[country]), chance.choice([1, 1, 2, 5, 30]))
                for number in range(1, chance.randint(1, 4) + 1)
            ],
            country=country,
            method=chance.choice(list(ShippingMethod)),
            currency=chance.choice(list(catalogue.currencies)),
            now=NOON + chance.random() * 60 * DAY,
            backlog={
                lab.code: chance.choice([0, 0, 1, 3]) * chance.randint(0, lab.capacity)
                for lab in catalogue.labs
            },
            print_country=chance.choice([None, country, "GB", "DE", "US"]),
        )


class World:
    """What each lab could do for one question, reckoned from the catalogue alone."""

    def __init__(self, question: Question, catalogue: Catalogue) -> None:
        self.question = question
        self.catalogue = catalogue
        self._leaves: dict[tuple[str, str], date] = {}
        self._sent: dict[tuple[Any, ...], list[tuple[date, int]]] = {}
        self._tracked = {any_method: self.find_tracked(any_method) for any_method in (False, True)}

    def find_tracked(self, any_method: bool) -> set[str]:
        """Return the bands that are paid for with tracking, and of which all can be sent so."""
        question = self.question
        bands = {line.product.shipping_band for line in question.lines}
        rates = self.catalogue.tariff.rates
        paid = {
            band
            for band in bands
            if all(r.is_tracked for r in rates[question.country, band, question.method])
        }
        self._tracked = {any_method: set()}
        for line in question.lines:
            services = [
                service
                for lab in self.makers(line)
                for service in self.services(lab, line.product.shipping_band, any_method=any_method)
            ]
            if not any(service.tracked for service in services):
                paid.discard(line.product.shipping_band)
        return paid

    def promise(self) -> date:
        """Return the last day that keeps the promise."""
        promise = self.catalogue.promises[self.question.method, self.question.country]
        # The day after is the first that counts, if it is no weekend.
        tomorrow = self.question.now.date() + timedelta(days=1)
        return count_on(tomorrow, promise.days - 1, WEEKEND, frozenset())

    def makers(self, line: Line) -> list[Lab]:
        """List the labs that make this."""
        return [lab for lab in self.catalogue.labs if lab.can_make(line.product) and not lab.paused]

    def at_home(self, line: Line, *, any_method: bool) -> list[Lab]:
        """List the labs of the print country that send this in time, as it was asked for."""
        question, band = self.question, line.product.shipping_band
        return [
            lab
            for lab in self.makers(line)
            if lab.country == question.print_country
            and any(
                question.method in service.methods
                and self.arrives(self.leaves(lab, line), service) <= self.promise()
                for service in self.services(lab, band, any_method=any_method)
            )
        ]

    def preferred(self, line: Line, *, any_method: bool) -> list[Lab]:
        """List the labs that may make this: those at home if there are any."""
        return self.at_home(line, any_method=any_method) or self.makers(line)

    def cost(self, lab: Lab, line: Line) -> Fraction:
        """Return what the copies cost, in the currency of the merchant, exactly."""
        cost = lab.find_cost(line.product, line.copies)
        assert cost is not None
        return self.catalogue.convert(cost, lab.currency, to=self.question.currency)

    def leaves(self, lab: Lab, line: Line) -> date:
        """Return when it has been made."""
        key = (lab.code, line.product.sku)
        if key not in self._leaves:
            days = lab.makes[line.product.sku].production_days
            days += self.question.backlog[lab.code] // lab.capacity
            local = self.question.now.astimezone(ZoneInfo(lab.time_zone))
            first = local.date() if local.time() < lab.cut_off else local.date() + DAY
            closed = tuple(day for day in range(7) if day not in lab.working_days)
            self._leaves[key] = count_on(first, days, closed, lab.holidays)
        return self._leaves[key]

    def sent(self, lab: Lab, lines: Sequence[Line], *, any_method: bool) -> list[tuple[date, int]]:
        """List when a package could arrive, and what that costs."""
        key = (lab.code, any_method, *(line.image for line in lines))
        if key not in self._sent:
            leaves = max(self.leaves(lab, line) for line in lines)
            self._sent[key] = [
                (self.arrives(leaves, service), price)
                for service in self.services(
                    lab, lines[0].product.shipping_band, any_method=any_method
                )
                if (price := self.price(service, lines)) is not None
            ]
        return self._sent[key]

    def arrives(self, leaves: date, service: Service) -> date:
        """Return the last day on which a parcel arrives."""
        holidays = find_delivery_calendar(self.question.country, self.question.now.year).holidays
        left = count_on(leaves, 0, WEEKEND, frozenset())
        return count_on(left + DAY, service.max_transit_days - 1, WEEKEND, holidays)

    def services(self, lab: Lab, band: str, *, any_method: bool) -> list[Service]:
        """List the services that take a band there from a lab."""
        return [
            service
            for service in self.catalogue.services
            if lab.code in service.labs
            and band in service.bands
            and (service.tracked or band not in self._tracked[any_method])
            and self.question.country in service.countries
            and (any_method or self.question.method in service.methods)
        ]

    def price(self, service: Service, lines: Sequence[Line]) -> int | None:
        """Return what a package costs; None if it is not carried."""
        copies = sum(line.copies for line in lines)
        return service.find_cost(lines[0].product.shipping_band, copies, self.question.currency)

    def fastest(self, *, any_method: bool) -> date | None:
        """Return when everything can have arrived; None if something cannot be sent at all."""
        days = []
        for line in self.question.lines:
            ways = [
                day
                for lab in self.makers(line)
                for day, _ in self.sent(lab, [line], any_method=any_method)
            ]
            if not ways:
                return None
            days.append(min(ways))
        return max(days)

    def least(self) -> tuple[Fraction, bool]:
        """Return the least total there is, and whether it keeps the promise."""
        any_method = False
        fastest = self.fastest(any_method=False)
        if fastest is None:
            any_method, fastest = True, self.fastest(any_method=True)
        assert fastest is not None
        deadline = max(self.promise(), fastest)
        total = Fraction(0)
        for band in {line.product.shipping_band for line in self.question.lines}:
            lines = [line for line in self.question.lines if line.product.shipping_band == band]
            costs = (
                self.total(lines, labs, deadline, any_method=any_method)
                for labs in combine(
                    *(self.preferred(line, any_method=any_method) for line in lines)
                )
            )
            total += min(cost for cost in costs if cost is not None)
        return total, fastest <= self.promise() and not any_method

    def total(
        self, lines: Sequence[Line], labs: Sequence[Lab], deadline: date, *, any_method: bool
    ) -> Fraction | None:
        """Return what it costs to have lines of one band made by these labs; None if too late."""
        packages: dict[str, list[Line]] = {}
        total = Fraction(0)
        for line, lab in zip(lines, labs, strict=True):
            packages.setdefault(lab.code, []).append(line)
            total += self.cost(lab, line)
        for code, packed in packages.items():
            lab = self.catalogue.get_lab(code)
            ways = self.sent(lab, packed, any_method=any_method)
            prices = [price for day, price in ways if day <= deadline]
            if not prices:
                return None
            total += min(prices)
        return total

    def total_of(self, plan: Plan) -> Fraction:
        """Return what a plan costs, by the numbers of the catalogue."""
        services = {service.code: service for service in self.catalogue.services}
        total = Fraction(0)
        for package in plan.shipments:
            lab, lines = self.catalogue.get_lab(package.lab), self.lines_of(package)
            service = services[package.service]
            price = self.price(service, lines)
            assert price is not None
            assert service in self.services(lab, package.band, any_method=True)
            assert package.shipping_cost == FINE * price
            assert package.arrival.latest == self.arrives(
                max(self.leaves(lab, line) for line in lines), service
            )
            total += price + sum(self.cost(lab, line) for line in lines)
        return total

    def lines_of(self, package: PlannedShipment) -> list[Line]:
        """Return what is in a package."""
        return [line for line in self.question.lines if line.image in package.items]


def count_on(first: date, days: int, closed: Sequence[int], holidays: frozenset[date]) -> date:
    """Return the day so many open days later; counting begins on the first open one."""
    day, left = first, days
    while True:
        if day.weekday() not in closed and day not in holidays:
            if left == 0:
                return day
            left -= 1
        day += DAY


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_plan_is_cheaper_than_the_one_that_is_found(catalogue: Catalogue, part: int) -> None:
    kept, split, asked, at_home = 0, 0, 0, 0
    for question in make_questions(catalogue, part=part):
        world = World(question, catalogue)

        plan = find_plan(question, catalogue)

        least, keeps_promise = world.least()
        copies = sum(line.copies for line in question.lines)
        # The cost of each copy is rounded to a thousandth of a penny.
        assert abs(world.total_of(plan) - least) <= Fraction(copies, FINE), question
        assert abs(Fraction(plan.total, FINE) - least) <= Fraction(copies, FINE), question
        assert plan.meets_promise == keeps_promise, question
        assert plan.promise == world.promise()
        assert sorted(plan.labs) == [line.image for line in question.lines]
        assert plan.is_exact
        for line in question.lines:
            is_at_home = catalogue.get_lab(plan.labs[line.image]).country == question.print_country
            could_be = bool(world.at_home(line, any_method=False))
            assert is_at_home >= could_be, question
            elsewhere = line.image in plan.printed_elsewhere
            assert elsewhere == (question.print_country is not None and not is_at_home)
            at_home += could_be
        asked += 1
        kept += keeps_promise
        split += len({package.lab for package in plan.shipments}) > 1
    # Else this would not say much.
    assert asked > 0.9 * ORDERS / PARTS
    assert 0 < kept < asked
    assert split > asked / 50
    assert at_home > asked / 10


def question_for(catalogue: Catalogue, country: str, *skus: str) -> Question:
    """Ask for one copy of each, at noon, when no lab has anything to do."""
    return Question(
        lines=[Line(n, catalogue.get_product(sku), 1) for n, sku in enumerate(skus, start=1)],
        country=country,
        method=ShippingMethod.STANDARD,
        currency=Currency.GBP,
        now=NOON,
        backlog={lab.code: 0 for lab in catalogue.labs},
    )


def test_a_mixed_order_is_split_where_no_lab_makes_all_of_it(catalogue: Catalogue) -> None:
    question = question_for(catalogue, "GB", PRINT, MUG, CANVAS, FRAME)
    everything = [line.product for line in question.lines]
    assert not any(
        all(lab.can_make(product) for product in everything)
        and catalogue.list_services(lab.code, "GB")
        for lab in catalogue.labs
    )

    plan = find_plan(question, catalogue)

    assert len(set(plan.labs.values())) > 1
    assert sorted(plan.labs) == [1, 2, 3, 4]
    for line in question.lines:
        assert catalogue.get_lab(plan.labs[line.image]).can_make(line.product)


def test_items_of_different_bands_travel_apart_even_from_one_lab(catalogue: Catalogue) -> None:
    question = question_for(catalogue, "GB", PRINT, CANVAS)

    plan = find_plan(question, catalogue, without={"gb-bristol", "de-leipzig"})

    assert set(plan.labs.values()) == {"gb-leeds"}
    assert len(plan.shipments) == 2


def test_a_lab_that_is_left_out_is_not_chosen(catalogue: Catalogue) -> None:
    question = question_for(catalogue, "GB", PRINT)
    usual = find_plan(question, catalogue).labs[1]

    assert find_plan(question, catalogue, without={usual}).labs[1] != usual


@pytest.mark.parametrize(
    ("country", "copies"), [(None, 1), ("GB", 0)], ids=["nowhere to send it", "nothing to send"]
)
def test_there_is_nothing_to_route_yet(
    catalogue: Catalogue, country: str | None, copies: int
) -> None:
    question = question_for(catalogue, "GB", PRINT)
    lines = [line._replace(copies=copies) for line in question.lines]

    routing = route_order(
        an_order(question._replace(country=country)),  # type: ignore[arg-type]
        [an_image(line) for line in lines],
        RoutingTerms(catalogue=catalogue, currency=Currency.GBP, now=NOON),
    )

    assert routing is None
