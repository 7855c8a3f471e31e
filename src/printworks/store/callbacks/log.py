"""What people read about a merchant's callbacks: a page of them, and how each try of one went."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, and_, select

from printworks.rules.events import CallbackState
from printworks.store.callbacks.callbacks import Attempt, Callback, count_events, read_callback
from printworks.store.engine.columns import spelled_out
from printworks.store.tables import callback_attempts, callbacks, order_events

# Among so many callbacks a filter looks at once: a merchant may have had millions.
LOOKED_THROUGH: Final = 20_000


class LoggedCallback(Callback, frozen=True, kw_only=True):
    """A callback, and how its last try went."""

    # Both null if it was not tried, or so long ago that nobody remembers.
    last_status: int | None
    last_error: str | None


class CallbackPage(msgspec.Struct, frozen=True):
    """Some callbacks, newest first."""

    callbacks: list[LoggedCallback]
    # From where to go on with `before`; null if there is nothing older. A page with a filter may
    # be short, or empty, and still have older ones.
    older: int | None


_COLUMNS: Final = [callbacks.c[name] for name in Callback.__struct_fields__ if name != "event"]
_LOOK: Final = (
    select(
        *_COLUMNS,
        order_events.c.facts,
        callback_attempts.c.status.label("last_status"),
        callback_attempts.c.error.label("last_error"),
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
    """Return a merchant's callbacks, newest first, from below the number `before` on.

    A filter looks through so many of them and no more; the page says where to go on.
    """
    last = count_events(db, merchant_id)
    below = last + 1 if before is None else min(max(before, 0), last + 1)
    wanted = _LOOK.where(callbacks.c.merchant_id == merchant_id, callbacks.c.number < below)
    floor = 0
    if state is not None:
        wanted = wanted.where(callbacks.c.state == spelled_out(state))
        if state is not CallbackState.FAILED:
            floor = max(below - 1 - LOOKED_THROUGH, 0)
            wanted = wanted.where(callbacks.c.number > floor)
    rows = db.execute(wanted.order_by(callbacks.c.number.desc()).limit(limit + 1)).all()
    if len(rows) > limit:
        return CallbackPage(_show(rows[:limit]), rows[limit - 1].number)
    return CallbackPage(_show(rows), floor + 1 if floor else None)


def find_latest_test(db: Connection, merchant_id: int) -> LoggedCallback | None:
    """Return the last test that a merchant asked for."""
    wanted = (
        _LOOK.where(callbacks.c.merchant_id == merchant_id, callbacks.c.number.is_(None))
        .order_by(callbacks.c.id.desc())
        .limit(1)
    )
    return next(iter(_show(db.execute(wanted))), None)


def list_latest_attempts(
    db: Connection, merchant_id: int, callback_id: int, *, limit: int
) -> list[Attempt]:
    """Return how the latest tries of a merchant's callback went, newest first."""
    wanted = (
        select(*[callback_attempts.c[name] for name in Attempt.__struct_fields__])
        .join_from(callback_attempts, callbacks)
        .where(callbacks.c.merchant_id == merchant_id, callbacks.c.id == callback_id)
        .order_by(callback_attempts.c.number.desc())
        .limit(limit)
    )
    return [Attempt(**row._mapping) for row in db.execute(wanted)]


def _show(rows: Iterable[Any]) -> list[LoggedCallback]:
    return [read_callback(LoggedCallback, row) for row in rows]
