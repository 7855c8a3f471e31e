"""The open jobs of labs, for operators."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, func, select

from printworks.rules.production import LabState
from printworks.store.engine.columns import beside_index
from printworks.store.engine.rows import columns_of, cut_page
from printworks.store.orders.shipments import IS_OPEN
from printworks.store.tables import merchants, orders, shipments

# Open shipments have a small index: sorting what is found there is faster than reading all
# shipments by id.
_number = beside_index(shipments.c.id)


class QueuedShipment(msgspec.Struct, frozen=True):
    """A shipment that a lab has to make, or could not."""

    id: int
    order_id: int
    merchant_id: int
    merchant: str
    state: LabState
    lab: str
    service: str
    copies: int
    # Days in ISO 8601.
    earliest_arrival: str
    latest_arrival: str
    sent_at: datetime | None
    held_because: str | None
    # Why the lab did not make it.
    reason: str | None
    created_at: datetime
    # Since when its order is on hold, if it is.
    order_held_at: datetime | None = None


class QueuePage(msgspec.Struct, frozen=True):
    shipments: list[QueuedShipment]
    # The id after which the next page begins; None if this is the last.
    next: int | None


class QueueCount(msgspec.Struct, frozen=True):
    """How many shipments in one state a lab has."""

    lab: str
    state: LabState
    shipments: int
    copies: int


_COLUMNS: Final = columns_of(
    shipments,
    QueuedShipment,
    merchant_id=orders.c.merchant_id,
    merchant=merchants.c.name,
    order_held_at=orders.c.held_at,
)


def list_queue(
    db: Connection,
    *,
    lab: str | None = None,
    state: LabState | None = None,
    after: int = 0,
    limit: int,
) -> QueuePage:
    """Return open shipments, oldest first; `after` is the `next` of the previous page."""
    wanted = select(shipments.c.id).where(IS_OPEN, _number > after)
    wanted = wanted if lab is None else wanted.where(shipments.c.lab == lab)
    wanted = wanted if state is None else wanted.where(shipments.c.state == state)
    ids = db.execute(wanted.order_by(_number).limit(limit + 1)).scalars().all()
    shown, last = cut_page(ids, limit, int)
    return QueuePage(read_queued(db, shown), last)


def read_queued(db: Connection, ids: Sequence[int]) -> list[QueuedShipment]:
    """Return these shipments, in this order."""
    if not ids:
        return []
    rows = db.execute(
        select(*_COLUMNS)
        .join_from(shipments, orders, shipments.c.order_id == orders.c.id)
        .join(merchants, orders.c.merchant_id == merchants.c.id)
        .where(shipments.c.id.in_(ids))
    )
    found = {row.id: QueuedShipment(*row) for row in rows}
    return [found[number] for number in ids if number in found]


def count_queue(db: Connection) -> list[QueueCount]:
    """Return how many shipments each lab has, by state."""
    rows = db.execute(
        select(shipments.c.lab, shipments.c.state, func.count(), func.sum(shipments.c.copies))
        .where(IS_OPEN)
        .group_by(shipments.c.lab, shipments.c.state)
        .order_by(shipments.c.lab, shipments.c.state)
    )
    return [QueueCount(lab, state, count, int(copies)) for lab, state, count, copies in rows]
