"""Sending callbacks again: each begins a new round, and an order's events stay in order."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select, tuple_, update

from printworks.rules.events import CallbackState
from printworks.store.callbacks.callbacks import delivery_job, enqueue_deliveries, is_unattempted
from printworks.store.engine.rows import LARGEST_ID
from printworks.store.tables import callbacks

_KNOWN: Final = (
    callbacks.c.id,
    callbacks.c.merchant_id,
    callbacks.c.order_id,
    callbacks.c.sequence,
    callbacks.c.state,
    callbacks.c.round,
    callbacks.c.failures,
)


def send_callbacks_again(
    db: Connection, ids: Sequence[int], *, now: datetime, real_now: datetime, is_asked_for: bool
) -> int:
    """Begin a new round for callbacks of one merchant; return how many.

    The first of an order's callbacks is enqueued, and each of the others after the attempt of the
    one before it. Those that tell nothing new are skipped again, unless each was asked for.
    `now` is the merchant's time.
    """
    found = {row.id: row for row in _lock_with_those_before(db, ids)}
    again = [found[one] for one in sorted(ids) if one in found]
    if not again:
        return 0
    db.execute(
        update(callbacks)
        .where(callbacks.c.id.in_([row.id for row in again]))
        .values(
            state=CallbackState.PENDING,
            round=callbacks.c.round + 1,
            failures=0,
            next_at=now,
            delivered_at=None,
            is_asked_for=is_asked_for,
        )
    )
    waited_for = {
        (row.order_id, row.sequence)
        for row in found.values()
        if row.id in set(ids) or is_unattempted(row.state, row.failures)
    }
    due = [
        delivery_job(row.merchant_id, row.id, row.round + 1)
        for row in again
        if row.sequence is None or (row.order_id, row.sequence - 1) not in waited_for
    ]
    enqueue_deliveries(db, due, now=real_now)
    return len(again)


def _lock_with_those_before(db: Connection, ids: Collection[int]) -> Sequence[Any]:
    """Lock callbacks, and the ones before them, and return them."""
    places = db.execute(
        select(callbacks.c.order_id, callbacks.c.sequence).where(
            callbacks.c.id.in_(ids), callbacks.c.sequence > 1
        )
    )
    before = [(row.order_id, row.sequence - 1) for row in places]
    wanted = set(ids)
    if before:
        place = tuple_(callbacks.c.order_id, callbacks.c.sequence)
        wanted |= set(db.execute(select(callbacks.c.id).where(place.in_(before))).scalars())
    # Always in the same order: two transactions about the same callbacks must not deadlock.
    locked = (
        select(*_KNOWN).where(callbacks.c.id.in_(wanted)).order_by(callbacks.c.id).with_for_update()
    )
    return db.execute(locked).all()


# An event with a lower number may be later than one with a higher number by as much as its
# transaction may have waited for others.
AT_ONCE: Final = timedelta(minutes=5)
_AT: Final = select(callbacks.c.created_at).where(
    callbacks.c.merchant_id == bindparam("merchant_id"), callbacks.c.number == bindparam("number")
)


def find_number_since(db: Connection, merchant_id: int, *, count: int, since: datetime) -> int:
    """Return the number of a merchant's first event at or after a time; it has `count` events.

    Events are numbered almost in the order of time. So a binary search without an index finds
    where the first one may be, and from there on each event is compared.
    """
    early = _find_about(db, merchant_id, count=count, since=since - AT_ONCE)
    first = (
        select(callbacks.c.number)
        .where(
            callbacks.c.merchant_id == merchant_id,
            callbacks.c.number >= early,
            callbacks.c.created_at >= since,
        )
        .order_by(callbacks.c.number)
        .limit(1)
    )
    found: int | None = db.execute(first).scalar()
    return count + 1 if found is None else found


def _find_about(db: Connection, merchant_id: int, *, count: int, since: datetime) -> int:
    lowest, highest = 1, count + 1
    while lowest < highest:
        middle = (lowest + highest) // 2
        asked = {"merchant_id": merchant_id, "number": middle}
        if db.execute(_AT, asked).scalar_one() < since:
            lowest = middle + 1
        else:
            highest = middle
    return lowest


def list_page(
    db: Connection, merchant_id: int, *, first: int, last: int, limit: int
) -> Sequence[Any]:
    """Return ids and numbers of a merchant's callbacks in a range of numbers, up to a limit."""
    return db.execute(
        select(callbacks.c.id, callbacks.c.number)
        .where(
            callbacks.c.merchant_id == merchant_id,
            callbacks.c.number.between(first, min(last, LARGEST_ID)),
        )
        .order_by(callbacks.c.number)
        .limit(limit)
    ).all()
