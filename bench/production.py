"""Orders with images and shipments for the benchmark, and the time to price and route them."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from sqlalchemy import Connection

from bench.report import Budget, state
from bench.seeds import seed_folder
from printworks.actions.images.images import add_images, record_image_status
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.orders.quotes import price_order
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.production.routing import RoutingTerms, route_order
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import system_clock
from printworks.labs.documents import LabReport
from printworks.rules.images import ImageStatus
from printworks.rules.production import LabState
from printworks.rules.routing.model import Routed
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.engine.sqlite import dbapi2 as sqlite
from printworks.store.images.images import NewImage, list_images
from printworks.store.labs.shipments import list_shipments
from printworks.store.orders.orders import get_order
from tests.factories import a_system_work, a_work

PHOTO: Final = "GLOBAL-PHO-4X6-PRO"
MUG: Final = "MUG-10OZ-WHITE"
# One image, and three that travel in two shipments.
ONE: Final = (PHOTO,)
THREE: Final = (PHOTO, PHOTO, MUG)
ITEMS: Final = 20
CALLS: Final = 40
URL: Final = "https://shop.example/sunset.jpg"
IMAGE_BODY: Final = {"sku": PHOTO, "url": URL, "copies": 1, "sizing": "Crop"}


def fill_orders(folder: Path, last_id: int, skus: Sequence[str], *, is_sent: bool) -> None:
    """Add images and shipments, planned or dispatched, to the orders up to this one.

    The service itself does so for the first order; the others are copies of it.
    """
    path = folder / "printworks.db"
    database = Database(f"sqlite:///{path}")
    _fill_first(database, skus, is_sent=is_sent)
    database.close()
    connection = sqlite.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    # IDs are consecutive, so those of a copy are a fixed offset away.
    for table, changed in {
        "images": {},
        "shipments": {
            "image_ids": "(SELECT json_group_array(value + :images * (orders.id - 1)) "
            "FROM json_each(first.image_ids))"
        },
    }.items():
        columns = _list_columns(connection, table)
        values = [changed.get(name, f"first.{name}") for name in columns]
        connection.execute(
            f"INSERT INTO {table} (order_id, {', '.join(columns)}) "
            f"SELECT orders.id, {', '.join(values)} FROM orders, {table} AS first "
            "WHERE first.order_id = 1 AND orders.id BETWEEN 2 AND :last ORDER BY orders.id, first.id",
            {"last": last_id, "images": len(skus)},
        )
    copied = ("status", "image_count", "currency", "price", "shipping_price")
    connection.execute(
        f"UPDATE orders SET ({', '.join(copied)}) = "
        f"(SELECT {', '.join(copied)} FROM orders WHERE id = 1) WHERE id BETWEEN 2 AND ?",
        [last_id],
    )
    connection.execute("COMMIT")
    connection.execute("ANALYZE")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _fill_first(database: Database, skus: Sequence[str], *, is_sent: bool) -> None:
    catalogue, now = open_catalogue(None), system_clock()
    new = [NewImage(sku=sku, url=URL, copies=1) for sku in skus]
    with database.writing() as db:
        merchant = get_merchant(db, 1)
        order = get_order(db, 1, 1)
        for image in add_images(a_work(db, merchant, now=now, catalogue=catalogue), order, new):
            record_image_status(
                a_work(db, merchant, now=now),
                image,
                ImageStatus.OK,
                md5="0" * 32,
                width=3000,
                height=2000,
            )
        if is_sent:
            _send_first(db, merchant, now, catalogue)
    if not is_sent:
        with database.reading() as db:
            get_planned_order(a_work(db, merchant, now=now, catalogue=catalogue), database, 1)


def _send_first(db: Connection, merchant: Merchant, now: datetime, catalogue: Catalogue) -> None:
    submit_order(a_work(db, merchant, now=now, catalogue=catalogue), get_order(db, 1, 1))
    for shipment in list_shipments(db, 1):
        report = LabReport(job=shipment.id, state=LabState.DISPATCHED, tracking_number="JD0001")
        apply_lab_report(a_system_work(db, now=now, catalogue=catalogue), report)


def _list_columns(connection: Any, table: str) -> list[str]:
    named = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    return [name for name in named if name not in ("id", "order_id")]


def measure_routing(folder: Path, rounds: int) -> tuple[dict[str, Any], list[Budget]]:
    """Time what an order with 20 items costs after each change, and what its plan costs."""
    seed_folder(folder, 2)
    database = Database(f"sqlite:///{folder / 'printworks.db'}")
    sold = [product.sku for product in open_catalogue(None).list_sold_to("GB")]
    # All kinds of products, so that no lab makes them all; and a typical order.
    orders = {"mixed": (1, sold[:: len(sold) // ITEMS][:ITEMS]), "prints": (2, [PHOTO] * ITEMS)}
    calls: dict[str, Callable[[], object]] = {}
    for kind, (order_id, skus) in orders.items():
        calls |= _prepare_calls(database, order_id, skus, f"{ITEMS} items, {kind}")
    laps: dict[str, list[list[float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            laps[name].append([_time(call) for _ in range(CALLS)])
    database.close()
    figures = {
        name: {
            "p50_ms": median(_cut(one, 50) for one in found),
            "p95_ms": median(_cut(one, 95) for one in found),
        }
        for name, found in laps.items()
    }
    return figures, [
        state(f"{name}, p95 ms", [_cut(one, 95) for one in found])
        for name, found in laps.items()
        if "write" in name or "plan" in name
    ]


def _prepare_calls(
    database: Database, order_id: int, skus: Sequence[str], kind: str
) -> dict[str, Callable[[], object]]:
    """Add images to an order, and return the calls to time."""
    catalogue, now = open_catalogue(None), system_clock()
    new = [NewImage(sku=sku, url=URL, copies=1) for sku in skus]
    with database.writing() as db:
        merchant = get_merchant(db, 1)
        add_images(
            a_work(db, merchant, now=now, catalogue=catalogue), get_order(db, 1, order_id), new
        )
    with database.reading() as db:
        order, images = get_order(db, 1, order_id), list_images(db, order_id)

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
            return price_order(work, get_order(db, 1, order_id), {})

    if not isinstance(route(), Routed):
        message = f"No lab makes {kind}."
        raise RuntimeError(message)
    return {f"route {kind}": route, f"price and write {kind}": write, f"plan {kind}": plan}


def _time(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _cut(laps: Sequence[float], percent: int) -> float:
    return quantiles(laps, n=100)[percent - 1]
