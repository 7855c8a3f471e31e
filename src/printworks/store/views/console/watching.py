"""What is watched all the time: read every few seconds, whatever the size of the business."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, func, select

from printworks.rules.events import CallbackState
from printworks.rules.heartbeats import Heartbeat
from printworks.rules.jobs import JobState
from printworks.store.engine.columns import spelled_out
from printworks.store.money.verifications import Verification, list_verifications
from printworks.store.queue.heartbeats import list_heartbeats
from printworks.store.tables import callbacks, jobs
from printworks.store.views.console.problems import (
    MOST,
    find_late,
    find_pending,
    find_rejected,
)


class WaitingJobs(msgspec.Struct):
    """Jobs of one kind."""

    kind: str
    # Those that could run now, and since when the first of them could.
    due: int = 0
    oldest_due_at: datetime | None = None
    running: int = 0
    failed: int = 0


class WatchedFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is the case now; counts of problems end at `MOST`."""

    queue: list[WaitingJobs]
    workers: list[Heartbeat]
    failed_callbacks: int
    # By the code of the lab.
    late_shipments: Mapping[str, int]
    # Those without an outcome, and those whose refund was rejected.
    unresolved_payments: int
    verifications: list[Verification]


def read_facts(db: Connection, *, transit_days: Mapping[str, int], now: datetime) -> WatchedFacts:
    """Return everything that is watched. `now` is the real time."""
    late: dict[str, int] = {}
    for shipment in find_late(db, transit_days=transit_days, now=now, limit=MOST).rows:
        late[shipment.lab] = late.get(shipment.lab, 0) + 1
    return WatchedFacts(
        queue=list_waiting(db, now=now),
        workers=list_heartbeats(db),
        failed_callbacks=db.execute(_FAILED_CALLBACKS).scalar_one(),
        late_shipments=late,
        unresolved_payments=find_pending(db, now=now, limit=0).count
        + find_rejected(db, limit=0).count,
        verifications=list_verifications(db),
    )


def list_waiting(db: Connection, *, now: datetime) -> list[WaitingJobs]:
    """Return what waits, runs and has failed, by kind, in the order of the kinds."""
    found: dict[str, WaitingJobs] = {}
    for kind, count, oldest in _list_due(db, now=now):
        waiting = found.setdefault(kind, WaitingJobs(kind))
        waiting.due += count
        waiting.oldest_due_at = min(waiting.oldest_due_at or oldest, oldest)
    for lane, count in db.execute(_RUNNING):
        kind = _kind_of(lane)
        found.setdefault(kind, WaitingJobs(kind)).running += count
    for kind, count in db.execute(_FAILED):
        found.setdefault(kind, WaitingJobs(kind)).failed += count
    return [found[kind] for kind in sorted(found)]


def _list_due(db: Connection, *, now: datetime) -> Iterable[tuple[str, int, datetime]]:
    for lane, count, oldest in db.execute(_DUE):
        yield _kind_of(lane), count, oldest
    # While no worker runs, nobody makes those due whose time has come.
    for kind, count, oldest in db.execute(_OVERDUE.where(jobs.c.due_at <= now)):
        yield kind, count, oldest


def _kind_of(lane: str) -> str:
    return lane.partition(":")[0]


def _is_in(state: JobState) -> Any:
    return jobs.c.state == spelled_out(state)


# By lane, which is in the index of the state; the kind is not.
_DUE: Final = (
    select(jobs.c.lane, func.count(), func.min(jobs.c.due_at))
    .where(_is_in(JobState.DUE))
    .group_by(jobs.c.lane)
)
_RUNNING: Final = (
    select(jobs.c.lane, func.count()).where(_is_in(JobState.RUNNING)).group_by(jobs.c.lane)
)
_OVERDUE: Final = (
    select(jobs.c.kind, func.count(), func.min(jobs.c.due_at))
    .where(_is_in(JobState.SCHEDULED))
    .group_by(jobs.c.kind)
)
_FAILED: Final = (
    select(jobs.c.kind, func.count()).where(_is_in(JobState.FAILED)).group_by(jobs.c.kind)
)
# Tests, which have no number, are left out.
_FAILED_CALLBACKS: Final = select(func.count()).where(
    callbacks.c.state == spelled_out(CallbackState.FAILED), callbacks.c.number.is_not(None)
)
