"""Callbacks: one for each event that merchants are notified of, numbered without gaps.

A transaction that adds a callback locks the order, then the merchant, then the order's last
callback, always in this order, so that there are no deadlocks. A worker that has made an attempt
locks that callback alone. So exactly one of the two enqueues the next callback.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from sqlalchemy import (
    Connection,
    Insert,
    Select,
    bindparam,
    insert,
    literal_column,
    select,
    update,
)

from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.rules.callbacks import CallbackEvent
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobKind
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.prepared import PreparedStatement, given_as
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import LARGEST_ID, columns_of, list_structs, possible_id
from printworks.store.queue.jobs import Advancing, NewJob, enqueue_all
from printworks.store.tables import callback_attempts, callbacks, merchants, order_events, orders
from printworks.trace_parent import current_parent

# Reads the event of a callback as it is stored.
read_callback_event: Final = reader_of(CallbackEvent)


class FeedPosition(NamedTuple):
    """The position of a new event in a merchant's feed, and what its job needs to know."""

    merchant_id: int
    number: int
    has_address: bool
    clock_offset: timedelta
    advancing_until: datetime | None


class Callback(msgspec.Struct, frozen=True):
    """An event, and the state of its delivery."""

    id: int
    merchant_id: int
    # Its positions in the merchant's feed and among the order's events. A test has neither.
    number: int | None
    order_id: int | None
    sequence: int | None
    state: CallbackState
    failures: int
    attempts: int
    next_at: datetime | None
    delivered_at: datetime | None
    created_at: datetime
    event: CallbackEvent | None


class Attempt(msgspec.Struct, frozen=True):
    """One attempt to deliver a callback."""

    number: int
    at: datetime
    url: str
    # Null if there was no response; `error` then says why.
    status: int | None
    milliseconds: int
    answer: str
    error: str | None


# What is returned of a merchant whose feed has just grown.
PLACE: Final = (
    merchants.c.id,
    merchants.c.event_count,
    merchants.c.callback_url.is_not(None).label("has_address"),
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
_WRITTEN: Final = (
    *("merchant_id", "number", "order_id", "sequence", "event_id", "state"),
    "trace_parent",
)
_ADD = insert(callbacks).values({name: bindparam(name) for name in (*_WRITTEN, "created_at")})
_INSERT: Final = PreparedStatement(_ADD.returning(callbacks.c.id))
_INSERT_QUIET: Final = PreparedStatement(_ADD.inline())
INSERT_EVENT: Final = insert(order_events).values(
    {name: bindparam(name) for name in ("order_id", "kind", "facts", "created_at")}
)
_INSERT_EVENT: Final = PreparedStatement(INSERT_EVENT.returning(order_events.c.id))


def _add_both() -> Insert:
    """Write the statement that adds an event and its callback, for PostgreSQL."""
    event = INSERT_EVENT.returning(order_events.c.id).cte("event")
    given = {name: callbacks.c[name] for name in (*_WRITTEN, "created_at") if name != "event_id"}
    return insert(callbacks).from_select(
        [*given, "event_id"], select(*map(given_as, given.values()), event.c.id)
    )


_INSERT_BOTH: Final = PreparedStatement(_add_both().returning(callbacks.c.id))
_INSERT_BOTH_QUIET: Final = PreparedStatement(_add_both())


def add_callback(db: Connection, event: Mapping[str, Any], *, place: FeedPosition | None) -> None:
    """Add an event, given as its row, and its callback.

    It is enqueued if the merchant has a URL and none is ahead of it. `place` is the position in
    the feed, if the order has just been created and took one.
    """
    last, order_id, now = None, event["order_id"], event["created_at"]
    if place is None:
        place = FeedPosition(*_TAKE_PLACE.one(db, {"order": order_id}))
        last = _LAST_OF_ORDER.first(db, {"order": order_id})
    values = {
        "merchant_id": place.merchant_id,
        "number": place.number,
        "order_id": order_id,
        "sequence": last[0] + 1 if last else 1,
        "state": CallbackState.PENDING if place.has_address else CallbackState.QUIET,
        "trace_parent": current_parent(),
    }
    callback_id = _insert_with_event(db, {**event, **values}, is_quiet=not place.has_address)
    if callback_id is None:
        return
    if not (last and is_unattempted(last[1], last[2])):
        due = delivery_job(place.merchant_id, callback_id, 1)
        advancing: Advancing = {place.merchant_id: place.advancing_until}
        enqueue_all(db, [due], advancing, now=now - place.clock_offset)


def _insert_with_event(db: Connection, values: Mapping[str, Any], *, is_quiet: bool) -> int | None:
    """Insert both rows; return the id of the callback, unless it is not to be sent."""
    if db.dialect.name == "sqlite":
        (event_id,) = _INSERT_EVENT.one(db, values)
        values = {**values, "event_id": event_id}
    quiet, sent = (
        (_INSERT_QUIET, _INSERT)
        if db.dialect.name == "sqlite"
        else (_INSERT_BOTH_QUIET, _INSERT_BOTH)
    )
    if is_quiet:
        quiet.run(db, values)
        return None
    return int(sent.one(db, values)[0])


def add_test(db: Connection, merchant: Merchant, *, now: datetime) -> int:
    """Send the merchant a test and return its id; `now` is the merchant's time."""
    nothing = dict.fromkeys(_WRITTEN)
    values = {**nothing, "merchant_id": merchant.id, "state": CallbackState.PENDING}
    (callback_id,) = _INSERT.one(db, {**values, "created_at": now})
    advancing: Advancing = {merchant.id: merchant.advancing_until}
    due = delivery_job(merchant.id, callback_id, 1)
    enqueue_all(db, [due], advancing, now=now - merchant.clock_offset)
    return int(callback_id)


def is_unattempted(state: CallbackState, failures: int) -> bool:
    """Say whether a callback waits for its first attempt, and the order's next one waits for it."""
    return state is CallbackState.PENDING and failures == 0


def delivery_job(
    merchant_id: int,
    callback_id: int,
    round_number: int,
    trace_parent: str | None = None,
    *,
    retry_in: timedelta | None = None,
) -> NewJob:
    """Describe the job that sends a callback at once, or retries it later."""
    kind = JobKind.DELIVER_CALLBACK if retry_in is None else JobKind.RETRY_CALLBACK
    args = {"callback": callback_id, "round": round_number}
    return NewJob(kind, merchant_id, args, retry_in or timedelta(0), trace_parent=trace_parent)


def enqueue_deliveries(db: Connection, due: Sequence[NewJob], *, now: datetime) -> None:
    """Enqueue jobs that send callbacks of several merchants. `now` is the real time."""
    if due:
        query = select(merchants.c.id, merchants.c.advancing_until)
        rows = db.execute(query.where(merchants.c.id.in_({job.merchant_id for job in due})))
        advancing = {row.id: row.advancing_until for row in rows}
        enqueue_all(db, due, advancing, now=now)


C = TypeVar("C", bound=Callback)

_CALLBACKS: Final = select(*columns_of(callbacks, Callback, event=order_events.c.facts)).join_from(
    callbacks, order_events, isouter=True
)


def read_callbacks(db: Connection, kind: type[C], query: Select[Any]) -> list[C]:
    """Run a query that selects the facts of the event as `event`."""
    rows = (row._mapping for row in db.execute(query))
    return [
        kind(**{**row, "event": row["event"] and read_callback_event(row["event"])}) for row in rows
    ]


def count_events(db: Connection, merchant_id: int) -> int:
    wanted = select(merchants.c.event_count).where(merchants.c.id == merchant_id)
    return int(db.execute(wanted).scalar_one())


def list_feed(db: Connection, merchant_id: int, *, after: int, limit: int) -> list[Callback]:
    """Return a merchant's events after this number, in order.

    No number is ever missing: an event becomes visible after all that have a lower number.
    """
    wanted = (
        _CALLBACKS.where(callbacks.c.merchant_id == merchant_id, callbacks.c.number > after)
        .order_by(callbacks.c.number)
        .limit(limit)
    )
    return read_callbacks(db, Callback, wanted)


def list_callbacks(
    db: Connection,
    merchant_id: int,
    *,
    is_failed: bool = False,
    before: int | None = None,
    limit: int,
) -> list[Callback]:
    """Return a merchant's callbacks, newest first; `before` is a number to page by."""
    # Also leaves out tests, which have no number.
    numbered = _select(merchant_id, is_failed=is_failed).where(
        callbacks.c.number < (before or LARGEST_ID)
    )
    newest = numbered.order_by(callbacks.c.number.desc()).limit(limit)
    return read_callbacks(db, Callback, newest)


def list_callbacks_of_order(
    db: Connection, merchant_id: int, order_id: int, *, is_failed: bool = False, limit: int
) -> list[Callback]:
    """Return the callbacks of a merchant's order, newest first."""
    of_order = _select(merchant_id, is_failed=is_failed).where(callbacks.c.order_id == order_id)
    # The same order as by number, but along the index of the order's few callbacks.
    newest = of_order.order_by(callbacks.c.sequence.desc()).limit(limit)
    return read_callbacks(db, Callback, newest)


def _select(merchant_id: int, *, is_failed: bool) -> Select[Any]:
    mine = _CALLBACKS.where(callbacks.c.merchant_id == merchant_id)
    return mine.where(callbacks.c.state == spelled_out(CallbackState.FAILED)) if is_failed else mine


def list_tests(db: Connection, merchant_id: int, *, limit: int) -> list[Callback]:
    """Return the tests that a merchant asked for, newest first."""
    wanted = (
        _CALLBACKS.where(callbacks.c.merchant_id == merchant_id, callbacks.c.number.is_(None))
        .order_by(callbacks.c.id.desc())
        .limit(limit)
    )
    return read_callbacks(db, Callback, wanted)


def get_callback(db: Connection, merchant_id: int, callback_id: int) -> Callback:
    mine = (callbacks.c.id == possible_id(callback_id), callbacks.c.merchant_id == merchant_id)
    found = read_callbacks(db, Callback, _CALLBACKS.where(*mine))
    if not found:
        raise NotFound(f"There is no callback {callback_id}.")
    return found[0]


def list_attempts(db: Connection, callback_id: int) -> list[Attempt]:
    """Return the attempts of a callback, oldest first; old ones have been deleted."""
    wanted = (
        select(*columns_of(callback_attempts, Attempt))
        .where(callback_attempts.c.callback_id == callback_id)
        .order_by(callback_attempts.c.number)
    )
    return list_structs(db, Attempt, wanted)


def purge_attempts(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete the oldest attempts; return how many. The feed stays."""
    return delete_oldest(db, callback_attempts.c.at, callback_attempts.c.at < before, limit=limit)
