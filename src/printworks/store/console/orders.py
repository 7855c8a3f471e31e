"""Orders of all merchants, for whoever runs the business. Merchants never reach these."""

from typing import Any, Final

from sqlalchemy import Connection, Select, and_, select, text

from printworks.errors import NotFound
from printworks.rules.orders import ENDED, OrderStatus
from printworks.store.engine.columns import beside_index
from printworks.store.orders.orders import LARGEST_ID, Order
from printworks.store.orders.search import OrderLine
from printworks.store.tables import merchants, orders


class AnyOrder(OrderLine, frozen=True):
    """What a list of everybody's orders shows of one."""

    merchant_id: int
    merchant: str
    merchant_code: str


_ORDER: Final = [orders.c[name] for name in Order.__struct_fields__]
_MERCHANTS: Final = {"merchant": merchants.c.name, "merchant_code": merchants.c.code}
_LINE: Final = [
    _MERCHANTS[name] if name in _MERCHANTS else orders.c[name]
    for name in AnyOrder.__struct_fields__
]
# So many that are held or stuck are looked through for those of one kind.
_MOST_TROUBLED: Final = 5000
# To go through all orders one after the other only because they are numbered would take longer
# than to sort the few that are found otherwise.
_NUMBER: Final = beside_index(orders.c.id)
# Spelled as in the index of what is troubled.
IS_TROUBLED: Final = text(
    "(held_at IS NOT NULL OR (error_message IS NOT NULL AND status = 'Submitted'))"
)


def get_any_order(db: Connection, order_id: int) -> Order:
    """Return an order by its number alone."""
    row = None
    if 0 < order_id <= LARGEST_ID:
        row = db.execute(select(*_ORDER).where(orders.c.id == order_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no order {order_id}.")
    return Order(*row)


def list_any_orders(db: Connection, *, before: int | None, limit: int) -> list[AnyOrder]:
    """Return the newest orders of all merchants; `before` is the id to go on from."""
    return _read(db, _newest(before, limit))


def list_troubled_orders(
    db: Connection, *, is_held: bool, before: int | None, limit: int
) -> list[AnyOrder]:
    """Return orders that are held, or else those that cannot go on, newest first."""
    held = and_(orders.c.held_at.is_not(None), orders.c.status.not_in(ENDED))
    stuck = and_(orders.c.error_message.is_not(None), orders.c.status == OrderStatus.SUBMITTED)
    # Few at first, from their small index: whatever else is asked would tempt both databases
    # to go through all orders.
    troubled = _newest(before, _MOST_TROUBLED).where(IS_TROUBLED)
    wanted = (
        select(orders.c.id)
        .where(orders.c.id.in_(troubled), held if is_held else stuck)
        .order_by(_NUMBER.desc())
        .limit(limit)
    )
    return _read(db, wanted)


def find_orders_by_reference(db: Connection, reference: str, *, limit: int) -> list[AnyOrder]:
    """Return the newest orders with exactly this reference, whoever's they are.

    One index entry is looked up for each merchant.
    """
    if "\0" in reference:
        return []
    wanted = (
        select(orders.c.id)
        .join_from(merchants, orders, orders.c.merchant_id == merchants.c.id)
        .where(orders.c.merchant_order_id == reference, orders.c.merchant_order_id.is_not(None))
        .order_by(_NUMBER.desc())
        .limit(limit)
    )
    return _read(db, wanted)


def find_orders_by_id(db: Connection, order_id: int) -> list[AnyOrder]:
    """Return the order with this number, if there is one."""
    if not 0 < order_id <= LARGEST_ID:
        return []
    return _read(db, _newest(None, 1).where(orders.c.id == order_id))


def _newest(before: int | None, limit: int) -> Select[Any]:
    wanted = select(orders.c.id).order_by(orders.c.id.desc()).limit(limit)
    return wanted if before is None else wanted.where(orders.c.id < before)


def _read(db: Connection, wanted: Select[Any]) -> list[AnyOrder]:
    """Read the orders with these numbers, newest first."""
    ids = db.execute(wanted).scalars().all()
    rows = db.execute(
        select(*_LINE)
        .join_from(orders, merchants, orders.c.merchant_id == merchants.c.id)
        .where(orders.c.id.in_(ids))
    )
    return sorted((AnyOrder(*row) for row in rows), key=lambda order: -order.id)
