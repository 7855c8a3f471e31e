"""Try out routing: which labs would make an order, at what cost, by when, and why.

Nothing is ordered. The question is in the address, so that a link to it can be shared.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.production.routing import (
    FINE,
    DeliveryTerms,
    RoutedProduct,
    RoutingTerms,
    price_shipping,
    route_products,
)
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.country_names import name_country
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.shared.order_routing import write_for_operators
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.explaining import explain
from printworks.rules.routing.model import LabFinding, PlannedShipment, Routed, Routing
from printworks.store.orders.shipments import count_backlog

_LINES: Final = 5
_MOST_COPIES: Final = 10_000
_FIELD_FORMAT: Final = "%Y-%m-%dT%H:%M"
# The calendar of a lab ends somewhere, and so does that of Python.
_EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)


class RoutingLine(msgspec.Struct, frozen=True):
    """One line of the question, as it was typed, and what is wrong with it."""

    number: int
    sku: str
    copies: str
    wanted: RoutedProduct | None = None
    problem: str = ""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A hypothetical order."""

    delivery: DeliveryTerms
    currency: Currency
    at: datetime
    lines: Sequence[RoutingLine]
    with_backlog: bool

    @property
    def wanted(self) -> list[RoutedProduct]:
        """What can be routed."""
        return [line.wanted for line in self.lines if line.wanted]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the lines."""
        return [line.problem for line in self.lines if line.problem]

    @property
    def timestamp(self) -> str:
        """The time as a field shows it."""
        return self.at.strftime(_FIELD_FORMAT)


class RoutingAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The routing of a hypothetical order, ready to be shown."""

    packages: Sequence[PlannedShipment]
    # In minor units: what the merchant pays for items and shipping, and what both cost us.
    items_price: int
    shipping_price: int
    items_cost: int
    shipping_cost: int
    # The plan in sentences, and why each other lab was not chosen.
    told: Sequence[str]
    others: Sequence[str]
    is_routed: bool
    meets_promise: bool


@page_at("/console/routing")
def show_routing(visit: ConsoleVisit) -> Response:
    """Show the question and, if there is one, the answer."""
    catalogue = visit.services.catalogue
    question = read_question(visit, catalogue)
    answer = None
    if question.wanted and not question.problems:
        backlog = count_backlog(visit.db) if question.with_backlog else {}
        terms = RoutingTerms(
            catalogue=catalogue, currency=question.currency, now=question.at, backlog=backlog
        )
        routing = route_products(question.wanted, terms, question.delivery)
        answer = describe_answer(question, routing, catalogue)
    return visit.render(
        "console/routing.html",
        question=question,
        answer=answer,
        catalogue=catalogue,
        countries=COUNTRY_CHOICES,
        country_name=name_country(question.delivery.country),
        methods=list(ShippingMethod),
        fine=FINE,
        words=write_for_operators(catalogue, question.currency),
    )


def read_question(visit: ConsoleVisit, catalogue: Catalogue) -> Question:
    """Return what was asked; invalid values become the defaults."""
    query = visit.query
    country = query.get("country", "").upper()
    country = country if country in COUNTRIES else "GB"
    methods = {method.value: method for method in ShippingMethod}
    currencies = {currency.value: currency for currency in catalogue.currencies}
    currency = currencies.get(query.get("currency", ""), catalogue.currencies[0])
    print_country = query.get("print", "").upper()
    return Question(
        delivery=DeliveryTerms(
            country,
            methods.get(query.get("method", ""), ShippingMethod.STANDARD),
            query.get("tracked") == "yes",
            print_country if print_country in COUNTRIES else None,
        ),
        currency=currency,
        at=read_timestamp(query.get("at", "")) or visit.real_now,
        lines=[
            read_line(_read_typed(visit, number), catalogue, country=country, currency=currency)
            for number in range(1, _LINES + 1)
        ],
        with_backlog=query.get("backlog", "yes") != "no",
    )


def _read_typed(visit: ConsoleVisit, number: int) -> RoutingLine:
    sku = visit.query.get(f"sku{number}", "").strip()[:100]
    return RoutingLine(number, sku, visit.query.get(f"copies{number}", "").strip()[:10])


def read_timestamp(text: str) -> datetime | None:
    """Return the time of a field, in UTC; None if it is invalid or out of range."""
    try:
        at = datetime.strptime(text, _FIELD_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
    return at if _EARLIEST <= at <= _LATEST else None


def read_line(
    typed: RoutingLine, catalogue: Catalogue, *, country: str, currency: Currency
) -> RoutingLine:
    """Return one line of the question with what it asks for; an empty one asks for nothing."""
    if not typed.sku:
        return typed

    def refuse(problem: str) -> RoutingLine:
        return msgspec.structs.replace(typed, problem=f"Line {typed.number}: {problem}")

    product = catalogue.find_product(typed.sku)
    if product is None:
        return refuse(f"there is no product {typed.sku}.")
    if not product.is_sold_to(country):
        return refuse(f"{product.sku} is not sold to {name_country(country)}.")
    if product.find_price(currency, country=country) is None:
        return refuse(f"{product.sku} has no price in {currency}.")
    digits = typed.copies or "1"
    copies = read_number(digits)
    if copies is None or not 1 <= copies <= _MOST_COPIES:
        return refuse(f"copies must be a number from 1 to {_MOST_COPIES:,}.")
    wanted = RoutedProduct(typed.number, product, copies)
    return RoutingLine(typed.number, product.sku, digits, wanted)


def describe_answer(question: Question, routing: Routing, catalogue: Catalogue) -> RoutingAnswer:
    """Return the sentences and amounts that describe a routing."""
    words = write_for_operators(catalogue, question.currency)
    # Labs that could have made it come first.
    by_interest = sorted(routing.verdicts, key=lambda one: one.finding is LabFinding.CANNOT_MAKE)
    sentences = explain(msgspec.structs.replace(routing, verdicts=tuple(by_interest)), words)
    # The plan comes first, then the labs that were not chosen.
    plan_alone = explain(msgspec.structs.replace(routing, verdicts=()), words)
    plan = routing.plan if isinstance(routing, Routed) else None
    prices = [
        (one.product.find_price(question.currency, country=question.delivery.country) or 0)
        * one.copies
        for one in question.wanted
    ]
    return RoutingAnswer(
        packages=plan.shipments if plan else (),
        items_price=sum(prices),
        shipping_price=price_shipping(
            question.wanted, catalogue, question.delivery, question.currency
        ),
        items_cost=round(plan.items_cost / FINE) if plan else 0,
        shipping_cost=round(plan.shipping_cost / FINE) if plan else 0,
        told=plan_alone,
        others=sentences[len(plan_alone) :],
        is_routed=plan is not None,
        meets_promise=plan is not None and plan.meets_promise,
    )
