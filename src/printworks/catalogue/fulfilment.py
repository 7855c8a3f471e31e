"""Builds labs, services and promises, and checks that every product can be made and shipped."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from zoneinfo import ZoneInfo

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.forms import CatalogueForm, LabForm, PromiseForm, ServiceForm
from printworks.catalogue.labs import Lab, LabTerms, Making
from printworks.catalogue.problems import Place, list_some
from printworks.catalogue.products import Product
from printworks.catalogue.promises import Promise
from printworks.catalogue.services import Service
from printworks.catalogue.sources import CatalogueFiles
from printworks.catalogue.values import EVERYWHERE
from printworks.catalogue.zones import ZoneEntry, choose_closest
from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.calendars import LabHours, WorkingCalendar


def build_labs(
    forms: Sequence[LabForm], products: Sequence[Product], files: CatalogueFiles
) -> Iterator[Lab]:
    """Build the labs with the cost of each product they make, and report useless lines."""
    for position, form in enumerate(forms):
        makes: dict[str, Making] = {}
        for number, line in enumerate(form.makes):
            place = ("labs", position, "makes", number)
            fresh = [each for each in products if each.sku not in makes and line.fits(each)]
            if not fresh:
                is_late = any(line.fits(product) for product in products)
                reason = (
                    "what it fits stands in lines before it" if is_late else "it fits no product"
                )
                files.report(place, f"This line has no use: {reason}.")
            for product in fresh:
                price = product.base_prices.get(form.currency)
                if line.percent and price is None:
                    sentence = f"`{product.sku}` has no price in {form.currency} to take part of."
                    files.report(place, sentence)
                days = form.production_days if line.days is None else line.days
                makes[product.sku] = Making(line.find_cost(price or 0), days)
        terms = {name: getattr(form, name) for name in LabTerms.__struct_fields__}
        calendar = WorkingCalendar(form.working_days, form.holidays)
        hours = LabHours(form.cut_off, ZoneInfo(form.time_zone), calendar)
        yield Lab(**terms, makes=MappingProxyType(makes), hours=hours)


def build_service(form: ServiceForm) -> Service:
    fewest, most = form.transit_days
    costs = {
        (band, currency): cost
        for band, by_currency in form.bands.items()
        for currency, cost in by_currency.items()
    }
    return Service(
        code=form.code,
        name=form.name,
        carrier=form.carrier,
        labs=form.labs,
        methods=form.methods,
        countries=form.to - form.exceptions,
        min_transit_days=fewest,
        max_transit_days=most,
        tracked=form.tracked,
        bands=tuple(form.bands),
        costs=MappingProxyType(costs),
    )


def check_together(form: CatalogueForm, files: CatalogueFiles) -> None:
    """Report what is missing in a catalogue with labs: services, promises, a tariff and rates."""
    served = {code for service in form.services for code in service.labs}
    for position, lab in enumerate(form.labs):
        if lab.code not in served:
            files.report(("labs", position, "code"), f"No service leaves from `{lab.code}`.")
    for table in ("promises", "tariff"):
        if not getattr(form, table):
            files.report(("labs", 0), f"There are labs, but no `[[{table}]]`.")
    missing = [currency for currency in form.currencies if currency not in form.rates]
    if missing and len(form.currencies) > 1:
        sentence = f"There are labs, but `rates` has no line for {', '.join(missing)}."
        files.report(("labs", 0), sentence)


def check_reach(
    sold: Mapping[Place, Product],
    labs: Sequence[Lab],
    services: Sequence[Service],
    files: CatalogueFiles,
) -> None:
    """Report products that no lab makes, or that no service ships to a country of sale."""
    reached: dict[tuple[frozenset[str], str], frozenset[str]] = {}
    for place, product in sold.items():
        makers = frozenset(lab.code for lab in labs if lab.can_make(product))
        if not makers:
            files.report(place, f"`{product.sku}` is made by no lab.")
            continue
        way = (makers, product.shipping_band)
        if way not in reached:
            reached[way] = _find_reach(services, *way)
        missing = product.sold_to - reached[way]
        if missing:
            sentence = f"`{product.sku}` is sold to {list_some(sorted(missing))}, where no service"
            files.report(place, f"{sentence} takes it from a lab that makes it.")


def _find_reach(services: Sequence[Service], makers: frozenset[str], band: str) -> frozenset[str]:
    taking = (each for each in services if band in each.bands and makers.intersection(each.labs))
    return frozenset().union(*(service.countries for service in taking))


def choose_promises(
    forms: Sequence[PromiseForm], files: CatalogueFiles
) -> Mapping[tuple[ShippingMethod, str], Promise]:
    """Choose the closest promise for each method and country; report ties and gaps."""
    closest = choose_closest(_list_promises(forms), files, verb="promised")
    chosen = {(one.value.method, country): one.value for (_, country), [one] in closest.items()}
    for method in ShippingMethod if forms else ():
        without = [country for country in COUNTRIES if (method, country) not in chosen]
        if without:
            sentence = f"{method} to {list_some(without)} is promised nowhere"
            files.report(("promises", 0), f"{sentence}; a promise to `{EVERYWHERE}` would do.")
    return chosen


def _list_promises(forms: Sequence[PromiseForm]) -> Iterator[ZoneEntry[Promise]]:
    for position, form in enumerate(forms):
        for name, countries in form.to.items():
            for method in ShippingMethod:
                days = getattr(form, method)
                if days is not None:
                    place = ("promises", position, method)
                    promise = Promise(method, name, days)
                    yield ZoneEntry(promise, method, method, name, countries, place)
