"""Delivering callbacks: what a worker needs to know, and what it stores afterwards.

Both in batches: a thousand callbacks a second leave no time for one query each.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, and_, literal_column, select, text

from printworks.rules.callbacks import CallbackEvent
from printworks.rules.events import CallbackState
from printworks.store.callbacks.callbacks import (
    Attempt,
    delivery_job,
    enqueue_deliveries,
    read_callback_event,
)
from printworks.store.callbacks.settings import SigningSecret, read_secrets
from printworks.store.engine.columns import Timestamp, spelled_out
from printworks.store.engine.prepared import PreparedStatement, is_one_of, write_list
from printworks.store.engine.rows import columns_of
from printworks.store.queue.jobs import NewJob
from printworks.store.tables import callbacks, merchants, order_events, orders


class Delivery(msgspec.Struct, frozen=True):
    """A callback as a worker needs it."""

    id: int
    merchant_id: int
    number: int | None
    order_id: int | None
    sequence: int | None
    state: CallbackState
    round: int
    failures: int
    attempts: int
    # Null, like the rest of the event, for a test.
    facts: Any
    event_at: datetime | None
    # The event before it in the order, and the state of its callback; null if there is none.
    facts_before: Any
    state_before: CallbackState | None
    # Whether it is sent even if it tells nothing new.
    is_asked_for: bool
    trace_parent: str | None
    order_format: str | None
    url: str | None
    chosen_format: str | None
    # As they are stored.
    stored_secrets: Any
    clock_offset: timedelta

    @property
    def secrets(self) -> list[SigningSecret]:
        return read_secrets(self.stored_secrets)

    @property
    def event(self) -> CallbackEvent | None:
        return None if self.facts is None else read_callback_event(self.facts)

    @property
    def event_before(self) -> CallbackEvent | None:
        return None if self.facts_before is None else read_callback_event(self.facts_before)


class DeliveryOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a callback that a worker took up."""

    delivery: Delivery
    state: CallbackState
    # Null if nothing was sent.
    attempt: Attempt | None = None
    # How long to wait for the next attempt, if there is one.
    retry_in: timedelta | None = None


_TIMESTAMP: Final = Timestamp()
_BEFORE: Final = callbacks.alias("before")
_EVENT_BEFORE: Final = order_events.alias("event_before")
_LOAD: Final = PreparedStatement(
    select(
        *columns_of(
            callbacks,
            Delivery,
            facts=order_events.c.facts,
            event_at=order_events.c.created_at,
            facts_before=_EVENT_BEFORE.c.facts,
            state_before=_BEFORE.c.state,
            order_format=orders.c.callback_format,
            url=merchants.c.callback_url,
            chosen_format=merchants.c.callback_format,
            stored_secrets=merchants.c.callback_secrets,
            clock_offset=merchants.c.clock_offset,
        )
    )
    .join_from(callbacks, merchants)
    .join(order_events, order_events.c.id == callbacks.c.event_id, isouter=True)
    .join(orders, orders.c.id == callbacks.c.order_id, isouter=True)
    .join(
        _BEFORE,
        and_(
            _BEFORE.c.order_id == callbacks.c.order_id,
            _BEFORE.c.sequence == callbacks.c.sequence - 1,
        ),
        isouter=True,
    )
    .join(_EVENT_BEFORE, _EVENT_BEFORE.c.id == _BEFORE.c.event_id, isouter=True)
    .where(is_one_of(callbacks.c.id, "ids"))
)
# Always in the same order: two transactions about the same callbacks must not deadlock.
_LOCK: Final = PreparedStatement(
    select(callbacks.c.id, callbacks.c.state, callbacks.c.round, callbacks.c.failures)
    .where(is_one_of(callbacks.c.id, "ids"))
    .order_by(callbacks.c.id)
    .with_for_update()
)
# One statement for many rows, passed as one JSON text: many small statements take several
# times as long.
_UPDATE: Final = {
    "sqlite": PreparedStatement(
        text("""
        UPDATE callbacks
        SET state = new.value ->> 'state', failures = new.value ->> 'failures',
            attempts = new.value ->> 'attempts', next_at = new.value ->> 'next_at',
            delivered_at = new.value ->> 'delivered_at'
        FROM json_each(:rows) AS new
        WHERE callbacks.id = new.value ->> 'id'
    """)
    ),
    # The array makes PostgreSQL use the index even with a plan from when there were few
    # callbacks.
    "postgresql": PreparedStatement(
        text("""
        WITH new AS (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS row (
            id bigint, state text, failures integer, attempts integer,
            next_at timestamptz, delivered_at timestamptz
        ))
        UPDATE callbacks
        SET state = new.state, failures = new.failures, attempts = new.attempts,
            next_at = new.next_at, delivered_at = new.delivered_at
        FROM new
        WHERE callbacks.id = new.id AND callbacks.id = ANY(ARRAY(SELECT id FROM new))
    """)
    ),
}
_ADD_ATTEMPTS: Final = {
    "sqlite": PreparedStatement(
        text("""
        INSERT INTO callback_attempts
            (callback_id, number, at, url, status, milliseconds, answer, error)
        SELECT value ->> 'callback_id', value ->> 'number', value ->> 'at', value ->> 'url',
            value ->> 'status', value ->> 'milliseconds', value ->> 'answer', value ->> 'error'
        FROM json_each(:rows)
    """)
    ),
    "postgresql": PreparedStatement(
        text("""
        INSERT INTO callback_attempts
            (callback_id, number, at, url, status, milliseconds, answer, error)
        SELECT callback_id, number, at, url, status, milliseconds, answer, error
        FROM json_to_recordset(CAST(:rows AS json)) AS new (
            callback_id bigint, number integer, at timestamptz, url text,
            status integer, milliseconds integer, answer text, error text
        )
    """)
    ),
}
_THIS: Final = callbacks.alias("this")
_NEXT: Final = PreparedStatement(
    select(callbacks.c.merchant_id, callbacks.c.id, callbacks.c.round, callbacks.c.trace_parent)
    .join_from(
        _THIS,
        callbacks,
        and_(
            callbacks.c.order_id == _THIS.c.order_id,
            callbacks.c.sequence == _THIS.c.sequence + literal_column("1"),
        ),
    )
    .where(
        is_one_of(_THIS.c.id, "ids"),
        callbacks.c.state == spelled_out(CallbackState.PENDING),
        callbacks.c.failures == literal_column("0"),
    )
)


def load_deliveries(db: Connection, ids: Iterable[int]) -> dict[int, Delivery]:
    """Return what is needed to send these callbacks."""
    return {row[0]: Delivery(*row) for row in _LOAD.all(db, {"ids": write_list(ids)})}


def write_outcomes(
    db: Connection, tried: Sequence[DeliveryOutcome], now: datetime
) -> list[DeliveryOutcome]:
    """Store the outcome of callbacks and enqueue what follows, all in one transaction.

    An outcome that another worker stored in the meantime stands; return the others. `now` is the
    real time.
    """
    fresh = _leave_out_old(db, tried)
    if not fresh:
        return []
    _write_rows(
        db, _UPDATE, [_change(one) for one in fresh], timestamps=("next_at", "delivered_at")
    )
    attempts = [
        {"callback_id": one.delivery.id, **msgspec.structs.asdict(one.attempt)}
        for one in fresh
        if one.attempt is not None
    ]
    _write_rows(db, _ADD_ATTEMPTS, attempts, timestamps=("at",))
    enqueue_deliveries(db, [*_list_next(db, fresh), *_list_again(fresh)], now=now)
    return fresh


def _write_rows(
    db: Connection,
    statements: Mapping[str, PreparedStatement],
    rows: Sequence[dict[str, Any]],
    *,
    timestamps: Sequence[str],
) -> None:
    if not rows:
        return
    for row in rows:
        row.update(
            {name: _TIMESTAMP.process_bind_param(row[name], db.dialect) for name in timestamps}
        )
    statements[db.dialect.name].run(db, {"rows": msgspec.json.encode(rows).decode()})


def _leave_out_old(db: Connection, tried: Sequence[DeliveryOutcome]) -> list[DeliveryOutcome]:
    rows = _LOCK.all(db, {"ids": write_list(one.delivery.id for one in tried)})
    current = {callback_id: tuple(is_so) for callback_id, *is_so in rows}
    fresh = []
    for one in sorted(tried, key=lambda one: one.delivery.id):
        known = one.delivery
        # Removed, so that one of two attempts at the same time counts.
        is_so = current.pop(known.id, None)
        if is_so == (known.state, known.round, known.failures):
            fresh.append(one)
    return fresh


def _change(tried: DeliveryOutcome) -> dict[str, Any]:
    delivery, attempt = tried.delivery, tried.attempt
    is_delivered = tried.state is CallbackState.DELIVERED
    return {
        "id": delivery.id,
        "state": tried.state,
        "failures": delivery.failures + (attempt is not None and not is_delivered),
        "attempts": delivery.attempts + (attempt is not None),
        "next_at": attempt.at + tried.retry_in if attempt and tried.retry_in is not None else None,
        "delivered_at": attempt.at if attempt and is_delivered else None,
    }


def _list_next(db: Connection, tried: Sequence[DeliveryOutcome]) -> list[NewJob]:
    """Return jobs for the callbacks that have waited for these attempts."""
    ids = [
        one.delivery.id
        for one in tried
        if one.delivery.failures == 0
        and one.delivery.sequence is not None
        and (one.attempt is not None or one.state is not CallbackState.PENDING)
    ]
    if not ids:
        return []
    return [delivery_job(*row) for row in _NEXT.all(db, {"ids": write_list(ids)})]


def _list_again(tried: Sequence[DeliveryOutcome]) -> list[NewJob]:
    return [
        delivery_job(
            known.merchant_id, known.id, known.round, known.trace_parent, retry_in=one.retry_in
        )
        for one in tried
        for known in [one.delivery]
        if one.retry_in is not None
    ]
