"""Some of a merchant's orders, newest first, and how many they are.

Orders that are skipped or counted are found in an index, and those that do not fit are not read.
"""

from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
)

from printworks.rules.orders import OrderStatus
from printworks.store.engine.columns import EnumText, Timestamp
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.orders.lookups import OrderCount, is_true
from printworks.store.orders.orders import COLUMNS, Order
from printworks.store.orders.search import OrderSearch, count_found_orders, read_days
from printworks.store.orders.spans import find_span
from printworks.store.tables import orders

# So many orders after those that are listed are counted; there may be more.
COUNTED_AHEAD: Final = 10_000


class OrderFilter(NamedTuple):
    """Which orders are listed: those that fit all that is given."""

    status: OrderStatus | None = None
    merchant_order_id: str | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None

    @property
    def has_days(self) -> bool:
        return self.created_from is not None or self.created_before is not None


EVERY_ORDER: Final = OrderFilter()

_FIRST: Final = datetime.fromisoformat("1970-01-01T00:00Z")
_LAST: Final = datetime.fromisoformat("9990-01-01T00:00Z")

_listed = orders.alias("listed")
_STATUS, _REFERENCE = _listed.c.status, _listed.c.merchant_order_id
_HAS_STATUS: Final = bindparam("status", type_=EnumText(OrderStatus)) == _STATUS
_IS_OF_DAYS: Final = and_(
    _listed.c.created_at >= bindparam("since", type_=Timestamp),
    _listed.c.created_at < bindparam("until", type_=Timestamp),
)


def _has(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return whether an order of the span has this value.

    Two columns are compared at once, so that only the index with both of them fits.
    """
    place, value = tuple_(column, _listed.c.ordinal), bindparam(name, type_=column.type)
    ordinal = _listed.c.ordinal.type
    return and_(
        # As in the index of references, which leaves out orders without one.
        column.is_not(None),
        place >= tuple_(value, bindparam("oldest", type_=ordinal)),
        place <= tuple_(value, bindparam("newest", type_=ordinal)),
    )


class _Statements(NamedTuple):
    listing: PreparedStatement
    counting: PreparedStatement


@cache
def _choose(*, has_status: bool, has_reference: bool, has_days: bool) -> _Statements:
    """Return the statements for a filter; what finds fewest orders chooses the index."""
    also = [_HAS_STATUS] if has_status and has_reference else []
    also += [_IS_OF_DAYS] if has_days and (has_status or has_reference) else []
    if has_reference:
        first, fits = _REFERENCE, _has(_REFERENCE, "merchant_order_id")
    elif has_status:
        first, fits = _STATUS, _has(_STATUS, "status")
    else:
        first, fits = _listed.c.created_at, _IS_OF_DAYS
    mine = _listed.c.merchant_id == bindparam("merchant_id")
    found = (
        select(_listed.c.ordinal)
        .where(mine, fits, *map(is_true, also))
        .order_by(first.desc(), _listed.c.ordinal.desc())
    )
    page = found.limit(bindparam("limit")).offset(bindparam("start"))
    counted = found.limit(bindparam("most")).subquery("counted")
    return _Statements(
        PreparedStatement(
            select(*COLUMNS)
            .where(orders.c.merchant_id == bindparam("merchant_id"), orders.c.ordinal.in_(page))
            .order_by(orders.c.ordinal.desc())
        ),
        PreparedStatement(select(func.count(literal_column("*"))).select_from(counted)),
    )


def list_filtered_orders(
    db: Connection, merchant_id: int, wanted: OrderFilter, *, limit: int, start: int
) -> list[Order]:
    """Return the orders that fit, newest first, after skipping `start` of them."""
    if limit == 0 or _is_impossible(wanted):
        return []
    values = {**_read_values(db, merchant_id, wanted), "limit": limit, "start": start}
    return [Order(*row) for row in _statements_of(wanted).listing.all(db, values)]


def count_filtered_orders(
    db: Connection, merchant_id: int, wanted: OrderFilter, *, limit: int, start: int
) -> int:
    """Return how many orders fit, of those up to this page and `COUNTED_AHEAD` more."""
    if _is_impossible(wanted):
        return 0
    most = start + limit + COUNTED_AHEAD
    values = {**_read_values(db, merchant_id, wanted), "most": most}
    (count,) = _statements_of(wanted).counting.one(db, values)
    return int(count)


def count_orders(db: Connection, merchant_id: int, wanted: OrderSearch) -> OrderCount:
    """Count the orders that a search finds; it stops at `COUNTED_AHEAD` and says so."""
    if wanted.text:
        return count_found_orders(db, merchant_id, wanted)
    days = read_days(wanted)
    fitting = OrderFilter(
        status=wanted.status,
        created_from=days["since"] if wanted.from_day else None,
        created_before=days["until"] if wanted.to_day else None,
    )
    number = count_filtered_orders(db, merchant_id, fitting, limit=0, start=0)
    return OrderCount(number, number >= COUNTED_AHEAD)


def _statements_of(wanted: OrderFilter) -> _Statements:
    return _choose(
        has_status=wanted.status is not None,
        has_reference=wanted.merchant_order_id is not None,
        has_days=wanted.has_days,
    )


def _is_impossible(wanted: OrderFilter) -> bool:
    # PostgreSQL raises an error for a zero byte, and no reference has one.
    return "\0" in (wanted.merchant_order_id or "")


def _read_values(db: Connection, merchant_id: int, wanted: OrderFilter) -> dict[str, Any]:
    since = min(max(wanted.created_from or _FIRST, _FIRST), _LAST)
    until = min(max(wanted.created_before or _LAST, _FIRST), _LAST)
    span = find_span(
        db,
        merchant_id,
        since=since if wanted.created_from else None,
        until=until if wanted.created_before else None,
    )
    return {
        "merchant_id": merchant_id,
        "status": wanted.status,
        "merchant_order_id": wanted.merchant_order_id,
        "since": since,
        "until": until,
        **span._asdict(),
    }
