"""`printworks catalogue`: what is sold, made and sent, and whether your own folder is right."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.labs import MONDAY_TO_FRIDAY, Lab
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.products import Currency, Product, QualityLevel, find_turned_pictures
from printworks.catalogue.promises import find_equal_promises
from printworks.catalogue.services import Service, StepPrice
from printworks.catalogue.snapshot import Catalogue
from printworks.catalogue.tariff import ShippingRate
from printworks.catalogue.values import DAYS
from printworks.cli import catalogue_versions
from printworks.cli.output import Columns, Members, align, pick
from printworks.cli.session import CommandSession, command
from printworks.errors import NotFound
from printworks.rules.orders import ShippingMethod

Choice = TypeVar("Choice", bound=StrEnum)

app = typer.Typer(no_args_is_help=True)


@command(app, "check")
def check(
    session: CommandSession,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="The folder; by default the one that is in use."),
    ] = None,
) -> None:
    """Read a catalogue and report everything that is wrong with it, by file and line."""
    try:
        found = Catalogue.load(folder) if folder else _load(session)
    except BadCatalogue as error:
        number = len(error.problems)
        session.show(
            {"products": None, "problems": [problem._asdict() for problem in error.problems]},
            *map(str, error.problems),
            "1 problem." if number == 1 else f"{number} problems.",
        )
        raise typer.Exit(1) from error
    warnings = [*find_equal_promises(found.promises), *find_turned_pictures(found.products)]
    products, labs, services = len(found.products), len(found.labs), len(found.services)
    countries = frozenset[str]().union(*(product.sold_to for product in found.products))
    session.show(
        {
            "products": products,
            "labs": labs,
            "services": services,
            "problems": [],
            "warnings": warnings,
        },
        f"The catalogue is valid: {products} products of {len(found.kinds)} kinds, "
        f"sold to {len(countries)} countries, priced in {', '.join(found.currencies)}; "
        f"{labs} labs, {services} shipping services.",
        *(f"Warning: {sentence}" for sentence in warnings),
    )


@command(app, "list")
def list_products(
    session: CommandSession,
    *,
    country: Annotated[
        str | None, typer.Option(metavar="GB", help="Only what is sold to this country.")
    ] = None,
    quality: Annotated[
        str | None, typer.Option(metavar="Pro|Standard", help="Only this quality level.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind, such as `canvas`.")] = None,
) -> None:
    """List what is sold; prices are those of the country, or the usual ones without it."""
    catalogue = _load(session)
    at = _read_country(country) if country else None
    level = _read_choice(QualityLevel, quality, "QualityLevel {} not found") if quality else None
    if kind is not None and kind not in catalogue.kinds:
        raise NotFound(f"There is no kind {kind!r}; there are {', '.join(catalogue.kinds)}.")
    found = {
        product.sku: product
        for product in (catalogue.list_sold_to(at) if at else catalogue.products)
        if (level is None or level in product.quality_levels) and kind in (None, product.kind)
    }
    columns: Columns = {
        "sku": "sku",
        "type": "type",
        "quality": "qualityLevels",
        "description": "description",
        "band": "shippingBand",
        **{
            currency: partial(_write_price, found, currency, at)
            for currency in catalogue.currencies
        },
    }
    products = [_describe(product) for product in found.values()]
    session.show_list(products, columns, "There is no such product.")


def _write_price(
    products: Mapping[str, Product], currency: Currency, country: str | None, row: Members
) -> str:
    product = products[row["sku"]]
    if country is None:
        price = product.base_prices.get(currency)
    else:
        price = product.find_price(currency, country=country)
    return "" if price is None else f"{price / 100:7.2f}"


@command(app, "show")
def show(
    session: CommandSession,
    sku: Annotated[str, typer.Argument(help="The product's sku, in capitals or not.")],
) -> None:
    """Show everything about a product."""
    catalogue = _load(session)
    product = catalogue.find_product(sku)
    if product is None:
        raise NotFound(f"SKU not in catalogue: {sku}{suggest(sku, catalogue)}")
    facts = _describe(product)
    is_sold_everywhere = len(facts["soldTo"]) == len(COUNTRIES)
    session.show(facts, *align({**facts, "soldTo": "everywhere"} if is_sold_everywhere else facts))


@command(app, "labs")
def list_labs(session: CommandSession) -> None:
    """List the labs: where they are, what they make and when they work."""
    catalogue = _load(session)
    columns: Columns = {
        "code": "code",
        "name": "name",
        "country": "country",
        "costs in": "currency",
        "makes": lambda lab: f"{lab['products']}: {', '.join(lab['kinds'])}",
        "cut-off": lambda lab: f"{lab['cutOff']} {lab['timeZone']}",
        "days": lambda lab: _write_days(lab["workingDays"]),
        "a day": "capacity",
        "": lambda lab: "paused" if lab["paused"] else "",
    }
    found = [_describe_lab(lab, catalogue) for lab in catalogue.labs]
    session.show_list(found, columns, "There is no lab.")


@command(app, "services")
def list_services(
    session: CommandSession,
    *,
    country: Annotated[str, typer.Option(metavar="GB", help="The country of the addressee.")],
    method: Annotated[
        str | None, typer.Option(metavar="Standard", help="Only this shipping method.")
    ] = None,
) -> None:
    """List the shipping services to a country; costs are for the first items of each band."""
    catalogue = _load(session)
    at = _read_country(country)
    unknown = f"There is no shipping method {{!r}}; there are {', '.join(ShippingMethod)}."
    wanted = _read_choice(ShippingMethod, method, unknown) if method else None
    found = [
        service
        for service in catalogue.services
        if service.goes_to(at) and wanted in (None, *service.methods)
    ]
    if session.is_json:
        session.show([_describe_service(service) for service in found])
        return
    currency = catalogue.currencies[0]
    facts = ("code", "name", "carrier", "labs", "methods", "days", "isTracked")
    headings = ("code", "name", "carrier", "from", "methods", "days", "tracked")
    columns: Columns = {**dict(zip(headings, facts, strict=True)), f"cost in {currency}": "cost"}
    rows = [row for service in found for row in _list_bands(service, currency)]
    session.show_list(rows, columns, "There is no such service.")


def _list_bands(service: Service, currency: Currency) -> Iterator[Members]:
    """Yield a row for each band, with the rest of the service on the first of them."""
    least, most = service.min_transit_days, service.max_transit_days
    facts = {**_describe_service(service), "days": least if least == most else f"{least}-{most}"}
    for band in service.bands:
        yield {**facts, "cost": f"{band} {_write_steps(service.costs[band, currency])}"}
        facts = dict.fromkeys(facts)


def _write_steps(price: StepPrice) -> str:
    return f"{price.first / 100:.2f} for {price.items}, then {price.further / 100:.2f}"


@command(app, "tariff")
def list_tariff(
    session: CommandSession,
    *,
    country: Annotated[str, typer.Option(metavar="GB", help="The country of the addressee.")],
) -> None:
    """List what merchants pay for shipping to a country."""
    catalogue = _load(session)
    rates = catalogue.tariff.list_rates(
        _read_country(country), catalogue.bands, list(ShippingMethod)
    )
    columns: Columns = {
        "band": "band",
        "method": "method",
        "tracked": "isTracked",
        "name": "name",
        **{each: partial(_find_price, each) for each in catalogue.currencies},
    }
    session.show_list([_describe_rate(rate) for rate in rates], columns, "There is no price.")


def _find_price(currency: Currency, row: Members) -> str:
    [found] = [price for price in row["prices"] if price["currency"] == currency]
    return _write_steps(StepPrice(found["items"], found["first"], found["further"]))


def _load(session: CommandSession) -> Catalogue:
    """Return the catalogue in use: a published version or, before there is one, that of the settings."""
    if session.has_database:
        return session.services.catalogue
    return open_catalogue(session.settings.catalogue)


def _read_country(code: str) -> str:
    if code.upper() not in COUNTRIES:
        raise NotFound(f"Country with code {code} not found")
    return code.upper()


def _read_choice(choices: type[Choice], name: str, unknown: str) -> Choice:
    """Return a choice by its name, in capitals or not."""
    for choice in choices:
        if choice.casefold() == name.casefold():
            return choice
    raise NotFound(unknown.format(name))


def suggest(sku: str, catalogue: Catalogue) -> str:
    """Return the end of a sentence about an unknown sku, with similar ones if there are any."""
    close = get_close_matches(sku.upper(), [product.sku for product in catalogue.products], n=3)
    return f"; did you mean {' or '.join(close)}?" if close else "."


def _describe(product: Product) -> dict[str, Any]:
    return {
        "sku": product.sku,
        "type": product.type_name,
        **pick(product, "quality_levels", "description", "kind"),
        "imageSize": str(product.image_size),
        "fullSize": str(product.full_size),
        "units": product.units,
        "mayTurn": product.may_turn,
        "recommendedPixels": str(product.recommended_pixels),
        "shippingBand": product.shipping_band,
        "mockup": product.mockup,
        "mockupColour": product.mockup_colour,
        "attributes": {choice.name: choice.valid_values for choice in product.attributes},
        "defaults": {one.name: one.default for one in product.attributes if one.default},
        "prices": dict(product.base_prices),
        "pricesByCountry": {
            f"{currency}-{country}": price
            for (currency, country), price in product.prices_by_country.items()
        },
        "soldTo": sorted(product.sold_to),
    }


def _write_days(days: list[str]) -> str:
    usual = [DAYS[day] for day in sorted(MONDAY_TO_FRIDAY)]
    return "mon-fri" if days == usual else " ".join(days)


def _describe_lab(lab: Lab, catalogue: Catalogue) -> dict[str, Any]:
    made = {product.kind for product in catalogue.products if lab.can_make(product)}
    return {
        **pick(lab, "code", "name", "country", "time_zone", "currency"),
        "kinds": [kind for kind in catalogue.kinds if kind in made],
        "products": len(lab.makes),
        "cutOff": f"{lab.cut_off:%H:%M}",
        "workingDays": [DAYS[day] for day in sorted(lab.working_days)],
        "holidays": sorted(lab.holidays),
        **pick(lab, "capacity", "paused", "can_cancel_until", "can_hold_until"),
        **pick(lab, "can_change_shipping_until", "packing_slips", "connector"),
    }


def _describe_service(service: Service) -> dict[str, Any]:
    return {
        **pick(service, "code", "name", "carrier", "labs", "methods"),
        **pick(service, "min_transit_days", "max_transit_days"),
        "isTracked": service.tracked,
        "costs": [
            {"band": band, "currency": currency, **pick(cost, "items", "first", "further")}
            for (band, currency), cost in service.costs.items()
        ],
    }


def _describe_rate(rate: ShippingRate) -> dict[str, Any]:
    return {
        **pick(rate, "band", "method", "is_tracked", "name"),
        "prices": [
            {"currency": currency, **pick(price, "items", "first", "further")}
            for currency, price in rate.steps.items()
        ],
    }


app.add_typer(catalogue_versions.app)
