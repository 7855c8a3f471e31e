"""When each sweep last ran and what it removed; and what sweeps of privacy remove."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, exists, select, text, update

from printworks.rules.issues import UNSETTLED
from printworks.rules.jobs import JobKind
from printworks.rules.orders import ENDED
from printworks.store.accounts.privacy.erasers import UNSETTLED_PAYMENTS
from printworks.store.engine.rows import columns_of
from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import images, issues, orders, payment_requests, sweeps

# Images that are looked at for each order that is wanted.
_IMAGES_PER_ORDER: Final = 10


class SweepRecord(msgspec.Struct, frozen=True):
    """What a sweep did the last time, and in all."""

    kind: str
    swept_at: datetime
    removed: int
    total: int


_COLUMNS: Final = columns_of(sweeps, SweepRecord)


def record_sweep(db: Connection, kind: JobKind, removed: int, *, now: datetime) -> None:
    """Note that a sweep has ended; one that runs at the same time adds to the total, too."""
    insert_unless_there(db, sweeps, kind=kind.value, swept_at=now, removed=0)
    values = {"swept_at": now, "removed": removed, "total": sweeps.c.total + removed}
    db.execute(update(sweeps).where(sweeps.c.kind == kind.value).values(values))


def list_sweeps(db: Connection) -> dict[str, SweepRecord]:
    """Return what is known of each kind of sweep that has ever run."""
    return {row.kind: SweepRecord(*row) for row in db.execute(select(*_COLUMNS))}


def list_old_recipients(db: Connection, *, before: datetime, limit: int) -> Sequence[int]:
    """Return orders that ended before then and whose recipients nobody needs; oldest first."""
    has_issue = exists().where(issues.c.order_id == orders.c.id, issues.c.state.in_(UNSETTLED))
    is_being_paid = exists().where(
        payment_requests.c.order_id == orders.c.id,
        payment_requests.c.state.in_(UNSETTLED_PAYMENTS),
    )
    query = (
        select(orders.c.id)
        .where(
            # Spelled as in the index.
            text("status IN ('Complete', 'Cancelled') AND erased_at IS NULL"),
            orders.c.created_at < before,
            orders.c.updated_at < before,
            ~has_issue,
            ~is_being_paid,
        )
        .order_by(orders.c.created_at)
        .limit(limit)
    )
    return db.execute(query).scalars().all()


def list_old_proofs(db: Connection, *, before: datetime, limit: int) -> Sequence[int]:
    """Return orders that ended before then and still have proofs."""
    query = (
        select(images.c.order_id)
        .join_from(images, orders, images.c.order_id == orders.c.id)
        .where(
            # Spelled as in the index.
            text("width IS NOT NULL"),
            images.c.created_at < before,
            orders.c.status.in_(ENDED),
            orders.c.updated_at < before,
        )
        .order_by(images.c.created_at)
        .limit(limit * _IMAGES_PER_ORDER)
    )
    found = dict.fromkeys(db.execute(query).scalars())
    return list(found)[:limit]
