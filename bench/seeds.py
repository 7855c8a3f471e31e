"""Databases with one merchant and any number of orders.

The service itself makes the first order of each kind, with its images, shipments, events and
callbacks; the others are copies of those rows, so that they are what the service would have
written, whatever columns it has.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection, Table, func, select, text

from bench.million import COUNTED
from bench.pages import running_app
from bench.workload import ORDER_BODY, URL
from bench.wrk import Credentials
from printworks.actions.accounts.merchants import add_key, add_merchant
from printworks.actions.images.images import add_images, record_image_status
from printworks.actions.orders.orders import create_order
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.opening import open_catalogue
from printworks.clock import system_clock
from printworks.labs.documents import LabReport
from printworks.rules.images import ImageStatus
from printworks.rules.orders import ShippingMethod
from printworks.rules.payments import Billing
from printworks.rules.production import LabState
from printworks.store.accounts.merchants import Merchant, get_merchant, set_billing
from printworks.store.engine.database import Database
from printworks.store.engine.sqlite import dbapi2 as sqlite
from printworks.store.images.images import NewImage
from printworks.store.orders.orders import NewOrder, get_order
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import callbacks, images, order_events, orders, schema, shipments
from tests.factories import a_system_work, a_work

NEW: Final = NewOrder(
    recipient_name=ORDER_BODY["recipientName"],
    destination_country=ORDER_BODY["countryCode"],
    shipping_method=ShippingMethod.STANDARD,
    merchant_order_id=ORDER_BODY["merchantOrderId"],
    address1=ORDER_BODY["address1"],
    address2=ORDER_BODY["address2"],
    town_or_city=ORDER_BODY["addressTownOrCity"],
    state_or_county=ORDER_BODY["stateOrCounty"],
    postal_code=ORDER_BODY["postalOrZipCode"],
    mobile_telephone=ORDER_BODY["mobileTelephone"],
)
COPIED: Final[tuple[Table, ...]] = (orders, images, shipments, order_events, callbacks)
# Columns that count a merchant's rows without gaps, and where the merchant's count is kept.
COUNTS: Final[Mapping[tuple[str, str], str]] = {
    ("orders", "ordinal"): "order_count",
    ("callbacks", "number"): "event_count",
}
MINUTES_LATER: Final = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', first.created_at, '+' || n || ' minutes')",
    "postgresql": "first.created_at + n * interval '1 minute'",
}
OTHER_IMAGES: Final = {
    "sqlite": "(SELECT json_group_array(value + {step} * n) FROM json_each(first.image_ids))",
    "postgresql": "(SELECT jsonb_agg(value::bigint + {step} * n) "
    "FROM jsonb_array_elements_text(first.image_ids))",
}


class SeededDatabase:
    """A database with one merchant who pays on account."""

    def __init__(self, url: str, merchant: Merchant | None = None) -> None:
        self.url = url
        self.database = Database(url)
        schema.migrate(self.database)
        with self.database.writing() as db:
            self.merchant = merchant or _add_merchant(db)
            key = add_key(a_work(db, self.merchant, now=system_clock()))
        self.credentials = Credentials(self.merchant.code, key)

    def add_orders(self, count: int, skus: Sequence[str] = (), *, is_sent: bool = False) -> range:
        """Add orders with these images, a minute apart, open or sent; return their IDs."""
        with self.database.writing() as db:
            first = self._add_first(db, skus, count, is_sent=is_sent)
        if skus:
            self._look_at(first)
        with self.database.writing() as db:
            steps = _count_rows(db, first)
            for table in COPIED:
                if steps[table.name] and count > 1:
                    _copy(db, table, first, count, steps)
            self._count(db)
        self._tidy()
        return range(first, first + count)

    def _add_first(self, db: Connection, skus: Sequence[str], count: int, *, is_sent: bool) -> int:
        now, catalogue = system_clock() - timedelta(minutes=count), open_catalogue(None)
        order_id = create_order(a_work(db, self.merchant, now=now), NEW).id

        def work() -> Any:
            return a_work(db, self.merchant, now=now, catalogue=catalogue)

        if skus:
            new = [NewImage(sku=sku, url=URL, copies=1) for sku in skus]
            size: dict[str, Any] = {"md5": "0" * 32, "width": 3000, "height": 2000}
            for image in add_images(work(), get_order(db, self.merchant.id, order_id), new):
                record_image_status(work(), image, ImageStatus.OK, **size)
        if is_sent:
            submit_order(work(), get_order(db, self.merchant.id, order_id))
            for shipment in list_shipments(db, order_id):
                report = LabReport(job=shipment.id, state=LabState.DISPATCHED, tracking_number="J1")
                apply_lab_report(a_system_work(db, now=now, catalogue=catalogue), report)
        return order_id

    def _look_at(self, order_id: int) -> None:
        """Read an order as its merchant does, so that copies have what is calculated then."""
        merchant, key = self.credentials.merchant, self.credentials.key
        headers = {"x-service-merchantid": merchant, "x-service-rest-api-key": key}
        with running_app(self.database) as client:
            status, _ = client.get(f"/v3.0/orders/{order_id}", headers)
        if status != 200:
            message = f"The first order answers {status}."
            raise RuntimeError(message)

    def _count(self, db: Connection) -> None:
        for (table, column), count in COUNTS.items():
            counted = f"SELECT max({column}) FROM {table} WHERE merchant_id = :merchant"
            db.execute(
                text(f"UPDATE merchants SET {count} = ({counted}) WHERE id = :merchant"),
                {"merchant": self.merchant.id},
            )
        if not self.database.is_sqlite:
            for name in (table.name for table in COPIED):
                last = f"greatest(1, (SELECT max(id) FROM {name}))"
                db.execute(text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), {last})"))

    def _tidy(self) -> None:
        """Leave the database as it is after a quiet minute."""
        if not self.database.is_sqlite:
            with self.database.reading() as db:
                db.execute(text("VACUUM ANALYZE"))
            return
        connection = sqlite.connect(self.database.url.database, isolation_level=None)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def close(self) -> None:
        """Close the connections."""
        self.database.close()


def _add_merchant(db: Connection) -> Merchant:
    merchant = add_merchant(a_system_work(db, now=system_clock()), "Bench").merchant
    set_billing(db, merchant.id, Billing.ACCOUNT)
    return get_merchant(db, merchant.id)


def _count_rows(db: Connection, order_id: int) -> dict[str, int]:
    """Return how many rows of each table belong to an order; their IDs are consecutive."""
    found = {orders.name: 1}
    for table in COPIED[1:]:
        ids = select(func.count(), func.max(table.c.id) - func.min(table.c.id) + 1)
        count, span = db.execute(ids.where(table.c.order_id == order_id)).one()
        if count not in (0, span):
            message = f"The {table.name} of the first order do not follow each other."
            raise RuntimeError(message)
        found[table.name] = count
    return found


def _copy(db: Connection, table: Table, first: int, count: int, steps: Mapping[str, int]) -> None:
    kind, step = db.dialect.name, steps[table.name]
    changed = {
        "id": f"first.id + {step} * n",
        "order_id": "first.order_id + n",
        "event_id": f"first.event_id + {steps['order_events']} * n",
        "image_ids": OTHER_IMAGES[kind].format(step=steps["images"]),
        "ordinal": "first.ordinal + n",
        "number": f"first.number + {step} * n",
        "created_at": MINUTES_LATER[kind],
    }
    names = [column.name for column in table.columns]
    values = [changed.get(name, f"first.{name}") for name in names]
    owner = "id" if table is orders else "order_id"
    db.execute(
        text(
            f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {', '.join(values)} "
            f"FROM {table.name} AS first, {COUNTED[kind]} "
            f"WHERE first.{owner} = :first ORDER BY n, first.id"
        ),
        {"first": first, "count": count - 1},
    )
