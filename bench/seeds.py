"""Create data folders with one merchant and any number of orders, by SQL alone."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.workload import ORDER_BODY
from bench.wrk import Credentials
from printworks.actions.accounts.merchants import add_merchant
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.store.engine.database import Database
from printworks.store.engine.sqlite import dbapi2 as sqlite
from printworks.store.tables import schema
from tests.factories import a_system_work

# The column of each member of the request.
COLUMNS: Final = {
    "merchant_order_id": "merchantOrderId",
    "recipient_name": "recipientName",
    "address1": "address1",
    "address2": "address2",
    "town_or_city": "addressTownOrCity",
    "state_or_county": "stateOrCounty",
    "postal_code": "postalOrZipCode",
    "destination_country": "countryCode",
    "mobile_telephone": "mobileTelephone",
}
EVENT: Final = json.dumps(
    {
        "type": "order-created",
        "status": "NotYetSubmitted",
        "merchant_order_id": ORDER_BODY["merchantOrderId"],
    }
)


def an_order_row() -> dict[str, Any]:
    """Return the columns of an order of the first merchant, without ordinal and times."""
    return {
        "merchant_id": 1,
        **{column: ORDER_BODY[member] for column, member in COLUMNS.items()},
        "status": OrderStatus.NOT_YET_SUBMITTED,
        "shipping_method": ShippingMethod.STANDARD,
        "payment": Payment.INVOICE_ME,
        "invoice_amount_net": 0,
        "invoice_tax": 0,
    }


def seed_folder(folder: Path, order_count: int) -> Credentials:
    """Create a data folder; its orders are a minute apart, the last one just now."""
    folder.mkdir(parents=True)
    path = folder / "printworks.db"
    database = Database(f"sqlite:///{path}")
    now = datetime.now(UTC)
    schema.migrate(database)
    with database.writing() as db:
        added = add_merchant(a_system_work(db, now=now, environment="sandbox"), "Bench")
    database.close()
    _insert_orders(path, order_count, first=now - timedelta(minutes=order_count))
    return Credentials(added.merchant.code, added.api_key)


def _insert_orders(path: Path, count: int, *, first: datetime) -> None:
    row = an_order_row()
    names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
    timestamp = "strftime('%Y-%m-%d %H:%M:%f000', :first, '+' || n || ' minutes')"
    connection = sqlite.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        f"""
        WITH RECURSIVE counted(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counted WHERE n < :count)
        INSERT INTO orders (ordinal, created_at, updated_at, {names})
        SELECT n, {timestamp}, {timestamp}, {marks} FROM counted
        """,
        {**row, "count": count, "first": first.strftime("%Y-%m-%d %H:%M:%S")},
    )
    connection.execute(
        "INSERT INTO order_events (order_id, kind, facts, created_at) "
        "SELECT id, 'order-created', ?, created_at FROM orders ORDER BY id",
        [EVENT],
    )
    connection.execute("UPDATE merchants SET order_count = ?", [count])
    connection.execute("COMMIT")
    connection.execute("ANALYZE")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
