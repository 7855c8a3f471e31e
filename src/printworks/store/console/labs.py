"""What labs still have before them, for whoever runs the business."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, func, select

from printworks.rules.production import LabState
from printworks.store.engine.columns import beside_index
from printworks.store.labs.shipments import IS_OPEN
from printworks.store.tables import merchants, orders, shipments

# What is open lies in a small index: to read all shipments one after the other only because they
# are numbered would take longer than to sort what is found there.
_number = beside_index(shipments.c.id)


class QueuedShipment(msgspec.Struct, frozen=True):
    """A package that a lab has to make, or could not."""

    id: int
    order_id: int
    merchant_id: int
    merchant: str
    state: LabState
    lab: str
    service: str
    copies: int
    # Days, as ISO 8601 writes them.
    earliest_arrival: str
    latest_arrival: str
    sent_at: datetime | None
    held_because: str | None
    # Why the lab did not make it.
    reason: str | None
    created_at: datetime


class QueuePage(msgspec.Struct, frozen=True):
    """Some of what is open."""

    shipments: list[QueuedShipment]
    # After which number the next page begins; None if this is the last.
    next: int | None


class QueueCount(msgspec.Struct, frozen=True):
    """How much of one state a lab has."""

    lab: str
    state: LabState
    shipments: int
    copies: int


_COLUMNS: Final = [
    shipments.c.id,
    shipments.c.order_id,
    orders.c.merchant_id,
    merchants.c.name.label("merchant"),
    *(shipments.c[name] for name in QueuedShipment.__struct_fields__[4:]),
]


def list_queue(
    db: Connection,
    *,
    lab: str | None = None,
    state: LabState | None = None,
    after: int = 0,
    limit: int,
) -> QueuePage:
    """Return what is open, oldest first; `after` is what the page before named as its `next`."""
    wanted = select(shipments.c.id).where(IS_OPEN, _number > after)
    if lab is not None:
        wanted = wanted.where(shipments.c.lab == lab)
    if state is not None:
        wanted = wanted.where(shipments.c.state == state)
    ids = db.execute(wanted.order_by(_number).limit(limit + 1)).scalars().all()
    shown = ids[:limit]
    return QueuePage(read_queued(db, shown), shown[-1] if len(ids) > limit else None)


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
    """Return how much each lab has, by state."""
    rows = db.execute(
        select(shipments.c.lab, shipments.c.state, func.count(), func.sum(shipments.c.copies))
        .where(IS_OPEN)
        .group_by(shipments.c.lab, shipments.c.state)
        .order_by(shipments.c.lab, shipments.c.state)
    )
    return [QueueCount(lab, state, count, int(copies)) for lab, state, count, copies in rows]
