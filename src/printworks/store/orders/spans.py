"""Spans: the ordinals of a merchant's orders of some days."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, literal_column, select

from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import LARGEST_ID
from printworks.store.orders.lookups import IS_MERCHANTS
from printworks.store.tables import orders

# Orders are numbered in the order of their creation, give or take this much: requests take
# time, and the clocks of two machines differ.
DISORDER: Final = timedelta(minutes=10)


class Span(NamedTuple):
    """A range of ordinals that contains everything that is searched for, both ends included."""

    oldest: int
    newest: int


# The orders next to those of a range of days.
_LAST_BEFORE: Final = PreparedStatement(
    select(orders.c.ordinal)
    .where(IS_MERCHANTS, orders.c.created_at < bindparam("at"))
    .order_by(orders.c.created_at.desc())
    .limit(literal_column("1"))
)
_FIRST_SINCE: Final = PreparedStatement(
    select(orders.c.ordinal)
    .where(IS_MERCHANTS, orders.c.created_at >= bindparam("at"))
    .order_by(orders.c.created_at)
    .limit(literal_column("1"))
)


def find_span(
    db: Connection, merchant_id: int, *, since: datetime | None, until: datetime | None
) -> Span:
    """Return the ordinals of a merchant's orders of some days, and a few more at each end."""
    oldest, newest = 1, LARGEST_ID
    if since is not None:
        row = _LAST_BEFORE.first(db, {"merchant_id": merchant_id, "at": since - DISORDER})
        oldest = row[0] + 1 if row else 1
    if until is not None:
        row = _FIRST_SINCE.first(db, {"merchant_id": merchant_id, "at": until + DISORDER})
        newest = row[0] - 1 if row else LARGEST_ID
    return Span(oldest, newest)
