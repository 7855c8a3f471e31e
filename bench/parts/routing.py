"""The time to price and route an order of twenty items, without HTTP."""

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median, quantiles
from typing import Final

from bench.lines import Line, state
from bench.seeds import SeededDatabase
from bench.session import Session
from bench.workload import PHOTO
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.orders.quotes import price_order
from printworks.actions.production.routing import RoutingTerms, route_order
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Product, choose_attributes
from printworks.clock import system_clock
from printworks.errors import BadInput
from printworks.rules.routing.model import Routed
from printworks.store.images.images import list_images
from printworks.store.orders.orders import get_order
from tests.factories import a_work

ITEMS: Final = 20
CALLS: Final = 40


def measure(session: Session) -> Iterator[Line]:
    """Time what an order with 20 items costs after each change, and what its plan costs."""
    seeded = session.seed("routing")
    sold = [
        product.sku for product in open_catalogue(None).list_sold_to("GB") if _is_simple(product)
    ]
    # All kinds of products, so that no lab makes them all; and a typical order.
    kinds = {"mixed": sold[:: len(sold) // ITEMS][:ITEMS], "prints": [PHOTO] * ITEMS}
    calls: dict[str, Callable[[], object]] = {}
    for kind, skus in kinds.items():
        calls |= _prepare_calls(seeded, skus, f"{ITEMS} items, {kind}")
    laps = session.interleave("routing", {name: _timing(call) for name, call in calls.items()})
    seeded.close()
    session.figures["calculations"] = {
        name: {
            "p50_ms": median(_cut(one, 50) for one in found),
            "p95_ms": median(_cut(one, 95) for one in found),
        }
        for name, found in laps.items()
    }
    for name, found in laps.items():
        if "write" in name or "plan" in name:
            yield state(f"{name}, p95 ms", [_cut(one, 95) for one in found])


def _is_simple(product: Product) -> bool:
    """Return whether a product can be ordered without choosing anything."""
    try:
        choose_attributes(product, {})
    except BadInput:
        return False
    return True


def _prepare_calls(
    seeded: SeededDatabase, skus: Sequence[str], kind: str
) -> dict[str, Callable[[], object]]:
    """Add an order with images, and return the calls to time."""
    catalogue, now = open_catalogue(None), system_clock()
    database, merchant = seeded.database, seeded.merchant
    (order_id,) = seeded.add_orders(1, skus)
    with database.reading() as db:
        order, images = get_order(db, merchant.id, order_id), list_images(db, order_id)

    def route() -> object:
        terms = RoutingTerms(catalogue=catalogue, currency=merchant.currency, now=now)
        return route_order(order, images, terms)

    def plan() -> object:
        with database.reading() as db:
            work = a_work(db, merchant, now=now, catalogue=catalogue)
            return get_planned_order(work, database, order_id)

    def write() -> object:
        with database.writing() as db:
            work = a_work(db, merchant, now=now, catalogue=catalogue)
            return price_order(work, get_order(db, merchant.id, order_id), {})

    if not isinstance(route(), Routed):
        message = f"No lab makes {kind}."
        raise RuntimeError(message)
    return {f"route {kind}": route, f"price and write {kind}": write, f"plan {kind}": plan}


def _timing(call: Callable[[], object]) -> Callable[[], list[float]]:
    """Return a measure: the milliseconds of many calls."""

    def time_some() -> list[float]:
        laps = []
        for _ in range(CALLS):
            started = time.perf_counter()
            call()
            laps.append((time.perf_counter() - started) * 1000)
        return laps

    return time_some


def _cut(laps: Sequence[float], percent: int) -> float:
    return quantiles(laps, n=100)[percent - 1]
