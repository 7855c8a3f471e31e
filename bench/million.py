"""Measure searches and pages of a shop with a million orders.

Run `python -m bench.million` from the repository: it fills a database of each kind and prints a
table of milliseconds; then the same for the pages of that shop.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final

from sqlalchemy import Connection, text

from bench.pages import Shown, measure_pages
from bench.workload import PHOTO, URL
from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.catalogue import add_version
from printworks.actions.images.images import add_images, record_image_status
from printworks.actions.orders.orders import create_order
from printworks.actions.price_lists import ListTerms, add_list
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.submission.submit import submit_order
from printworks.actions.work import SystemWork
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.labs.documents import LabReport
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus, ShippingMethod
from printworks.rules.payments import Billing
from printworks.rules.production import LabState
from printworks.rules.search import make_recipient_key
from printworks.store.accounts.merchants import Merchant, set_billing
from printworks.store.accounts.privacy.sweeps import list_old_recipients
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage
from printworks.store.orders.filters import count_orders as count_matching
from printworks.store.orders.orders import NewOrder, get_order
from printworks.store.orders.search import OrderSearch, search_orders
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import schema
from printworks.store.views.console.figures import (
    count_callbacks,
    count_orders,
    count_production,
    sum_days_over,
)
from printworks.store.views.console.jobs import search_jobs
from printworks.store.views.console.labs import count_queue, list_queue
from printworks.store.views.console.ledger import list_money
from printworks.store.views.console.merchants import search_merchants
from printworks.store.views.console.problems import find_problems
from printworks.store.views.console.search import (
    PersonSearch,
    find_orders_of_person,
    search_any_orders,
)
from tests import postgres
from tests.factories import a_system_work, a_work

MANY: Final = 1_000_000
# Orders created by the service itself, with images, shipments, events and ledger entries.
WHOLE: Final = 300
# Orders of this many days also have a shipment, a charge and a callback. A small shop is as old, at
# least: lists of days are as long as a large shop's.
DAYS_WITH_MORE: Final = 60
MINUTES_OF_A_DAY: Final = 24 * 60
# The newest orders are not complete yet; of a small shop, a tenth: more than its pages show at once.
MOST_UNDER_WAY: Final = 3_000
REPEATS: Final = 15
SYLLABLES: Final = ("ba", "do", "fen", "gra", "hol", "ker", "lin", "mar", "ros", "tal")
FIRST_NAMES: Final = ("Ann", "Bea", "Carl", "Dora", "Émile", "Fay", "Gus", "Hal", "Ida", "Jan")

# How each database counts, and how it calculates times.
COUNTED: Final = {
    "sqlite": "(WITH RECURSIVE counted(n) AS "
    "(VALUES (1) UNION ALL SELECT n + 1 FROM counted WHERE n < :count) SELECT n FROM counted)",
    "postgresql": "(SELECT n FROM generate_series(1, :count) AS n) AS counted",
}
MINUTES_AFTER: Final = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', :first, '+' || {n} || ' minutes')",
    "postgresql": "CAST(:first AS timestamptz) + {n} * interval '1 minute'",
}
HOURS_AFTER: Final = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', {column}, '+' || ({hours}) || ' hours')",
    "postgresql": "{column} + ({hours}) * interval '1 hour'",
}
DAY_OF: Final = {
    "sqlite": "date({column}, '+5 days')",
    "postgresql": "to_char({column} AT TIME ZONE 'UTC' + interval '5 days', 'YYYY-MM-DD')",
}


def fill(database: Database, count: int = MANY, whole: int = WHOLE, *, now: datetime) -> Merchant:
    """Give one merchant this many orders, the last ones just now: one every minute, or less often."""
    schema.migrate(database)
    with database.writing() as db:
        merchant = add_merchant(
            a_system_work(db, now=now, environment="sandbox"), "A million"
        ).merchant
        set_billing(db, merchant.id, Billing.ACCOUNT)
        _name_people(db)
        apart = max(1, DAYS_WITH_MORE * MINUTES_OF_A_DAY // count)
        first = now - timedelta(minutes=apart * count)
        _add_orders(db, merchant.id, count, first=first, apart=apart)
        _add_more(db, since=now - timedelta(days=DAYS_WITH_MORE))
        # Labs are paid by month.
        _add_business(db, paid_until=now - timedelta(days=30))
        _add_plans(a_system_work(db, now=now))
        db.execute(text("DROP TABLE bench_people"))
    merchant = Merchant(**{**_fields(merchant), "billing": Billing.ACCOUNT})
    with database.writing() as db:
        sum_days_over(db, transit_days=open_catalogue(None).transit_days, now=now)
    for number in range(whole):
        with database.writing() as db:
            _add_whole(db, merchant, number, now=now)
    return merchant


def _fields(merchant: Merchant) -> dict[str, Any]:
    return {name: getattr(merchant, name) for name in merchant.__struct_fields__}


def _name_people(db: Connection) -> None:
    """Create ten thousand names with a thousand surnames."""
    db.execute(text("CREATE TABLE bench_people (number integer PRIMARY KEY, name text, key text)"))
    surnames = [(a + b + c).title() for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
    names = [f"{first} {surname}" for surname in surnames for first in FIRST_NAMES]
    db.execute(
        text("INSERT INTO bench_people VALUES (:number, :name, :key)"),
        [
            {"number": number, "name": name, "key": make_recipient_key(name)}
            for number, name in enumerate(names)
        ],
    )


def _add_orders(
    db: Connection, merchant_id: int, count: int, *, first: datetime, apart: int
) -> None:
    kind = db.dialect.name
    timestamp = MINUTES_AFTER[kind].format(n=f"(n * {apart})")
    # Most are complete; of the newest, some are submitted and one in five is still open.
    status = """CASE WHEN n % 50 = 7 THEN 'Cancelled' WHEN n <= :complete THEN 'Complete'
        WHEN n % 5 = 0 THEN 'NotYetSubmitted' ELSE 'Submitted' END"""
    reference = "CASE WHEN n % 7 = 0 THEN NULL ELSE 'A-' || (100000 + n) END"
    town = "CASE WHEN n % 10 = 3 THEN 'Whitby ' || n % 2000 ELSE 'London' END"
    email = "CASE WHEN n % 3 = 0 THEN 'p' || n % 300000 || '@example.com' END"
    db.execute(
        text(f"""
        INSERT INTO orders (merchant_id, ordinal, status, merchant_order_id, recipient_name,
            recipient_key, address1, town_or_city, town_key, postal_code, postal_key, email, email_key,
            destination_country, shipping_method, payment, invoice_amount_net, invoice_tax, image_count, currency,
            price, shipping_price, created_at, updated_at)
        SELECT {merchant_id}, n, {status}, {reference}, name, key, '1 High Street', {town},
            lower({town}),
            'SW1A ' || n % 20000, 'SW1A' || n % 20000, {email}, {email}, 'GB', 'Standard',
            'InvoiceMe', 0, 0, 1, 'GBP', 1250, 350, {timestamp}, {timestamp}
        FROM {COUNTED[kind]} JOIN bench_people ON number = (n % 10000 * 7919) % 10000
        ORDER BY n
        """),
        {
            "count": count,
            "complete": count - min(MOST_UNDER_WAY, count // 10),
            "first": _write_timestamp(first, kind),
        },
    )
    db.execute(
        text("UPDATE merchants SET order_count = :count WHERE id = :merchant"),
        {"count": count, "merchant": merchant_id},
    )


def _write_timestamp(timestamp: datetime, kind: str) -> Any:
    return timestamp.strftime("%Y-%m-%d %H:%M:%S") if kind == "sqlite" else timestamp


def _add_more(db: Connection, *, since: datetime) -> None:
    """Add a shipment, a charge and a callback to recent complete orders."""
    kind = db.dialect.name
    latest = DAY_OF[kind].format(column="created_at")
    day = DAY_OF[kind].format(column="created_at").replace("5 days", "0 days")
    # Nothing is shipped in the future: complete orders are older than that.
    shipped = HOURS_AFTER[kind].format(column="created_at", hours="20 + id % 30")
    recent = "FROM orders WHERE status = 'Complete' AND created_at >= :since ORDER BY id"
    lines = """'[["receivable",1250],["sales",-1250]]'"""
    for statement in (
        f"""INSERT INTO shipments (order_id, state, lab, band, service, carrier, is_tracked,
            items_cost, shipping_cost, image_ids, copies, earliest_arrival, latest_arrival,
            sent_at, shipped_at, lab_token, created_at, updated_at,
            tracking_number)
        SELECT id, 'dispatched', 'lab-' || id % 3, 'prints', 'service', 'DHL',
            {"0" if kind == "sqlite" else "false"}, 400, 350, '[]', 1 + id % 4, {latest}, {latest},
            created_at, {shipped}, 'k3v7x2mq7c', created_at, created_at, 'JD' || id {recent}""",
        f"""INSERT INTO images (order_id, sku, status, copies, sizing, attributes, created_at,
            updated_at)
        SELECT id, CASE WHEN id % 9 = 0 THEN '{PHOTO}' ELSE 'OTHER' END, 'Ok', 1, 'Crop', '{{}}',
            created_at, created_at {recent}""",
        f"""INSERT INTO ledger_entries (merchant_id, number, key, kind, order_id, currency, lines,
            memo, created_at, balance, previous, hash)
        SELECT merchant_id, ordinal, 'charge-' || id, 'charge', id, 'GBP', {lines}, '',
            created_at, 1250 * row_number() OVER (ORDER BY id), '', '' {recent}""",
        f"""INSERT INTO ledger_days (merchant_id, day, kind, currency, entries, amount)
        SELECT merchant_id, {day}, 'charge', 'GBP', count(*), 1250 * count(*)
        FROM ledger_entries GROUP BY merchant_id, {day}""",
        f"""INSERT INTO callbacks (merchant_id, order_id, sequence, state, attempts, created_at)
        SELECT merchant_id, id, 1, 'delivered', 1, created_at {recent}""",
        """INSERT INTO callback_attempts (callback_id, number, at, url, status, milliseconds,
            answer)
        SELECT id, 1, created_at, 'https://shop.example/', CASE WHEN id % 20 = 0 THEN 500
            ELSE 200 END, 12, '' FROM callbacks""",
    ):
        values = {"since": _write_timestamp(since, kind)} if ":since" in statement else {}
        db.execute(text(statement), values)
    db.execute(text("UPDATE merchants SET ledger_count = order_count"))


def _add_business(db: Connection, *, paid_until: datetime) -> None:
    """Add an invoice, a cost and the sums of its day to whatever was charged; pay labs."""
    day = DAY_OF[db.dialect.name].format(column="created_at").replace("5 days", "0 days")
    for statement in (
        f"""INSERT INTO sales_days (day, merchant_id, currency, country, lab, sku, orders, copies,
            net, tax, refunded_net, refunded_tax, items_cost, shipping_cost, credited,
            credited_tax, debited)
        SELECT {day}, merchant_id, 'GBP', 'GB', 'lab-' || order_id % 3, 'SKU-' || order_id % 97,
            count(*), count(*), 1000 * count(*), 250 * count(*), 0, 0, 400 * count(*),
            350 * count(*), 0, 0, 0
        FROM ledger_entries GROUP BY 1, 2, 5, 6""",
        f"""INSERT INTO lab_costs (shipment_id, number, lab, merchant_id, order_id, currency,
            country, items_cost, shipping_cost, parts, reason, day, created_at)
        SELECT id, 1, lab, 1, order_id, 'GBP', 'GB', 400, 350, '{{}}', '', {day}, created_at
        FROM shipments WHERE state = 'dispatched'""",
        """INSERT INTO invoices (series, year, sequence, number, kind, merchant_id, currency, net,
            tax, gross, issued_at, document, hash)
        SELECT '', 2026, number, '2026-' || number, 'invoice', merchant_id, 'GBP', 1000, 250, 1250,
            created_at, '{}', '' FROM ledger_entries""",
        """INSERT INTO invoice_counters (series, year, last, head)
        SELECT series, year, max(sequence), '' FROM invoices GROUP BY series, year""",
        """INSERT INTO lab_payments (lab, currency, until, amount, memo, created_at)
        SELECT lab, currency, max(day), sum(items_cost + shipping_cost), '', max(created_at)
        FROM lab_costs WHERE day <= :until GROUP BY lab, currency""",
        """UPDATE lab_costs SET payment_id = (SELECT paid.id FROM lab_payments AS paid
            WHERE paid.lab = lab_costs.lab AND paid.currency = lab_costs.currency)
        WHERE day <= :until""",
        """INSERT INTO lab_debts (lab, currency, merchant_id, costs, items_cost, shipping_cost)
        SELECT lab, currency, merchant_id, count(*), sum(items_cost), sum(shipping_cost)
        FROM lab_costs WHERE payment_id IS NULL GROUP BY lab, currency, merchant_id""",
    ):
        values = {"until": paid_until.date().isoformat()} if ":until" in statement else {}
        db.execute(text(statement), values)


def _add_plans(system: SystemWork) -> None:
    """Add a draft of the catalogue with another price, and a price list."""
    texts = open_catalogue(None).texts
    dearer = texts["prints.toml"].replace("GBP = 270", "GBP = 290")
    add_version(system, Catalogue.load({**texts, "prints.toml": dearer}), "Dearer prints")
    add_list(system, ListTerms(name="Schools", percent_off=1000))


def _add_whole(db: Connection, merchant: Merchant, number: int, *, now: datetime) -> None:
    """Add an order through the service: a third stay open, a third are dispatched."""
    catalogue = open_catalogue(None)
    new = NewOrder(
        recipient_name=f"Zoë Newcomer {number}",
        destination_country="GB",
        shipping_method=ShippingMethod.STANDARD,
        merchant_order_id=f"NEW-{number}",
        address1="1 High Street",
        town_or_city="London",
        postal_code="SW1A 1AA",
    )
    order_id = create_order(a_work(db, merchant, now=now), new).id
    images = [NewImage(sku=PHOTO, url=URL, copies=1)] * 2
    order = get_order(db, merchant.id, order_id)
    for image in add_images(a_work(db, merchant, now=now, catalogue=catalogue), order, images):
        size: dict[str, Any] = {"md5": "0" * 32, "width": 3000, "height": 2000}
        record_image_status(a_work(db, merchant, now=now), image, ImageStatus.OK, **size)
    if number % 3 == 0:
        return
    order = get_order(db, merchant.id, order_id)
    submit_order(a_work(db, merchant, now=now, catalogue=catalogue), order)
    if number % 3 == 1:
        return
    for shipment in list_shipments(db, order_id):
        tracking = f"JD{number:04}"
        report = LabReport(job=shipment.id, state=LabState.DISPATCHED, tracking_number=tracking)
        apply_lab_report(a_system_work(db, now=now, catalogue=catalogue), report)


def list_searches(now: datetime) -> Mapping[str, tuple[OrderSearch, int | None]]:
    """Return the measured searches: what to search for, and before which order."""
    day = now.date()
    old, older = day - timedelta(days=500), day - timedelta(days=490)
    status = OrderStatus
    return {
        "newest": (OrderSearch(), None),
        "deep": (OrderSearch(), 100_000),
        "one status, most orders": (OrderSearch(status=status.COMPLETE), None),
        "one status, few orders": (OrderSearch(status=status.SUBMITTED), None),
        "a status that nobody has": (OrderSearch(status=status.AWAITING_PAYMENT), None),
        "ten days long ago": (OrderSearch(from_day=old, to_day=older), None),
        "days before the first": (OrderSearch(to_day=day - timedelta(days=5000)), None),
        "today and a status": (OrderSearch(from_day=day, status=status.COMPLETE), None),
        "long ago, a status not there": (
            OrderSearch(from_day=old, to_day=older, status=status.SUBMITTED),
            None,
        ),
        "id": (OrderSearch(text="777777"), None),
        "reference": (OrderSearch(text="A-123456"), None),
        "reference, beginning": (OrderSearch(text="A-12345"), None),
        "reference, too common": (OrderSearch(text="A-"), None),
        "too common, deep, a status": (
            OrderSearch(text="A-", status=status.AWAITING_PAYMENT),
            500_000,
        ),
        "surname": (OrderSearch(text="Badofen"), None),
        "whole name": (OrderSearch(text="Ann Badofen"), None),
        "whole name, a status not there": (
            OrderSearch(text="Ann Badofen", status=status.AWAITING_PAYMENT),
            None,
        ),
        "part of a name": (OrderSearch(text="ado"), None),
        "one letter": (OrderSearch(text="b"), None),
        "one letter, a status not there": (
            OrderSearch(text="a", status=status.AWAITING_PAYMENT),
            None,
        ),
        "one letter, long ago": (OrderSearch(text="b", from_day=old, to_day=older), None),
        "somebody unknown": (OrderSearch(text="Nobody Atall"), None),
        "unknown, long ago, a status": (
            OrderSearch(text="Atall", from_day=old, to_day=older, status=status.SUBMITTED),
            None,
        ),
        "town": (OrderSearch(text="Whitby 13"), None),
        "town, most orders": (OrderSearch(text="london"), None),
        "town, most orders, a status": (
            OrderSearch(text="London", status=status.AWAITING_PAYMENT),
            None,
        ),
        "tracking number": (OrderSearch(text="jd 990000"), None),
        "product": (OrderSearch(text=PHOTO, sku=PHOTO), None),
        "ten thousand letters": (OrderSearch(text="x " * 5000), None),
    }


def measure(database: Database, merchant: Merchant, *, now: datetime) -> dict[str, float]:
    """Return the median milliseconds of each search."""
    found = {}
    with database.reading() as db:
        for name, (wanted, before) in list_searches(now).items():

            def look(wanted: OrderSearch = wanted, before: int | None = before) -> object:
                return search_orders(db, merchant.id, wanted, before=before, limit=50)

            found[name] = time_it(look)

            def count(wanted: OrderSearch = wanted) -> object:
                return count_matching(db, merchant.id, wanted)

            if before is None and wanted != OrderSearch():
                found[f"{name}: count"] = time_it(count)
        for name, call in list_others(db, now=now).items():
            found[name] = time_it(call)
    return found


def list_others(db: Connection, *, now: datetime) -> Mapping[str, Callable[[], object]]:
    """Return the other measured queries: lists and figures for operators."""
    transit = {"service": 3}

    def anybodys(text: str) -> Callable[[], object]:
        return lambda: search_any_orders(db, text, limit=50)

    person = PersonSearch(name="Ann Badofen", postcode="SW1A 0")
    return {
        "any merchant's, by surname": anybodys("Badofen"),
        "any merchant's, by whole name": anybodys("Ann Badofen"),
        "any merchant's, by one letter": anybodys("b"),
        "any merchant's, by postcode": anybodys("sw1a 1234"),
        "any merchant's, by e-mail address": anybodys("p3333@example.com"),
        "any merchant's, by tracking number": anybodys("JD999999"),
        "any merchant's, by reference": anybodys("A-123456"),
        "any merchant's, unknown": anybodys("Nobody Atall"),
        "a person": lambda: find_orders_of_person(db, person, limit=200),
        "old recipients": lambda: list_old_recipients(
            db, before=now - timedelta(days=400), limit=50
        ),
        "problems": lambda: find_problems(db, transit_days=transit, now=now, limit=20),
        "queue": lambda: (list_queue(db, limit=50), count_queue(db)),
        "money": lambda: list_money(db, limit=50),
        "jobs": lambda: search_jobs(db, limit=50),
        "merchants": lambda: search_merchants(db, limit=50),
        "orders by day": lambda: count_orders(db, now=now),
        "production by day": lambda: count_production(db, transit_days=transit, now=now),
        "callbacks by day": lambda: count_callbacks(db, now=now),
    }


def time_it(call: Callable[[], object]) -> float:
    """Return the median milliseconds of a call."""
    laps = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        laps.append((time.perf_counter() - started) * 1000)
    return median(laps)


@contextmanager
def opened(kind: str) -> Iterator[Database]:
    """Open a new database of a kind until the block ends."""
    if kind == "sqlite":
        folder = Path(tempfile.mkdtemp(prefix="million-"))
        database = Database(f"sqlite:///{folder / 'printworks.db'}")
        try:
            yield database
        finally:
            database.close()
            shutil.rmtree(folder)
        return
    lifeline = postgres.Lifeline()
    database = Database(postgres.Run(lifeline.folder).url("postgres"))
    try:
        yield database
    finally:
        database.close()
        lifeline.let_go()


def main() -> None:
    """Fill a database of each kind, and print the duration of searches and pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=MANY)
    options = parser.parse_args()
    now = datetime.now(UTC)
    tables: dict[str, dict[str, float]] = {}
    pages: dict[str, dict[str, Shown]] = {}
    for kind in ("sqlite", "postgresql"):
        with opened(kind) as database:
            merchant = fill(database, options.orders, now=now)
            if kind == "postgresql":
                # As autovacuum does, which does not run here.
                with database.engine.connect() as db:
                    db.execution_options(isolation_level="AUTOCOMMIT")
                    db.execute(text("VACUUM ANALYZE"))
            tables[kind] = measure(database, merchant, now=now)
            pages |= measure_pages({kind: (database, merchant)}, now=now)
    print(f"{'milliseconds':40} {'SQLite':>10} {'PostgreSQL':>12}")
    for name, taken in tables["sqlite"].items():
        print(f"{name:40} {taken:10.2f} {tables['postgresql'][name]:12.2f}")
    print(f"\n{'pages':34} {'SQLite':>10} {'PostgreSQL':>12} {'bytes':>10}")
    for name, shown in pages["sqlite"].items():
        other = pages["postgresql"][name].milliseconds
        print(f"{name:34} {shown.milliseconds:10.2f} {other:12.2f} {shown.size:10}")


if __name__ == "__main__":
    main()
