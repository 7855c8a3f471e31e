"""What is sold, who makes it, and how it travels: the catalogue as it is in use."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.country_names import name_country
from printworks.catalogue.labs import Lab, Making
from printworks.catalogue.products import Currency, Product
from printworks.catalogue.services import Service
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.console.catalogue.lab_hours import describe_hours, list_holidays
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.shared.products import find_products
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import NotFound
from printworks.store.orders.shipments import count_backlog

_ROWS: Final = 25


class KindOfProducts(msgspec.Struct, frozen=True):
    """What a lab makes of one kind."""

    kind: str
    products: int
    # The least and the most: cost of a copy in minor units, and working days.
    cost: tuple[int, int]
    days: tuple[int, int]


class LabLine(msgspec.Struct, frozen=True):
    """What a list shows of a lab."""

    lab: Lab
    country: str
    kinds: list[str]
    services: int
    # Copies that it still has to make.
    backlog: int


@page_at("/console/catalogue")
def show_catalogue(visit: ConsoleVisit) -> Response:
    """Show what is sold, a page at a time."""
    catalogue = visit.services.catalogue
    text = visit.search_text
    kind, country = visit.query.get("kind", ""), visit.query.get("country", "").upper()
    found = find_products(catalogue.products, text=text, kind=kind, country=country)
    begin = min(visit.cursor("from") or 0, len(found))
    return visit.render(
        "console/catalogue.html",
        catalogue=catalogue,
        products=found[begin : begin + _ROWS],
        text=text,
        kind=kind,
        country=country if country in COUNTRIES else "",
        countries=COUNTRY_CHOICES,
        begin=begin,
        total=len(found),
        before=visit.here(**{"from": max(0, begin - _ROWS) or None}) if begin else "",
        after=visit.here(**{"from": begin + _ROWS}) if begin + _ROWS < len(found) else "",
    )


@page_at("/console/catalogue/{sku}")
def show_product(visit: ConsoleVisit) -> Response:
    """Show everything about a product, and who makes it."""
    catalogue = visit.services.catalogue
    product = catalogue.find_product(str(visit.request.path_params["sku"]))
    if product is None:
        raise NotFound("There is no such product.")
    return visit.render(
        "console/product.html",
        product=product,
        currencies=catalogue.currencies,
        labs=[(lab, lab.makes[product.sku]) for lab in catalogue.labs if lab.can_make(product)],
        sold_to=sorted(map(name_country, product.sold_to), key=str.casefold),
        is_sold_everywhere=len(product.sold_to) == len(COUNTRIES),
        exceptions=_list_exceptions(product),
    )


def _list_exceptions(product: Product) -> list[tuple[str, Currency, int]]:
    prices = product.prices_by_country.items()
    named = [(name_country(code), currency, price) for (currency, code), price in prices]
    return sorted(named)


@page_at("/console/labs")
def show_labs(visit: ConsoleVisit) -> Response:
    """Show the labs: where they are, what they make and when they work."""
    catalogue = visit.services.catalogue
    backlog = count_backlog(visit.db)
    return visit.render(
        "console/labs.html", labs=[_describe(lab, catalogue, backlog) for lab in catalogue.labs]
    )


def _describe(lab: Lab, catalogue: Catalogue, backlog: Mapping[str, int]) -> LabLine:
    made = {product.kind for product in catalogue.products if lab.can_make(product)}
    return LabLine(
        lab=lab,
        country=name_country(lab.country),
        kinds=[kind for kind in catalogue.kinds if kind in made],
        services=sum(lab.code in service.labs for service in catalogue.services),
        backlog=backlog.get(lab.code, 0),
    )


@page_at("/console/labs/{code}")
def show_lab(visit: ConsoleVisit) -> Response:
    """Show everything about a lab: its hours, what it makes, and how that leaves."""
    catalogue = visit.services.catalogue
    lab = catalogue.get_lab(str(visit.request.path_params["code"]))
    services = [service for service in catalogue.services if lab.code in service.labs]
    currency = _read_currency(visit, catalogue)
    return visit.render(
        "console/lab.html",
        line=_describe(lab, catalogue, count_backlog(visit.db)),
        hours=describe_hours(lab, now=visit.real_now),
        holidays=list_holidays(lab, now=visit.real_now),
        kinds=group_by_kind(lab, catalogue),
        services=[(service, _list_destinations(service)) for service in services],
        currency=currency,
        currencies=catalogue.currencies,
    )


def group_by_kind(lab: Lab, catalogue: Catalogue) -> list[KindOfProducts]:
    """Return what a lab makes, kind by kind."""
    kinds: dict[str, list[Making]] = {}
    for product in catalogue.products:
        if lab.can_make(product):
            kinds.setdefault(product.kind, []).append(lab.makes[product.sku])
    return [
        KindOfProducts(
            kind=kind,
            products=len(kinds[kind]),
            cost=_span(making.cost for making in kinds[kind]),
            days=_span(making.production_days for making in kinds[kind]),
        )
        for kind in catalogue.kinds
        if kind in kinds
    ]


def _span(numbers: Iterable[int]) -> tuple[int, int]:
    listed = list(numbers)
    return min(listed), max(listed)


def _list_destinations(service: Service) -> list[str]:
    return sorted(map(name_country, service.countries), key=str.casefold)


def _read_currency(visit: ConsoleVisit, catalogue: Catalogue) -> Currency:
    wanted = visit.query.get("currency", "")
    return next((one for one in catalogue.currencies if one == wanted), catalogue.currencies[0])
