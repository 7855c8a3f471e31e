"""Orders of all merchants, for operators only."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, select, text

from printworks.rules.orders import ENDED, OrderStatus
from printworks.store.engine.columns import beside_index
from printworks.store.engine.rows import columns_of, get_struct, newest_first, possible_id
from printworks.store.orders.amounts import TOTAL
from printworks.store.orders.lookups import is_true
from printworks.store.orders.orders import COLUMNS, Order
from printworks.store.orders.search import OrderLine
from printworks.store.tables import merchants, orders


class AnyOrder(OrderLine, frozen=True):
    """What a list of all merchants' orders shows of one."""

    merchant_id: int
    merchant: str
    merchant_code: str


_LINE: Final = columns_of(
    orders, AnyOrder, price=TOTAL, merchant=merchants.c.name, merchant_code=merchants.c.code
)
# In all merchants' orders no index leads to a status: so many of the newest are filtered.
MOST_READ: Final = 20_000
# At most this many orders that are held or stuck are filtered.
_MOST_PROBLEMS: Final = 5000
# Sorting the few orders that are found in another way is faster than reading all orders
# by id.
_NUMBER: Final = beside_index(orders.c.id)
# Spelled as in the index of orders with problems.
HAS_PROBLEM: Final = text("(held_at IS NOT NULL OR (reasons IS NOT NULL AND status = 'Submitted'))")


def get_any_order(db: Connection, order_id: int) -> Order:
    query = select(*COLUMNS).where(orders.c.id == possible_id(order_id))
    return get_struct(db, Order, query, missing=f"There is no order {order_id}.")


def list_any_orders(db: Connection, *, before: int | None, limit: int) -> list[AnyOrder]:
    """Return the newest orders of all merchants, below the id `before`."""
    return _read(db, _newest(before, limit))


def list_newest_with_status(db: Connection, status: OrderStatus, *, limit: int) -> list[AnyOrder]:
    """Return orders of all merchants in this status, of the `MOST_READ` newest orders only."""
    newest = _newest(None, MOST_READ).subquery("newest")
    wanted = (
        select(orders.c.id)
        .where(orders.c.id.in_(select(newest.c.id)), is_true(orders.c.status == status))
        .order_by(orders.c.id.desc())
        .limit(limit)
    )
    return _read(db, wanted)


def list_problem_orders(
    db: Connection, *, is_held: bool, before: int | None, limit: int
) -> list[AnyOrder]:
    """Return orders that are held, or those that are stuck, newest first."""
    held = and_(orders.c.held_at.is_not(None), orders.c.status.not_in(ENDED))
    stuck = and_(orders.c.reasons.is_not(None), orders.c.status == OrderStatus.SUBMITTED)
    # At first a few from their small index: with more conditions both databases would read
    # all orders.
    with_problems = _newest(before, _MOST_PROBLEMS).where(HAS_PROBLEM)
    wanted = (
        select(orders.c.id)
        .where(orders.c.id.in_(with_problems), held if is_held else stuck)
        .order_by(_NUMBER.desc())
        .limit(limit)
    )
    return _read(db, wanted)


def _newest(before: int | None, limit: int) -> Select[Any]:
    return newest_first(select(orders.c.id), orders.c.id, before=before, limit=limit)


def _read(db: Connection, wanted: Select[Any]) -> list[AnyOrder]:
    """Read the orders with these ids, newest first."""
    return read_any_orders(db, db.execute(wanted).scalars().all())


def read_any_orders(db: Connection, ids: Sequence[int]) -> list[AnyOrder]:
    """Return what a list shows of these orders, newest first."""
    rows = db.execute(
        select(*_LINE)
        .join_from(orders, merchants, orders.c.merchant_id == merchants.c.id)
        .where(orders.c.id.in_(ids))
    )
    return sorted((AnyOrder(*row) for row in rows), key=lambda order: -order.id)
