"""The packing slips of orders, which travel with a shipment."""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, delete, select, update

from printworks.rules.images import ImageStatus
from printworks.rules.orders import ENDED
from printworks.store.engine.rows import columns_of, find_struct
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import orders, packing_slips


class PackingSlip(msgspec.Struct, frozen=True):
    """A packing slip, wanted or received."""

    order_id: int
    url: str
    status: ImageStatus
    file: str | None
    sha256: str | None
    width: int | None
    height: int | None
    error_message: str | None


_COLUMNS: Final = columns_of(packing_slips, PackingSlip)


def find_packing_slip(db: Connection, order_id: int) -> PackingSlip | None:
    query = select(*_COLUMNS).where(packing_slips.c.order_id == order_id)
    return find_struct(db, PackingSlip, query)


def set_packing_slip(db: Connection, order_id: int, url: str, *, now: datetime) -> None:
    """Set the URL of an order's packing slip, in place of any other."""
    wanted: dict[str, Any] = dict.fromkeys((column.name for column in _COLUMNS), None)
    wanted |= {"url": url, "status": ImageStatus.NOT_YET_DOWNLOADED, "updated_at": now}
    del wanted["order_id"]
    db.execute(insert_or_update(db, packing_slips, {"order_id": order_id}, wanted))


def drop_packing_slip(db: Connection, order_id: int) -> str | None:
    """Delete the packing slip of an order; return its file, if it was received."""
    return db.execute(
        delete(packing_slips)
        .where(packing_slips.c.order_id == order_id)
        .returning(packing_slips.c.file)
    ).scalar()


def purge_packing_slips(db: Connection, *, before: datetime, limit: int) -> list[str]:
    """Delete the packing slips of orders that ended before then; return their files."""
    ended = (
        select(packing_slips.c.order_id)
        .join_from(packing_slips, orders)
        .where(
            packing_slips.c.updated_at < before,
            orders.c.updated_at < before,
            orders.c.status.in_(ENDED),
        )
        .limit(limit)
    )
    gone = db.execute(
        delete(packing_slips)
        .where(packing_slips.c.order_id.in_(ended))
        .returning(packing_slips.c.file)
    )
    return [file or "" for file in gone.scalars()]


def update_packing_slip(db: Connection, slip: PackingSlip, **values: object) -> bool:
    """Store the outcome of a packing slip, unless another one is wanted by now."""
    changed = db.execute(
        update(packing_slips)
        .where(
            packing_slips.c.order_id == slip.order_id,
            packing_slips.c.url == slip.url,
            packing_slips.c.status == slip.status,
        )
        .values(**values)
    )
    return changed.rowcount == 1
