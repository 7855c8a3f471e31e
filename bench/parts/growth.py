"""The same requests and pages with a thousand orders and with a million."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from statistics import median

from sqlalchemy import text

from bench import million
from bench.clients import time_each, write_request
from bench.lines import Line, compare, state_most
from bench.pages import Shown, measure_pages
from bench.seeds import SeededDatabase
from bench.servers import Plan
from bench.session import Session
from bench.workload import PHOTO, SUBMIT_BODY
from bench.wrk import Target
from printworks.store.engine.database import Database
from printworks.store.orders.search import OrderSearch, search_orders
from printworks.store.tables import images

SUBMITTED = 40
# Orders that programs poll: so few that none is complete yet in either shop. Open ones take three
# times as long as others.
NEWEST = 100
PAGE = "/v3.0/orders?limit=100"
# A reference and a recipient that both shops have once.
REFERENCE, RECIPIENT = "NEW-7", "Newcomer 7"

# Milliseconds of one round, by the name of what is measured.
Measures = dict[str, Callable[[], float]]


@dataclass(frozen=True)
class GrowingShop:
    """A shop, how to serve it, and orders that nothing has happened to."""

    name: str
    orders: int
    seeded: SeededDatabase
    plan: Plan
    checked: range
    submitted: Iterator[int]


def measure(session: Session) -> Iterator[Line]:
    """Measure one client at a time; the two shops take turns."""
    with ExitStack() as ends:
        few = _fill(session, "few", session.sizes.few)
        many = _fill(session, "many", session.sizes.many)
        ends.callback(few.seeded.close)
        ends.callback(many.seeded.close)
        with session.serving(few=few.plan, many=many.plan):
            yield from _compare_requests(session, few, many)
        shops = {shop.name: (shop.seeded.database, shop.seeded.merchant) for shop in (few, many)}
        shown = measure_pages(shops, session.sizes.page_rounds, now=datetime.now(UTC))
    session.figures["pages"] = {
        path: {"few_ms": page.milliseconds, "many_ms": shown["many"][path].milliseconds}
        for path, page in shown["few"].items()
    }
    yield from _compare_pages(shown["few"], shown["many"])


def _compare_requests(session: Session, few: GrowingShop, many: GrowingShop) -> Iterator[Line]:
    deep = f"{PAGE}&start={many.orders * 9 // 10}"
    # What is compared is measured one after the other, before the machine is another.
    pairs = zip(
        _plan_requests(session, few).items(), _plan_requests(session, many).items(), strict=True
    )
    measures = dict(measure for pair in pairs for measure in pair)
    measures["list, many, deep"] = _reading(session, many, deep)
    found = session.interleave("growth", measures)
    session.figures["requests"] = {
        name: {"p50_ms": median(rounds), "rounds": rounds} for name, rounds in found.items()
    }
    names = ("GET", "GET of any", "list", "SubmissionStatus", "submit", "search by reference")
    for name in (*names, "search by recipient"):
        ours, theirs = found[f"{name}, many"], found[f"{name}, few"]
        yield compare(f"{name}, many / few orders", ours, theirs)
    yield compare("list, deep / first page", found["list, many, deep"], found["list, many"])


def _plan_requests(session: Session, shop: GrowingShop) -> Measures:
    plan, read = shop.plan, partial(_reading, session, shop)

    newest = read("/v3.0/orders/%d", range(max(1, shop.orders - NEWEST + 1), shop.orders + 1))

    def poll() -> float:
        newest()
        return newest()

    def submit() -> float:
        paths = [f"/v3.0/orders/{one}/status" for one in islice(shop.submitted, SUBMITTED)]
        return time_each(
            plan, [write_request(plan, "POST", path, SUBMIT_BODY) for path in paths]
        ).cut(50)

    def search() -> float:
        with shop.seeded.database.reading() as db:
            wanted, merchant_id = OrderSearch(text=RECIPIENT), shop.seeded.merchant.id
            return million.time_it(
                lambda: search_orders(db, merchant_id, wanted, before=None, limit=50)
            )

    measures = {
        # Those that programs ask for again and again. The first time is not measured: the web
        # processes have forgotten them over those that anybody asks for.
        "GET": poll,
        # Of a thousand, all answers are kept by the web process; of a million, hardly any.
        "GET of any": read("/v3.0/orders/%d", range(1, shop.orders + 1)),
        "list": read(PAGE),
        "SubmissionStatus": read("/v3.0/orders/%d/SubmissionStatus", shop.checked),
        "submit": submit,
        "search by reference": read(f"/v3.0/orders?merchantOrderId={REFERENCE}"),
        "search by recipient": search,
    }
    return {f"{name}, {shop.name}": call for name, call in measures.items()}


def _reading(
    session: Session, shop: GrowingShop, path: str, ids: range = range(1, 2)
) -> Callable[[], float]:
    """Return a measure: the median latency of one client."""
    target = Target(shop.plan.port, path, shop.plan.credentials, ids=ids)
    drive = session.driving(target, connections=1)
    return lambda: drive().p50


def _fill(session: Session, name: str, count: int) -> GrowingShop:
    url = session.make_url(name)
    database = Database(url)
    merchant = million.fill(database, count, session.sizes.whole, now=datetime.now(UTC))
    _add_images(database, count)
    database.close()
    seeded = SeededDatabase(url, merchant)
    checked = seeded.add_orders(session.sizes.few, [PHOTO])
    submitted = seeded.add_orders(SUBMITTED * (session.sizes.rounds + 1), [PHOTO])
    plan = session.plan(name, seeded)
    return GrowingShop(name, count, seeded, plan, checked, iter(submitted))


def _add_images(database: Database, count: int) -> None:
    """Give every order an image: a copy of the first one."""
    names = [column.name for column in images.columns if column.name != "id"]
    values = ["orders.id" if name == "order_id" else f"first.{name}" for name in names]
    with database.writing() as db:
        db.execute(
            text(
                f"INSERT INTO images ({', '.join(names)}) SELECT {', '.join(values)} "
                "FROM orders, (SELECT * FROM images ORDER BY id LIMIT 1) AS first "
                "WHERE orders.id <= :count ORDER BY orders.id"
            ),
            {"count": count},
        )


def _compare_pages(few: dict[str, Shown], many: dict[str, Shown]) -> Iterator[Line]:
    name = "page that grows most, many / few orders"
    lines = {path: compare(name, many[path].rounds, few[path].rounds) for path in few}
    worst = max(lines, key=lambda path: lines[path].value or 0)
    slowest = max(many, key=lambda path: many[path].milliseconds)
    yield replace(lines[worst], note=worst)
    found = state_most("slowest page, many orders, ms", [many[slowest].milliseconds])
    yield Line(found.name, found.value, found.ours, note=slowest)
