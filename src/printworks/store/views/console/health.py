"""The health of the database and the queue, for operators."""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, func, select, text

from printworks.rules.heartbeats import Heartbeat
from printworks.rules.jobs import JobState
from printworks.store.engine.columns import spelled_out
from printworks.store.queue.heartbeats import list_heartbeats
from printworks.store.tables import jobs

# At most this many jobs of one state are counted, and this many finished ones read.
MOST_COUNTED: Final = 10_000
_WAITING: Final = (JobState.DUE, JobState.RUNNING, JobState.SCHEDULED)
_FINISHED: Final = (JobState.FAILED, JobState.CANCELLED, JobState.DONE)


class DatabaseFacts(msgspec.Struct, frozen=True):
    name: str
    version: str
    bytes: int


class QueueFacts(msgspec.Struct, frozen=True):
    """What is due, since when, and what the workers last said of themselves."""

    due: int
    oldest_due_at: datetime | None
    workers: list[Heartbeat]


class JobCount(msgspec.Struct, frozen=True):
    """How many jobs of one kind are in one state."""

    kind: str
    state: JobState
    count: int


def describe_database(db: Connection) -> DatabaseFacts:
    def ask(question: str) -> str:
        return str(db.execute(text(question)).scalar_one())

    if db.dialect.name == "sqlite":
        size = int(ask("PRAGMA page_count")) * int(ask("PRAGMA page_size"))
        return DatabaseFacts("SQLite", ask("SELECT sqlite_version()"), size)
    size = int(ask("SELECT pg_database_size(current_database())"))
    return DatabaseFacts("PostgreSQL", ask("SHOW server_version").split()[0], size)


def describe_queue(db: Connection) -> QueueFacts:
    due = db.execute(
        select(func.count(), func.min(jobs.c.due_at)).where(_is_in(JobState.DUE))
    ).one()
    return QueueFacts(due=due[0], oldest_due_at=due[1], workers=list_heartbeats(db))


def count_jobs(db: Connection) -> list[JobCount]:
    """Count jobs by kind and state; finished ones only among the newest jobs."""
    some = select(jobs.c.kind, jobs.c.state).limit(MOST_COUNTED)
    waiting = [count for state in _WAITING for count in _count(db, some.where(_is_in(state)))]
    newest = _count(db, some.order_by(jobs.c.id.desc()))
    return [*waiting, *(count for count in newest if count.state in _FINISHED)]


def _count(db: Connection, some: Select[Any]) -> list[JobCount]:
    found = some.subquery()
    alike = (found.c.kind, found.c.state)
    counted = db.execute(select(*alike, func.count()).group_by(*alike))
    return [JobCount(kind, JobState(state), count) for kind, state, count in counted]


def _is_in(state: JobState) -> ColumnElement[bool]:
    return jobs.c.state == spelled_out(state)
