"""A merchant's orders, newest first, a page at a time."""

from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select

from printworks.rules.lists import SizedOrder
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import ROWS_AT_ONCE
from printworks.store.orders.orders import COLUMNS, Order
from printworks.store.tables import merchants, orders


class OrderPage(NamedTuple):
    """Some of a merchant's orders, and the total of all its orders."""

    orders: list[Order]
    total: int


_TOTAL: Final = PreparedStatement(
    select(merchants.c.order_count).where(merchants.c.id == bindparam("merchant_id"))
)


def _of_page(*columns: ColumnElement[Any]) -> Select[Any]:
    return (
        select(*columns)
        .where(
            orders.c.merchant_id == bindparam("merchant_id"),
            orders.c.ordinal <= bindparam("newest"),
        )
        .order_by(orders.c.ordinal.desc())
        .limit(bindparam("limit"))
    )


_PAGE: Final = PreparedStatement(_of_page(*COLUMNS), keeps_plan=True)
_SIZES: Final = PreparedStatement(_of_page(orders.c.id, orders.c.image_count))
# Selects what belongs to the orders of a page.
IDS_OF_PAGE: Final = _of_page(orders.c.id)


def list_orders(db: Connection, merchant_id: int, *, limit: int, start: int) -> OrderPage:
    """Return the merchant's orders, newest first, after skipping `start` of them."""
    (total,) = _TOTAL.one(db, {"merchant_id": merchant_id})
    page = {"merchant_id": merchant_id, "newest": total - start, "limit": limit}
    rows = _PAGE.all(db, page) if limit and total > start else []
    return OrderPage([Order(*row) for row in rows], total)


def list_orders_from(db: Connection, merchant_id: int, *, newest: int, limit: int) -> list[Order]:
    """Return the next orders from this ordinal downwards; orders that are new do not move them."""
    rows = _PAGE.all(db, {"merchant_id": merchant_id, "newest": newest, "limit": limit})
    return [Order(*row) for row in rows]


def list_sized_orders(db: Connection, merchant_id: int, *, newest: int) -> list[SizedOrder]:
    """Return the next orders from this ordinal downwards, with the number of their images."""
    page = {"merchant_id": merchant_id, "newest": newest, "limit": ROWS_AT_ONCE}
    return [SizedOrder(*row) for row in _SIZES.all(db, page)]
