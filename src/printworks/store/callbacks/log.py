"""The log of a merchant's callbacks, for pages: a list, and the attempts of each."""

from typing import Final

import msgspec
from sqlalchemy import Connection, and_, select

from printworks.rules.events import CallbackState
from printworks.store.callbacks.callbacks import Attempt, Callback, count_events, read_callbacks
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.rows import columns_of, cut_page, list_structs
from printworks.store.tables import callback_attempts, callbacks, order_events

# A filter reads this many callbacks at once: a merchant may have millions.
MOST_FILTERED: Final = 20_000
# Of so many of the latest events, those count as failing that have failed so often: the first
# failure may be a receiver that was just started again.
LATEST: Final = 200
FAILURES_THAT_COUNT: Final = 2


class LoggedCallback(Callback, frozen=True):
    """A callback and its last attempt."""

    # Both null if there was no attempt, or it was deleted.
    last_status: int | None
    last_error: str | None


class CallbackPage(msgspec.Struct, frozen=True):
    """A page of callbacks, newest first."""

    callbacks: list[LoggedCallback]
    # Where the next page begins (`before`); null if there is none. A page with a filter may be
    # short, or empty, and still not be the last.
    older: int | None


_CALLBACKS: Final = (
    select(
        *columns_of(
            callbacks,
            LoggedCallback,
            event=order_events.c.facts,
            last_status=callback_attempts.c.status,
            last_error=callback_attempts.c.error,
        )
    )
    .join_from(callbacks, order_events, isouter=True)
    .join(
        callback_attempts,
        and_(
            callback_attempts.c.callback_id == callbacks.c.id,
            callback_attempts.c.number == callbacks.c.attempts,
        ),
        isouter=True,
    )
)


def list_callback_log(
    db: Connection,
    merchant_id: int,
    *,
    limit: int,
    state: CallbackState | None = None,
    before: int | None = None,
) -> CallbackPage:
    """Return a merchant's callbacks, newest first, beginning below the number `before`.

    A filter reads a limited number of callbacks; the page says where to continue.
    """
    last = count_events(db, merchant_id)
    below = last + 1 if before is None else min(max(before, 0), last + 1)
    wanted = _CALLBACKS.where(callbacks.c.merchant_id == merchant_id, callbacks.c.number < below)
    floor = 0
    if state is not None:
        wanted = wanted.where(callbacks.c.state == spelled_out(state))
        if state is not CallbackState.FAILED:
            floor = max(below - 1 - MOST_FILTERED, 0)
            wanted = wanted.where(callbacks.c.number > floor)
    newest = wanted.order_by(callbacks.c.number.desc()).limit(limit + 1)
    found = read_callbacks(db, LoggedCallback, newest)
    shown, older = cut_page(found, limit, lambda one: one.number)
    return CallbackPage(shown, older or (floor + 1 if floor else None))


class FailingCallbacks(msgspec.Struct, frozen=True):
    """Callbacks of late that could not be delivered, and what came of the last attempt."""

    count: int
    callback_id: int
    last_status: int | None
    last_error: str | None


def find_failing(db: Connection, merchant_id: int) -> FailingCallbacks | None:
    """Return which of a merchant's latest callbacks keep failing; None if all is well."""
    last = count_events(db, merchant_id)
    wanted = (
        select(
            callbacks.c.id,
            callback_attempts.c.status,
            callback_attempts.c.error,
        )
        .join_from(
            callbacks,
            callback_attempts,
            and_(
                callback_attempts.c.callback_id == callbacks.c.id,
                callback_attempts.c.number == callbacks.c.attempts,
            ),
        )
        .where(
            callbacks.c.merchant_id == merchant_id,
            callbacks.c.number > last - LATEST,
            callbacks.c.failures >= FAILURES_THAT_COUNT,
            callbacks.c.state.in_([CallbackState.PENDING, CallbackState.FAILED]),
        )
        .order_by(callbacks.c.number.desc())
    )
    found = db.execute(wanted).all()
    return FailingCallbacks(len(found), *found[0]) if found else None


def find_latest_test(db: Connection, merchant_id: int) -> LoggedCallback | None:
    """Return the last test that a merchant asked for."""
    wanted = (
        _CALLBACKS.where(callbacks.c.merchant_id == merchant_id, callbacks.c.number.is_(None))
        .order_by(callbacks.c.id.desc())
        .limit(1)
    )
    return next(iter(read_callbacks(db, LoggedCallback, wanted)), None)


def list_latest_attempts(
    db: Connection, merchant_id: int, callback_id: int, *, limit: int
) -> list[Attempt]:
    """Return the latest attempts of a merchant's callback, newest first."""
    wanted = (
        select(*columns_of(callback_attempts, Attempt))
        .join_from(callback_attempts, callbacks)
        .where(callbacks.c.merchant_id == merchant_id, callbacks.c.id == callback_id)
        .order_by(callback_attempts.c.number.desc())
        .limit(limit)
    )
    return list_structs(db, Attempt, wanted)
