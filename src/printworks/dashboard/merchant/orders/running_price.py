"""What an order costs while it is being put together, and in how many shipments it travels, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from printworks.actions.production.routing import (
    DeliveryTerms,
    RoutedProduct,
    RoutingTerms,
    price_shipping,
    route_products,
)
from printworks.actions.taxes import estimate_tax
from printworks.catalogue.country_names import name_country
from printworks.catalogue.products import Product
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.merchant.orders.form_values import FormValues
from printworks.dashboard.shared.dates import write_day
from printworks.dashboard.shared.labels import begin_sentence, count, join
from printworks.dashboard.shared.order_routing import show_lab
from printworks.dashboard.shared.product_families import find_family
from printworks.dashboard.site.forms import find_choice, read_number
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.images import MOST_COPIES
from printworks.rules.merchants import explain_currency
from printworks.rules.orders import ShippingMethod
from printworks.rules.routing.model import PlannedShipment, Routed
from printworks.store.images.images import sum_items
from printworks.store.orders.orders import Order

# Choosing labs for more products than this takes too long for a price that changes while one types.
_MOST_ROUTED: Final = 40
# How many pictures are chosen and not uploaded yet, as the script says.
_WAITING: Final = "waiting"
_MOST_WAITING: Final = 10_000


class RunningPriceLine(msgspec.Struct, frozen=True):
    """One product of the order: how often, and what that costs."""

    name: str
    copies: int
    total: int


class PricedShipment(msgspec.Struct, frozen=True):
    """A shipment: what is in it, from where, and when it arrives."""

    what: str
    lab: str
    arrives: str


class RunningPrice(msgspec.Struct, frozen=True, kw_only=True):
    """What the order would cost as it is filled in now."""

    lines: Sequence[RunningPriceLine] = ()
    shipping: int = 0
    # The tax, and whether the prices include it; None where nobody collects any.
    tax: int | None = None
    tax_included: bool = False
    total: int = 0
    shipments: Sequence[PricedShipment] = ()
    # Why there are several shipments.
    why: str = ""
    # Why something is missing in the price.
    problems: Sequence[str] = ()
    # Whether it is an example: no picture has been added yet.
    is_example: bool = False


def describe_price(
    visit: MerchantVisit, values: FormValues, draft: Order | None, product: Product | None
) -> RunningPrice:
    """Return the price of what is in the draft, and of the pictures that are still to be added."""
    copies = Counter[str]()
    for item in sum_items(visit.db, draft.id) if draft else ():
        copies[item.sku] += item.copies
    waiting = read_number(visit.query.get(_WAITING, "")) or 0
    each = min(read_number(values["copies"]) or 1, MOST_COPIES)
    is_example = not copies and not waiting
    if product is not None:
        copies[product.sku] += each * (1 if is_example else min(waiting, _MOST_WAITING))
    method = find_choice(ShippingMethod, values["shipping_method"]) or ShippingMethod.STANDARD
    price = find_running_price(visit, copies, _find_delivery(values["country"], method, draft))
    return msgspec.structs.replace(price, is_example=is_example)


def _find_delivery(country: str, method: ShippingMethod, draft: Order | None) -> DeliveryTerms:
    """Return how the order will travel; only programs ask for tracking, or where to print."""
    if draft is None:
        return DeliveryTerms(country, method)
    return DeliveryTerms(country, method, draft.is_tracked, draft.print_country)


def find_running_price(
    visit: MerchantVisit, copies: Mapping[str, int], delivery: DeliveryTerms
) -> RunningPrice:
    """Return the price of so many copies of products, by sku, sent so."""
    country = delivery.country
    catalogue, prices = visit.services.catalogue, visit.work.prices
    currency = visit.merchant.currency
    gone = explain_currency(currency, catalogue.currencies)
    priced = copies if gone is None else {}
    found = [(catalogue.find_product(sku), number) for sku, number in priced.items() if number]
    known = [(product, number) for product, number in found if product is not None]
    sold = [(product, number) for product, number in known if product.is_sold_to(country)]
    wanted = [RoutedProduct(place, product, number) for place, (product, number) in enumerate(sold)]
    lines = [
        RunningPriceLine(
            name=product.description,
            copies=number,
            total=number * (prices.find(product, country, number) or 0),
        )
        for product, number in sold
    ]
    shipping = price_shipping(wanted, catalogue, delivery, currency) if wanted else 0
    shipments = _plan(visit, wanted, delivery)
    each = [
        (product.sku, number, line.total // number)
        for (product, number), line in zip(sold, lines, strict=True)
    ]
    terms = estimate_tax(visit.work, country, each, shipping=shipping) if sold else None
    total = shipping + sum(line.total for line in lines)
    return RunningPrice(
        lines=lines,
        shipping=shipping,
        tax=None if terms is None else terms.tax,
        tax_included=terms is not None and terms.is_gross,
        total=total if terms is None else terms.gross,
        shipments=[_describe_shipment(shipment, wanted, catalogue) for shipment in shipments],
        why=_explain(shipments, wanted, catalogue),
        problems=[
            *([] if gone is None else [gone]),
            *(
                f"{product.description} is not sold to {name_country(country)}, so it is not in this price."
                for product, _ in known
                if not product.is_sold_to(country)
            ),
        ],
    )


def _plan(
    visit: MerchantVisit, wanted: Sequence[RoutedProduct], delivery: DeliveryTerms
) -> Sequence[PlannedShipment]:
    if not wanted or len(wanted) > _MOST_ROUTED:
        return ()
    terms = RoutingTerms(
        catalogue=visit.services.catalogue, currency=visit.merchant.currency, now=visit.now
    )
    routing = route_products(wanted, terms, delivery)
    return routing.plan.shipments if isinstance(routing, Routed) else ()


def _describe_shipment(
    shipment: PlannedShipment, wanted: Sequence[RoutedProduct], catalogue: Catalogue
) -> PricedShipment:
    contents = join(_name_contents(shipment, wanted, catalogue))
    first, last = shipment.arrival.earliest, shipment.arrival.latest
    arrives = write_day(last) if first == last else f"{write_day(first)} to {write_day(last)}"
    return PricedShipment(
        f"{contents[:1].upper()}{contents[1:]}: {count(shipment.copies, 'copy', 'copies')}",
        show_lab(shipment.lab, catalogue),
        arrives,
    )


def _name_contents(
    shipment: PlannedShipment, wanted: Sequence[RoutedProduct], catalogue: Catalogue
) -> list[str]:
    products = [wanted[item].product for item in shipment.items]
    return list(dict.fromkeys(_name(product, catalogue) for product in products))


def _name(product: Product, catalogue: Catalogue) -> str:
    name = find_family(catalogue, product).name
    return f"{name[:1].lower()}{name[1:]}"


def _explain(
    shipments: Sequence[PlannedShipment], wanted: Sequence[RoutedProduct], catalogue: Catalogue
) -> str:
    """Say why the order does not travel in one shipment: other labs, or things packed differently."""
    labs = list(dict.fromkeys(shipment.lab for shipment in shipments))
    if len(shipments) <= 1:
        return ""
    reasons = []
    if len(labs) > 1:
        names = [show_lab(lab, catalogue) for lab in labs]
        reasons.append(
            f"No single lab makes all of it best, so {join(names)} each send a shipment."
        )
    for lab in labs:
        here = [shipment for shipment in shipments if shipment.lab == lab]
        if len(here) > 1:
            contents = [join(_name_contents(shipment, wanted, catalogue)) for shipment in here]
            reasons.append(
                f"{begin_sentence(show_lab(lab, catalogue))} packs {join(contents)} apart, because they need "
                "different packaging."
            )
    return " ".join(reasons)
