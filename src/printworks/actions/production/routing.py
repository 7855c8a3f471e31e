"""Joins an order with the catalogue, so that the rules can choose labs for it."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from printworks.catalogue.labs import Lab, LastChance
from printworks.catalogue.products import Currency, Product
from printworks.catalogue.services import Service
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.orders import ShippingMethod
from printworks.rules.production import LabRules, LabState
from printworks.rules.routing import offers
from printworks.rules.routing.calendars import (
    Days,
    Window,
    WorkingCalendar,
    find_arrival,
    find_dispatch,
    find_production_start,
    find_promised_day,
)
from printworks.rules.routing.offers import Candidate, CannotMake, Offer, PrintItem, ShipmentPrice
from printworks.rules.routing.plans import PlannedShipment, Routing
from printworks.rules.routing.routing import route
from printworks.store.images.images import Images
from printworks.store.labs.shipments import NewShipment, Shipment
from printworks.store.orders.orders import Order

# Routing reckons in thousandths of a penny or cent: a print costs a few of them, and rounding
# each to a whole one would let the wrong lab win.
FINE: Final = 1000
# In a transaction that others wait for, fewer ways are tried than the rules would.
MOST_STEPS: Final = 20_000

_UNTIL: Final[Mapping[LastChance, frozenset[LabState]]] = {
    LastChance.NEVER: frozenset(),
    LastChance.SUBMITTED: frozenset({LabState.OFFERED}),
    LastChance.ACCEPTED: frozenset({LabState.OFFERED, LabState.ACCEPTED}),
}


class Wanted(NamedTuple):
    """So many copies of a product, under a number of their own."""

    item: int
    product: Product
    copies: int


def rules_of(lab: Lab | None) -> LabRules:
    """Return until when a lab lets things change; one that is not known any more, never."""
    if lab is None:
        return LabRules(cancel=frozenset(), hold=frozenset(), update_shipping=frozenset())
    return LabRules(
        cancel=_UNTIL[lab.can_cancel_until],
        hold=_UNTIL[lab.can_hold_until],
        update_shipping=_UNTIL[lab.can_change_shipping_until],
    )


def route_order(
    order: Order,
    images: Images,
    catalogue: Catalogue,
    *,
    currency: Currency,
    now: datetime,
    backlog: Mapping[str, int],
    without: Set[str] = frozenset(),
) -> Routing | None:
    """Choose labs for the images of an order; None while there is nothing to send or nowhere."""
    country = order.destination_country
    found = [(image, catalogue.find_product(image.sku)) for image in images if image.copies]
    wanted = [
        Wanted(image.id, product, image.copies)
        for image, product in found
        if product is not None and country is not None and product.is_sold_to(country)
    ]
    if not wanted or country is None:
        return None
    return route_products(
        wanted,
        catalogue,
        country=country,
        method=order.shipping_method,
        currency=currency,
        prefers_tracking=order.is_tracked,
        now=now,
        backlog=backlog,
        without=without,
    )


def route_products(
    wanted: Sequence[Wanted],
    catalogue: Catalogue,
    *,
    country: str,
    method: ShippingMethod,
    currency: Currency,
    prefers_tracking: bool,
    now: datetime,
    backlog: Mapping[str, int],
    without: Set[str] = frozenset(),
) -> Routing:
    """Choose labs for products that are sold to a country, whoever orders them."""
    items = [
        PrintItem(one.item, one.product.sku, one.product.shipping_band, one.copies)
        for one in wanted
    ]
    products = {one.item: one.product for one in wanted}
    candidates = [
        _ask(lab, products, country, catalogue, currency, now, backlog.get(lab.code, 0))
        for lab in catalogue.labs
    ]
    promise = catalogue.find_promise(method, country)
    return route(
        items,
        candidates,
        method=method,
        promise=find_promised_day(now.date(), promise.days if promise else 0),
        prefers_tracking=prefers_tracking,
        without=without,
        most_steps=MOST_STEPS,
    )


def _ask(
    lab: Lab,
    products: Mapping[int, Product],
    country: str,
    catalogue: Catalogue,
    currency: Currency,
    now: datetime,
    backlog: int,
) -> Candidate:
    """Put a lab's part of the catalogue in the words of routing."""
    queue = backlog // lab.capacity

    @cache
    def dispatch(production_days: int) -> Window:
        return find_lab_dispatch(lab, production_days + queue, now=now)

    def offer(product: Product) -> Offer | CannotMake:
        making = lab.makes.get(product.sku)
        if making is None:
            return CannotMake(f"{product.kind} is not in its range")
        cost = catalogue.convert(FINE * making.cost, lab.currency, to=currency)
        return Offer(round(cost), dispatch(making.production_days))

    bands = {product.shipping_band for product in products.values()}
    return Candidate(
        code=lab.code,
        offers={key: offer(product) for key, product in products.items()},
        services=tuple(
            _price(service, method, bands, currency)
            for service in catalogue.list_services(lab.code, country)
            for method in service.methods
        ),
        paused="it takes no orders now" if lab.paused else None,
    )


# Python itself remembers eight zones, and there may be more labs than that.
_open_zone: Final = cache(ZoneInfo)


def find_lab_dispatch(lab: Lab, production_days: int, *, now: datetime) -> Window:
    """Return when a lab hands over what it gets now."""
    calendar = WorkingCalendar(lab.working_days, lab.holidays)
    start = find_production_start(
        now, cut_off=lab.cut_off, zone=_open_zone(lab.time_zone), calendar=calendar
    )
    return find_dispatch(start, Days(production_days, production_days), calendar)


def _price(
    service: Service, method: ShippingMethod, bands: Set[str], currency: Currency
) -> offers.ServiceOffer:
    tariffs = {
        band: service.tariffs[band, currency]
        for band in bands
        if (band, currency) in service.tariffs
    }
    return offers.ServiceOffer(
        code=service.code,
        method=method,
        is_tracked=service.tracked,
        transit=Days(service.min_transit_days, service.max_transit_days),
        prices={
            band: ShipmentPrice(
                FINE * tariff.first, tariff.items, FINE * tariff.further, tariff.items
            )
            for band, tariff in tariffs.items()
        },
    )


def make_shipments(
    packages: Sequence[PlannedShipment], catalogue: Catalogue, state: LabState | None
) -> list[NewShipment]:
    """Turn the packages of a plan into shipments."""
    carriers = {service.code: service.carrier for service in catalogue.services}
    return [
        NewShipment(
            state=state,
            lab=package.lab,
            band=package.band,
            service=package.service,
            carrier=carriers[package.service],
            is_tracked=package.is_tracked,
            price=package.price // FINE,
            image_ids=list(package.items),
            copies=package.copies,
            earliest_arrival=package.arrival.earliest.isoformat(),
            latest_arrival=package.arrival.latest.isoformat(),
        )
        for package in packages
    ]


def estimate_anew(
    shipment: Shipment, images: Images, catalogue: Catalogue, *, now: datetime
) -> Shipment:
    """Return a planned shipment with the days on which it would arrive if submitted now."""
    lab = catalogue.find_lab(shipment.lab)
    service = next((one for one in catalogue.services if one.code == shipment.service), None)
    if lab is None or service is None:
        return shipment
    skus = {image.sku for image in images if image.id in shipment.image_ids}
    days = max(
        (making.production_days for sku in skus if (making := lab.makes.get(sku))), default=0
    )
    arrival = find_arrival(
        find_lab_dispatch(lab, days, now=now),
        Days(service.min_transit_days, service.max_transit_days),
    )
    return msgspec.structs.replace(
        shipment,
        earliest_arrival=arrival.earliest.isoformat(),
        latest_arrival=arrival.latest.isoformat(),
    )
