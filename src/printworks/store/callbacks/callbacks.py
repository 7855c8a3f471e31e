"""What merchants are told: a callback for each such event, numbered without gaps.

Whoever writes one holds the row of the order, then that of the merchant, then the order's last
callback: always in this order, so that nobody waits in a circle. The worker that has tried a
callback holds that callback alone. So exactly one of the two promises the next one.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from sqlalchemy import (
    Connection,
    Select,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    tuple_,
    update,
)

from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.rules.callbacks import ToldEvent
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobKind, JobState
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.queue.jobs import CHANNEL, lane_of
from printworks.store.tables import (
    callback_attempts,
    callbacks,
    jobs,
    merchants,
    order_events,
    orders,
)

LARGEST_NUMBER: Final = 2**63 - 1


# What happened, as it is kept.
read_told: Final = reader_of(ToldEvent)


class FeedPosition(NamedTuple):
    """The next place in a merchant's feed, and what a promise to the merchant must know."""

    merchant_id: int
    number: int
    has_address: bool
    clock_offset: timedelta
    advancing_until: datetime | None


class Due(NamedTuple):
    """A callback that is to be sent."""

    merchant_id: int
    callback_id: int
    round: int
    kind: JobKind = JobKind.DELIVER_CALLBACK
    wait: timedelta = timedelta(0)


class Callback(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and how far the telling of it has come."""

    id: int
    merchant_id: int
    # Its places in the merchant's and the order's events. A test has no number and no order.
    number: int | None
    order_id: int | None
    sequence: int | None
    state: CallbackState
    failures: int
    attempts: int
    next_at: datetime | None
    delivered_at: datetime | None
    created_at: datetime
    event: ToldEvent | None


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """How one try went."""

    number: int
    at: datetime
    url: str
    # Null if no answer came; `error` then says why.
    status: int | None
    milliseconds: int
    answer: str
    error: str | None


# What the row of a merchant says about the place that was just taken.
PLACE: Final = (
    merchants.c.id,
    merchants.c.event_count,
    merchants.c.callback_url.is_not(None),
    merchants.c.clock_offset,
    merchants.c.advancing_until,
)
_TAKE_PLACE: Final = PreparedStatement(
    update(merchants)
    .where(
        merchants.c.id
        == select(orders.c.merchant_id).where(orders.c.id == bindparam("order")).scalar_subquery()
    )
    .values(event_count=merchants.c.event_count + 1)
    .returning(*PLACE)
)
_LAST_OF_ORDER: Final = PreparedStatement(
    select(callbacks.c.sequence, callbacks.c.state, callbacks.c.failures)
    .where(callbacks.c.order_id == bindparam("order"))
    .order_by(callbacks.c.sequence.desc())
    .limit(literal_column("1"))
    .with_for_update()
)
_WRITTEN: Final = ("merchant_id", "number", "order_id", "sequence", "event_id", "state")
_ADD = insert(callbacks).values({name: bindparam(name) for name in (*_WRITTEN, "created_at")})
_INSERT: Final = PreparedStatement(_ADD.returning(callbacks.c.id))
_INSERT_QUIET: Final = PreparedStatement(_ADD.inline())
_ENQUEUED: Final = ("kind", "merchant_id", "lane", "args", "state", "due_at", "created_at")
_ENQUEUE: Final = PreparedStatement(
    insert(jobs).inline().values({name: bindparam(name) for name in _ENQUEUED})
)
_WAKE: Final = PreparedStatement(select(func.pg_notify(CHANNEL, "")))


def add_callback(
    db: Connection, order_id: int, event_id: int, *, now: datetime, place: FeedPosition | None
) -> None:
    """Let the merchant be told of an event, if there is an address: once the one before was tried.

    Whoever has just made the order gives the place that it took with it.
    """
    last = None
    if place is None:
        place = FeedPosition(*_TAKE_PLACE.one(db, {"order": order_id}))
        last = _LAST_OF_ORDER.first(db, {"order": order_id})
    values = {
        "merchant_id": place.merchant_id,
        "number": place.number,
        "order_id": order_id,
        "sequence": last[0] + 1 if last else 1,
        "event_id": event_id,
        "state": CallbackState.PENDING if place.has_address else CallbackState.QUIET,
        "created_at": now,
    }
    if not place.has_address:
        _INSERT_QUIET.run(db, values)
        return
    (callback_id,) = _INSERT.one(db, values)
    if not (last and is_untried(last[1], last[2])):
        due = Due(place.merchant_id, callback_id, round=1)
        advancing = {place.merchant_id: place.advancing_until}
        enqueue_callbacks(db, [due], advancing, now=now - place.clock_offset)


def add_test(db: Connection, merchant: Merchant, *, now: datetime) -> int:
    """Let the merchant be sent an example, and return its id; `now` is the merchant's time."""
    nothing = dict.fromkeys(_WRITTEN)
    values = {**nothing, "merchant_id": merchant.id, "state": CallbackState.PENDING}
    (callback_id,) = _INSERT.one(db, {**values, "created_at": now})
    advancing = {merchant.id: merchant.advancing_until}
    due = Due(merchant.id, callback_id, round=1)
    enqueue_callbacks(db, [due], advancing, now=now - merchant.clock_offset)
    return int(callback_id)


def is_untried(state: CallbackState, failures: int) -> bool:
    """Say whether a callback waits for its first try, and the next one of its order for it."""
    return state is CallbackState.PENDING and failures == 0


def enqueue_callbacks(
    db: Connection, due: Iterable[Due], advancing: Mapping[int, datetime | None], *, now: datetime
) -> None:
    """Promise to send callbacks. `now` is the real time.

    `advancing` says of each merchant until when somebody moves its clock, and wakes its sleepers.
    """
    is_awaited = False
    for one in due:
        until = advancing[one.merchant_id]
        is_due = not one.wait and (until is None or until <= now)
        is_awaited |= is_due
        _ENQUEUE.run(
            db,
            {
                "kind": one.kind,
                "merchant_id": one.merchant_id,
                "lane": lane_of(one.kind, one.merchant_id),
                "args": {"callback": one.callback_id, "round": one.round},
                "state": JobState.DUE if is_due else JobState.SCHEDULED,
                "due_at": now + one.wait,
                "created_at": now,
            },
        )
    # SQLite's workers see by themselves that somebody has committed.
    if is_awaited and db.dialect.name == "postgresql":
        _WAKE.run(db, {})


def read_advancing(db: Connection, merchant_ids: Iterable[int]) -> dict[int, datetime | None]:
    """Say of each merchant until when somebody moves its clock."""
    wanted = select(merchants.c.id, merchants.c.advancing_until).where(
        merchants.c.id.in_(set(merchant_ids))
    )
    return {row.id: row.advancing_until for row in db.execute(wanted)}


C = TypeVar("C", bound=Callback)

_SHOWN: Final = [callbacks.c[name] for name in Callback.__struct_fields__ if name != "event"]


def _look() -> Select[Any]:
    return select(*_SHOWN, order_events.c.facts).join_from(callbacks, order_events, isouter=True)


def _show(rows: Iterable[Any]) -> list[Callback]:
    return [read_callback(Callback, row) for row in rows]


def read_callback(kind: type[C], row: Any) -> C:
    """Make a callback of a row that has the facts of its event."""
    values = dict(row._mapping)
    facts = values.pop("facts")
    return kind(**values, event=facts and read_told(facts))


def count_events(db: Connection, merchant_id: int) -> int:
    """Return how many events a merchant's feed has."""
    wanted = select(merchants.c.event_count).where(merchants.c.id == merchant_id)
    return int(db.execute(wanted).scalar_one())


def list_feed(db: Connection, merchant_id: int, *, after: int, limit: int) -> list[Callback]:
    """Return what happened to a merchant's orders after the event of this number, in order.

    No number is ever missing: an event that can be seen comes after all that have a lower one.
    """
    wanted = (
        _look()
        .where(callbacks.c.merchant_id == merchant_id, callbacks.c.number > after)
        .order_by(callbacks.c.number)
        .limit(limit)
    )
    return _show(db.execute(wanted))


def list_callbacks(
    db: Connection,
    merchant_id: int,
    *,
    order_id: int | None = None,
    is_failed: bool = False,
    before: int | None = None,
    limit: int,
) -> list[Callback]:
    """Return a merchant's callbacks, newest first; `before` is a number to page by.

    Those of one order are few: they come without pages.
    """
    wanted = _look().where(callbacks.c.merchant_id == merchant_id).limit(limit)
    if order_id is None:
        # Also leaves out tests, which have no number.
        wanted = wanted.where(callbacks.c.number < (before or LARGEST_NUMBER))
        wanted = wanted.order_by(callbacks.c.number.desc())
    else:
        # The same order, but along the index of the order's few and not the merchant's many.
        wanted = wanted.where(callbacks.c.order_id == order_id)
        wanted = wanted.order_by(callbacks.c.sequence.desc())
    if is_failed:
        wanted = wanted.where(callbacks.c.state == spelled_out(CallbackState.FAILED))
    return _show(db.execute(wanted))


def list_tests(db: Connection, merchant_id: int, *, limit: int) -> list[Callback]:
    """Return the tests that a merchant asked for, newest first."""
    wanted = (
        _look()
        .where(callbacks.c.merchant_id == merchant_id, callbacks.c.number.is_(None))
        .order_by(callbacks.c.id.desc())
        .limit(limit)
    )
    return _show(db.execute(wanted))


def get_callback(db: Connection, merchant_id: int, callback_id: int) -> Callback:
    """Return a callback of this merchant."""
    found = []
    if 0 < callback_id <= LARGEST_NUMBER:
        one = callbacks.c.id == callback_id, callbacks.c.merchant_id == merchant_id
        found = _show(db.execute(_look().where(*one)))
    if not found:
        raise NotFound(f"There is no callback {callback_id}.")
    return found[0]


def list_attempts(db: Connection, callback_id: int) -> list[Attempt]:
    """Return how each try of a callback went, first one first; old ones are forgotten."""
    columns = [callback_attempts.c[name] for name in Attempt.__struct_fields__]
    wanted = (
        select(*columns)
        .where(callback_attempts.c.callback_id == callback_id)
        .order_by(callback_attempts.c.number)
    )
    return [Attempt(**row._mapping) for row in db.execute(wanted)]


def forget_attempts(db: Connection, *, before: datetime, limit: int) -> int:
    """Forget how the oldest tries went, and return how many those are; the feed stays."""
    key = tuple_(callback_attempts.c.callback_id, callback_attempts.c.number)
    oldest = (
        select(callback_attempts.c.callback_id, callback_attempts.c.number)
        .where(callback_attempts.c.at < before)
        .order_by(callback_attempts.c.at)
        .limit(limit)
    )
    return db.execute(delete(callback_attempts).where(key.in_(oldest))).rowcount
