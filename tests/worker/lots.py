"""Files of orders, and what becomes of them in a shop."""

import csv
import io
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import select

from printworks.actions.lots.imports import check_file, read_file, store_import
from printworks.actions.lots.lots import start_lot
from printworks.actions.work import Actor, Work
from printworks.rules.lots import LineState
from printworks.rules.people import Realm
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.orders.lots import Lot, LotLine, get_lot, read_lines
from printworks.store.tables import orders
from tests.factories import a_work

SKU: Final = "GLOBAL-PHO-4X6-PRO"
ROW: Final = {
    "reference": "A-1",
    "recipient_name": "Mary Fox",
    "address1": "12 Orchard Lane",
    "town_or_city": "York",
    "postal_code": "YO1 7HH",
    "country": "GB",
    "sku": SKU,
    "image_url": "https://shop.example/1.jpg",
}


def a_file(*rows: dict[str, Any]) -> bytes:
    """Write a CSV file; each row says what is different from the usual one."""
    written = io.StringIO(newline="")
    heads = list(dict.fromkeys([*ROW, *(name for row in rows for name in row)]))
    table = csv.DictWriter(written, heads)
    table.writeheader()
    table.writerows({**ROW, **row} for row in rows)
    return written.getvalue().encode()


def many_rows(count: int) -> list[dict[str, Any]]:
    """Describe so many orders."""
    return [{"reference": f"S-{number}"} for number in range(count)]


def work_as_mary(db: Any, merchant: Merchant, **given: Any) -> Work:
    """Work for a person of the merchant."""
    current = get_merchant(db, merchant.id)
    return a_work(db, current, actor=Actor(Realm.MERCHANT, "mary@example.com"), **given)


def send_file(database: Database, merchant: Merchant, content: bytes) -> int:
    """Upload a file, and return the number of its lot."""
    file = read_file("orders.csv", content, most_rows=5000)
    with database.writing() as db:
        work = work_as_mary(db, merchant)
        return store_import(work, check_file(work, file))


def start(
    database: Database, merchant: Merchant, lot_id: int, *, submits: bool = False, **given: Any
) -> None:
    """Press the button."""
    with database.writing() as db:
        start_lot(work_as_mary(db, merchant, **given), lot_id, submits=submits)


def lot_of(database: Database, merchant: Merchant, lot_id: int) -> Lot:
    """Return the lot as it is by now."""
    with database.reading() as db:
        return get_lot(db, merchant.id, lot_id)


def lines_of(database: Database, lot_id: int) -> list[LotLine]:
    """Return all lines of a lot."""
    with database.reading() as db:
        return list(read_lines(db, lot_id, tuple(LineState)))


def references_of(database: Database, merchant: Merchant) -> Sequence[str | None]:
    """Return the references of all orders of a merchant, in their order."""
    query = select(orders.c.merchant_order_id).where(orders.c.merchant_id == merchant.id)
    with database.reading() as db:
        return list(db.execute(query.order_by(orders.c.id)).scalars())
