"""The quotes of open orders, ended by an operator."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, literal_column, select, update

from printworks.rules.orders import OrderStatus
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.rows import possible_id
from printworks.store.tables import orders

_MORE: Final = {"version": orders.c.version + literal_column("1")}
# Spelled out, as the index of drafts is.
_is_open: Final = orders.c.status == spelled_out(OrderStatus.NOT_YET_SUBMITTED)


def end_quotes(
    db: Connection,
    *,
    merchant_id: int | None,
    order_id: int | None,
    now: datetime,
    most: int,
) -> list[int]:
    """End the quotes of some open orders; return which, until there are none left."""
    wanted = (
        select(orders.c.id)
        .where(_is_open, orders.c.payment_request_id.is_(None), orders.c.quote_expires_at > now)
        .order_by(orders.c.created_at)
        .limit(most)
    )
    if merchant_id is not None:
        wanted = wanted.where(orders.c.merchant_id == merchant_id)
    if order_id is not None:
        wanted = wanted.where(orders.c.id == possible_id(order_id))
    # Asked again of each row once it is locked: it may be submitted at this moment.
    ended = (
        update(orders)
        .where(
            orders.c.id.in_(wanted),
            _is_open,
            orders.c.payment_request_id.is_(None),
        )
        .values({"quote_expires_at": now} | _MORE)
        .returning(orders.c.id)
    )
    return sorted(db.execute(ended).scalars())
