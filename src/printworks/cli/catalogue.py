"""`printworks catalogue`: what is sold, made and sent, and whether your own folder is right."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from printworks.cli.options import Data, Json, load_settings, make_console, print_json

if TYPE_CHECKING:
    from printworks.catalogue.labs import Lab
    from printworks.catalogue.problems import BadCatalogue
    from printworks.catalogue.products import Product, QualityLevel
    from printworks.catalogue.services import Service
    from printworks.catalogue.snapshot import Catalogue
    from printworks.rules.orders import ShippingMethod

WIDEST: Final = 240

app = typer.Typer(
    help="The catalogue: check it, list it, look one up; labs and shipping too.",
    no_args_is_help=True,
)


@app.command()
def check(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="The folder; by default the one that is in use."),
    ] = None,
    *,
    data: Data = None,
    json: Json = False,
) -> None:
    """Read a catalogue and report everything that is wrong with it, by file and line."""
    from printworks.catalogue.problems import BadCatalogue
    from printworks.catalogue.snapshot import Catalogue

    try:
        found = Catalogue.load(folder) if folder else _load(context, data)
    except BadCatalogue as error:
        _report(error, json=json)
        raise typer.Exit(1) from error
    if json:
        numbers = {"labs": len(found.labs), "services": len(found.services)}
        print_json({"products": len(found.products), **numbers, "problems": []})
        return
    countries = frozenset[str]().union(*(product.sold_to for product in found.products))
    make_console().print(
        f"The catalogue is right: {len(found.products)} products of {len(found.kinds)} kinds, "
        f"sold to {len(countries)} countries, priced in {', '.join(found.currencies)}; "
        f"{len(found.labs)} labs, {len(found.services)} shipping services."
    )


@app.command("list")
def list_products(
    context: typer.Context,
    *,
    country: Annotated[
        str | None, typer.Option(metavar="GB", help="Only what is sold to this country.")
    ] = None,
    quality: Annotated[
        str | None, typer.Option(metavar="Pro|Standard", help="Only this quality level.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind, such as `canvas`.")] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """List what is sold; prices are those of the country, or the usual ones without it."""
    catalogue = _load(context, data)
    at = _read_country(country) if country else None
    level = _read_quality(quality) if quality else None
    if kind is not None:
        _check_kind(kind, catalogue)
    found = [
        product
        for product in (catalogue.list_sold_to(at) if at else catalogue.products)
        if (level is None or level in product.quality_levels) and kind in (None, product.kind)
    ]
    if json:
        print_json([_describe(product) for product in found])
    else:
        _print_table(found, catalogue, at)


@app.command()
def show(
    context: typer.Context,
    sku: Annotated[str, typer.Argument(help="The product's sku, in capitals or not.")],
    *,
    data: Data = None,
    json: Json = False,
) -> None:
    """Show everything about a product."""
    catalogue = _load(context, data)
    product = catalogue.find_product(sku)
    if product is None:
        from printworks.errors import NotFound

        raise NotFound(_explain_unknown(sku, catalogue))
    facts = _describe(product)
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        make_console().print(f"{name:<17} {_write(value)}")


@app.command()
def labs(context: typer.Context, *, data: Data = None, json: Json = False) -> None:
    """List the labs: where they are, what they make and when they work."""
    catalogue = _load(context, data)
    if json:
        print_json([_describe_lab(lab, catalogue) for lab in catalogue.labs])
        return
    headings = ("code", "name", "country", "costs in", "makes", "cut-off", "days", "a day", "")
    rows = [
        (
            lab.code,
            lab.name,
            lab.country,
            lab.currency,
            f"{len(lab.makes)}: {', '.join(_list_kinds(lab, catalogue))}",
            f"{lab.cut_off:%H:%M} {lab.time_zone}",
            _write_days(lab),
            str(lab.capacity),
            "paused" if lab.paused else "",
        )
        for lab in catalogue.labs
    ]
    _print_rows(headings, rows, "There is no lab.")


@app.command()
def services(
    context: typer.Context,
    *,
    country: Annotated[str, typer.Option(metavar="GB", help="Where parcels go to.")],
    method: Annotated[
        str | None, typer.Option(metavar="Standard", help="Only this shipping method.")
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """List the shipping services to a country; prices are for the first items of each band."""
    catalogue = _load(context, data)
    at = _read_country(country)
    wanted = _read_method(method) if method else None
    found = [
        service
        for service in catalogue.services
        if service.goes_to(at) and wanted in (None, *service.methods)
    ]
    if json:
        print_json([_describe_service(service) for service in found])
        return
    currency = catalogue.currencies[0]
    headings = ("code", "name", "carrier", "from", "methods", "days", "tracked", f"in {currency}")
    rows = []
    for service in found:
        # One line for each band, the rest of the service on the first of them.
        facts: tuple[str, ...] = (
            *(service.code, service.name, service.carrier, ", ".join(service.labs)),
            *(", ".join(service.methods), _write_transit(service)),
            "yes" if service.tracked else "no",
        )
        for band in service.bands:
            tariff = service.tariffs[band, currency]
            price = f"{band} {tariff.first / 100:.2f} for {tariff.items}"
            rows.append((*facts, f"{price}, then {tariff.further / 100:.2f}"))
            facts = ("",) * len(facts)
    _print_rows(headings, rows, "There is no such service.")


def _report(error: "BadCatalogue", *, json: bool) -> None:
    if json:
        problems = [problem._asdict() for problem in error.problems]
        print_json({"products": None, "problems": problems})
        return
    for problem in error.problems:
        make_console().print(str(problem))
    number = len(error.problems)
    make_console().print("1 problem." if number == 1 else f"{number} problems.", style="bold")


def _load(context: typer.Context, data: Path | None) -> "Catalogue":
    from printworks.catalogue.snapshot import DEFAULT_FOLDER, Catalogue

    return Catalogue.load(load_settings(context, data).catalogue or DEFAULT_FOLDER)


def _read_country(code: str) -> str:
    from printworks.catalogue.countries import COUNTRIES
    from printworks.errors import NotFound

    if code.upper() not in COUNTRIES:
        message = f"Country with code {code} not found"
        raise NotFound(message)
    return code.upper()


def _read_quality(name: str) -> "QualityLevel":
    from printworks.catalogue.products import QualityLevel
    from printworks.errors import NotFound

    for level in QualityLevel:
        if level.casefold() == name.casefold():
            return level
    message = f"QualityLevel {name} not found"
    raise NotFound(message)


def _read_method(name: str) -> "ShippingMethod":
    from printworks.errors import NotFound
    from printworks.rules.orders import ShippingMethod

    for method in ShippingMethod:
        if method.casefold() == name.casefold():
            return method
    message = f"There is no shipping method {name!r}; there are {', '.join(ShippingMethod)}."
    raise NotFound(message)


def _check_kind(kind: str, catalogue: "Catalogue") -> None:
    from printworks.errors import NotFound

    if kind not in catalogue.kinds:
        message = f"There is no kind {kind!r}; there are {', '.join(catalogue.kinds)}."
        raise NotFound(message)


def _explain_unknown(sku: str, catalogue: "Catalogue") -> str:
    known = [product.sku for product in catalogue.products]
    close = get_close_matches(sku.upper(), known, n=3)
    meant = f"; did you mean {' or '.join(close)}?" if close else "."
    return f"SKU not in catalogue: {sku}{meant}"


def _print_table(found: "list[Product]", catalogue: "Catalogue", country: str | None) -> None:
    from rich.table import Table

    table = Table("sku", "type", "quality", "description", "band", box=None)
    for currency in catalogue.currencies:
        table.add_column(currency, justify="right")
    for product in found:
        prices = [
            product.find_price(currency, country=country)
            if country
            else product.base_prices.get(currency)
            for currency in catalogue.currencies
        ]
        table.add_row(
            product.sku,
            product.type_name,
            ", ".join(product.quality_levels),
            product.description,
            product.shipping_band,
            *("" if price is None else f"{price / 100:.2f}" for price in prices),
        )
    _print_wide(table if found else "There is no such product.")


def _print_rows(headings: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> None:
    from rich.table import Table

    table = Table(*headings, box=None)
    for row in rows:
        table.add_row(*row)
    _print_wide(table if rows else none)


def _print_wide(shown: Any) -> None:
    console = make_console()
    # As wide as it needs to be: half a sku is of no use to anybody.
    console.width = max(console.width, WIDEST)
    console.print(shown)


def _describe(product: "Product") -> dict[str, Any]:
    return {
        "sku": product.sku,
        "type": product.type_name,
        "qualityLevels": product.quality_levels,
        "description": product.description,
        "kind": product.kind,
        "imageSize": str(product.image_size),
        "fullSize": str(product.full_size),
        "units": product.units,
        "recommendedPixels": str(product.recommended_pixels),
        "shippingBand": product.shipping_band,
        "attributes": {choice.name: choice.valid_values for choice in product.attributes},
        "prices": dict(product.base_prices),
        "pricesByCountry": {
            f"{currency}-{country}": price
            for (currency, country), price in product.prices_by_country.items()
        },
        "soldTo": sorted(product.sold_to),
    }


def _list_kinds(lab: "Lab", catalogue: "Catalogue") -> list[str]:
    made = {product.kind for product in catalogue.products if lab.can_make(product)}
    return [kind for kind in catalogue.kinds if kind in made]


def _list_days(lab: "Lab") -> list[str]:
    from printworks.catalogue.lab_reading import DAYS

    return [DAYS[day] for day in sorted(lab.working_days)]


def _write_days(lab: "Lab") -> str:
    from printworks.catalogue.labs import MONDAY_TO_FRIDAY

    return "mon-fri" if lab.working_days == MONDAY_TO_FRIDAY else " ".join(_list_days(lab))


def _write_transit(service: "Service") -> str:
    least, most = service.min_transit_days, service.max_transit_days
    return str(least) if least == most else f"{least}-{most}"


def _describe_lab(lab: "Lab", catalogue: "Catalogue") -> dict[str, Any]:
    return {
        "code": lab.code,
        "name": lab.name,
        "country": lab.country,
        "timeZone": lab.time_zone,
        "currency": lab.currency,
        "kinds": _list_kinds(lab, catalogue),
        "products": len(lab.makes),
        "cutOff": f"{lab.cut_off:%H:%M}",
        "workingDays": _list_days(lab),
        "holidays": sorted(lab.holidays),
        "capacity": lab.capacity,
        "paused": lab.paused,
        "canCancelUntil": lab.can_cancel_until,
        "canHoldUntil": lab.can_hold_until,
        "canChangeShippingUntil": lab.can_change_shipping_until,
        "packingSlips": lab.packing_slips,
        "connector": lab.connector,
    }


def _describe_service(service: "Service") -> dict[str, Any]:
    return {
        "code": service.code,
        "name": service.name,
        "carrier": service.carrier,
        "labs": service.labs,
        "methods": service.methods,
        "minTransitDays": service.min_transit_days,
        "maxTransitDays": service.max_transit_days,
        "isTracked": service.tracked,
        "prices": [
            {
                "band": band,
                "currency": currency,
                "items": tariff.items,
                "first": tariff.first,
                "further": tariff.further,
            }
            for (band, currency), tariff in service.tariffs.items()
        ],
    }


def _write(value: Any) -> str:
    from printworks.catalogue.countries import COUNTRIES

    if isinstance(value, dict):
        return "; ".join(f"{name} {_write(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "everywhere" if len(value) == len(COUNTRIES) else ", ".join(value)
    return str(value)
