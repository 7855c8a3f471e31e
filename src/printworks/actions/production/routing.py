"""Combines an order with the catalogue, so that the rules can choose labs for it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from typing import Final, NamedTuple, Self

import msgspec

from printworks.actions.work import Work
from printworks.catalogue.labs import Lab, LastChance
from printworks.catalogue.products import Currency, Product
from printworks.catalogue.public_holidays import find_delivery_calendar
from printworks.catalogue.services import Service
from printworks.catalogue.snapshot import Catalogue
from printworks.catalogue.tariff import ShippingRate
from printworks.rules.orders import ShippingMethod
from printworks.rules.production import LabRules, LabState
from printworks.rules.routing.calendars import (
    Days,
    Window,
    WorkingCalendar,
    find_arrival,
    find_promised_day,
)
from printworks.rules.routing.costs import ShipmentPrice
from printworks.rules.routing.model import (
    Candidate,
    CannotMake,
    Offer,
    PlannedShipment,
    PrintItem,
    Routed,
    Routing,
    RoutingRequest,
    ServiceOffer,
)
from printworks.rules.routing.routing import route
from printworks.store.images.images import Images
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import NewShipment, Shipment

# Routing calculates in thousandths of a penny or cent: a print costs only a few pence, and
# rounding each price would let the wrong lab win.
FINE: Final = 1000
# Fewer steps than the rules allow, because other transactions wait for this one.
MOST_STEPS: Final = 20_000

_UNTIL: Final[Mapping[LastChance, frozenset[LabState]]] = {
    LastChance.NEVER: frozenset(),
    LastChance.SUBMITTED: frozenset({LabState.OFFERED}),
    LastChance.ACCEPTED: frozenset({LabState.OFFERED, LabState.ACCEPTED}),
}


class RoutedProduct(NamedTuple):
    """A number of copies of a product, under an id of their own."""

    item: int
    product: Product
    copies: int


class RoutingTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What the choice of labs depends on, apart from the order."""

    catalogue: Catalogue
    currency: Currency
    now: datetime
    # How many copies wait at a lab, by its code.
    backlog: Mapping[str, int] = {}
    # Labs that must not be chosen.
    without: Set[str] = frozenset()

    @classmethod
    def of(
        cls, work: Work, *, backlog: Mapping[str, int] = {}, without: Set[str] = frozenset()
    ) -> Self:
        """Return the terms of a merchant at its present time."""
        return cls(
            catalogue=work.catalogue,
            currency=work.merchant.currency,
            now=work.now,
            backlog=backlog,
            without=without,
        )


class ReadyRouting(NamedTuple):
    """The choice of labs for a version of an order, made before the transaction that needs it."""

    version: int
    routing: Routing | None
    catalogue: Catalogue

    def is_for(self, work: Work, order: Order) -> bool:
        """Whether neither the order nor the catalogue has changed since."""
        return self.version == order.version and self.catalogue is work.catalogue


def use_ready(
    ready: ReadyRouting | None, work: Work, order: Order, choose: Callable[[], Routing | None]
) -> Routing | None:
    """Return the choice that is ready, if it is for this version; otherwise choose now."""
    return ready.routing if ready is not None and ready.is_for(work, order) else choose()


class DeliveryTerms(NamedTuple):
    """Where an order goes and how, and where it should be printed."""

    country: str
    method: ShippingMethod
    wants_tracking: bool = False
    print_country: str | None = None


def lab_rules_of(lab: Lab | None) -> LabRules:
    """Return until which states a lab allows changes; an unknown lab allows none."""
    if lab is None:
        return LabRules(cancel=frozenset(), hold=frozenset(), update_shipping=frozenset())
    return LabRules(
        cancel=_UNTIL[lab.can_cancel_until],
        hold=_UNTIL[lab.can_hold_until],
        update_shipping=_UNTIL[lab.can_change_shipping_until],
    )


def find_delivery(order: Order) -> DeliveryTerms | None:
    """Return how an order travels; None while it has no destination."""
    country = order.destination_country
    if country is None:
        return None
    return DeliveryTerms(country, order.shipping_method, order.is_tracked, order.print_country)


def list_wanted(images: Images, country: str, catalogue: Catalogue) -> list[RoutedProduct]:
    """Return what has to be printed and sent, of all that is sold to the country."""
    found = [(image, catalogue.find_product(image.sku)) for image in images if image.copies]
    return [
        RoutedProduct(image.id, product, image.copies)
        for image, product in found
        if product is not None and product.is_sold_to(country)
    ]


def route_order(order: Order, images: Images, terms: RoutingTerms) -> Routing | None:
    """Choose labs for the images of an order; None while there is nothing to send or nowhere.

    In a currency in which nothing is sold any more, costs cannot be compared: None, too.
    """
    if order.currency is not None:
        # What labs get is booked in it: a reprint keeps that of the first order, even if the account
        # is kept in another by now.
        terms = msgspec.structs.replace(terms, currency=order.currency)
    delivery = find_delivery(order)
    if delivery is None or terms.currency not in terms.catalogue.currencies:
        return None
    wanted = list_wanted(images, delivery.country, terms.catalogue)
    return route_products(wanted, terms, delivery) if wanted else None


def is_routed_whole(routing: Routed, images: Images) -> bool:
    """Whether a plan prints all of these images: what is no longer sold is in none."""
    return routing.plan.labs.keys() >= {image.id for image in images if image.copies}


def price_shipping(
    wanted: Sequence[RoutedProduct],
    catalogue: Catalogue,
    delivery: DeliveryTerms,
    currency: Currency,
) -> int:
    """Return what merchants pay for sending products, whichever labs print them."""
    rates = _find_rates(wanted, catalogue, delivery)
    return sum(rate.price(copies, currency) for rate, copies in rates)


def _find_rates(
    wanted: Sequence[RoutedProduct], catalogue: Catalogue, delivery: DeliveryTerms
) -> list[tuple[ShippingRate, int]]:
    """Return the rate that is charged for each band, with the copies in it."""
    copies = Counter[str]()
    for one in wanted:
        copies[one.product.shipping_band] += one.copies
    country, method, tracked, _ = delivery
    found = [
        (catalogue.tariff.find_rate(country, band, method, tracked=tracked), count)
        for band, count in copies.items()
    ]
    return [(rate, count) for rate, count in found if rate is not None]


def route_products(
    wanted: Sequence[RoutedProduct], terms: RoutingTerms, delivery: DeliveryTerms
) -> Routing:
    """Choose labs for products that are sold to a country."""
    items = [
        PrintItem(one.item, one.product.sku, one.product.shipping_band, one.copies)
        for one in wanted
    ]
    products = {one.item: one.product for one in wanted}
    country, method, _, print_country = delivery
    promise = terms.catalogue.find_promise(method, country)
    # What is paid for with tracking should have it.
    rates = [rate for rate, _ in _find_rates(wanted, terms.catalogue, delivery)]
    return route(
        RoutingRequest(
            items=items,
            candidates=[
                _make_candidate(lab, products, country, terms) for lab in terms.catalogue.labs
            ],
            method=method,
            promise=find_promised_day(terms.now.date(), promise.days if promise else 0),
            prefers_tracking={rate.band for rate in rates if rate.is_tracked},
            print_country=print_country,
            without=terms.without,
            most_steps=MOST_STEPS,
        )
    )


def _make_candidate(
    lab: Lab, products: Mapping[int, Product], country: str, terms: RoutingTerms
) -> Candidate:
    """Translate a lab's part of the catalogue for the routing rules."""
    queue = terms.backlog.get(lab.code, 0) // lab.capacity
    costs = _list_costs(lab, terms)
    windows: dict[int, Window] = {}

    def offer(product: Product) -> Offer | CannotMake:
        making = lab.makes.get(product.sku)
        if making is None:
            return CannotMake(f"{product.kind} is not in its range")
        days = making.production_days + queue
        if days not in windows:
            windows[days] = lab.hours.find_dispatch(terms.now, days)
        return Offer(costs[product.sku], windows[days])

    # An order may have many items of the same product.
    offers = {sku: offer(one) for sku, one in {one.sku: one for one in products.values()}.items()}
    return Candidate(
        code=lab.code,
        country=lab.country,
        offers={key: offers[product.sku] for key, product in products.items()},
        services=_list_services(lab, country, terms),
        paused="it takes no orders now" if lab.paused else None,
    )


def _list_costs(lab: Lab, terms: RoutingTerms) -> Mapping[str, int]:
    """Return what a lab charges for each product, by sku."""
    catalogue, currency = terms.catalogue, terms.currency

    def convert() -> dict[str, int]:
        rate = FINE * catalogue.find_exchange_rate(lab.currency, to=currency)
        return {sku: round(rate * making.cost) for sku, making in lab.makes.items()}

    return catalogue.remember(("costs", lab.code, currency), convert)


def _list_services(lab: Lab, country: str, terms: RoutingTerms) -> tuple[ServiceOffer, ...]:
    """Return the services from a lab to a country, with the country's holidays."""
    catalogue, currency, year = terms.catalogue, terms.currency, terms.now.year

    def offer() -> tuple[ServiceOffer, ...]:
        calendar = find_delivery_calendar(country, year)
        return tuple(
            _make_service_offer(service, method, currency, calendar)
            for service in catalogue.list_services(lab.code, country)
            for method in service.methods
        )

    return catalogue.remember(("services", lab.code, country, currency, year), offer)


def _make_service_offer(
    service: Service, method: ShippingMethod, currency: Currency, calendar: WorkingCalendar
) -> ServiceOffer:
    costs = {band: cost for (band, each), cost in service.costs.items() if each is currency}
    return ServiceOffer(
        code=service.code,
        method=method,
        is_tracked=service.tracked,
        transit=Days(service.min_transit_days, service.max_transit_days),
        prices={
            band: ShipmentPrice(FINE * cost.first, cost.items, FINE * cost.further, cost.items)
            for band, cost in costs.items()
        },
        calendar=calendar,
    )


def make_shipments(
    planned: Sequence[PlannedShipment], catalogue: Catalogue, state: LabState | None
) -> list[NewShipment]:
    """Return the rows of planned shipments."""
    carriers = {service.code: service.carrier for service in catalogue.services}
    return [
        NewShipment(
            state=state,
            lab=one.lab,
            band=one.band,
            service=one.service,
            carrier=carriers[one.service],
            is_tracked=one.is_tracked,
            items_cost=round(one.items_cost / FINE),
            shipping_cost=round(one.shipping_cost / FINE),
            image_ids=list(one.items),
            copies=one.copies,
            earliest_arrival=one.arrival.earliest.isoformat(),
            latest_arrival=one.arrival.latest.isoformat(),
        )
        for one in planned
    ]


def is_plan_current(
    order: Order, images: Images, shipments: Sequence[Shipment], catalogue: Catalogue
) -> bool:
    """Whether every lab of a plan still takes what it was chosen for, and can still send it.

    Another catalogue may have been published since.
    """
    skus = {image.id: image.sku for image in images}
    country = order.destination_country or ""
    for shipment in shipments:
        lab = catalogue.find_lab(shipment.lab)
        if lab is None or lab.paused:
            return False
        if not catalogue.has_service(shipment.service, lab_code=lab.code, country=country):
            return False
        if any(skus[image] not in lab.makes for image in shipment.image_ids if image in skus):
            return False
    return True


def re_estimate(
    shipment: Shipment, order: Order, images: Images, catalogue: Catalogue, *, now: datetime
) -> Shipment:
    """Return a shipment; one that is only planned arrives as if it were submitted now."""
    lab = catalogue.find_lab(shipment.lab)
    service = next((one for one in catalogue.services if one.code == shipment.service), None)
    if shipment.state is not None or lab is None or service is None:
        return shipment
    skus = {image.sku for image in images if image.id in shipment.image_ids}
    transit = Days(service.min_transit_days, service.max_transit_days)
    calendar = find_delivery_calendar(order.destination_country or "", now.year)
    arrival = find_arrival(lab.find_dispatch(skus, ordered_at=now), transit, calendar)
    return msgspec.structs.replace(
        shipment,
        earliest_arrival=arrival.earliest.isoformat(),
        latest_arrival=arrival.latest.isoformat(),
    )
