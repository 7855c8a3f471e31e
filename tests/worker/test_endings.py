"""What a handler leaves to the loop is written with the end of its job; who waits steps aside."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Connection

from printworks.rules.jobs import Policy
from printworks.rules.pools import Pool
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Job
from printworks.worker import loop
from printworks.worker.loop import Completion, Context, Worker
from tests.factories import NOON
from tests.worker.queues import (
    KIND,
    LEASE,
    a_policy,
    claim_some,
    enqueue_many,
    enqueue_one,
    list_states,
)
from tests.worker.running import BOTH_WAYS, drain, running, work

QUICK = "quick"


class Notes:
    """Writes down what handlers leave, group by group."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []

    def write(self, _db: Connection, notes: Sequence[Any], now: datetime) -> None:
        """Write a group down."""
        assert now == NOON
        self.groups.append(sorted(notes))

    async def handle(self, _context: Context, job: Job) -> Completion:
        """Leave the number of the job."""
        return Completion(self.write, job.id)


class TestEndings:
    @BOTH_WAYS
    def test_what_is_left_is_written_once_for_every_job(
        self, database: Database, policy: Policy
    ) -> None:
        promised = enqueue_many(database, 20)
        notes = Notes()

        drain(database, notes.handle, policy=policy)

        assert sorted(note for group in notes.groups for note in group) == promised
        assert set(list_states(database)) == {"done"}

    def test_what_ends_together_is_written_together(self, database: Database) -> None:
        promised = enqueue_many(database, 8)
        notes = Notes()

        drain(database, notes.handle)

        assert notes.groups == [promised]

    def test_what_somebody_else_took_over_is_not_written(self, database: Database) -> None:
        lost, kept = enqueue_many(database, 2)
        notes = Notes()

        async def lose_one(context: Context, job: Job) -> Completion:
            if job.id == lost:
                await context.in_thread(
                    claim_some, database, 1, worker="other", now=NOON + 2 * LEASE
                )
            return await notes.handle(context, job)

        drain(database, lose_one, slots=1)

        assert notes.groups == [[kept]]
        assert sorted(list_states(database)) == ["done", "running"]

    def test_a_job_is_not_done_until_what_it_left_is_written(self, database: Database) -> None:
        enqueue_one(database)
        seen: list[Any] = []

        def fail_once(_db: Connection, _notes: Sequence[Any], _now: datetime) -> None:
            seen.append(list_states(database))
            if len(seen) == 1:
                raise ConnectionAbortedError

        async def handle(_context: Context, _job: Job) -> Completion:
            return Completion(fail_once, None)

        drain(database, handle)

        assert seen == [["running"], ["running"]]
        assert list_states(database) == ["done"]


class Meeting:
    """A job that goes on until a quick one, which comes while it runs, is done."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_begun = asyncio.Event()
        self._is_done = asyncio.Event()
        self._may_end = asyncio.Event()
        # How many jobs waited for a slot when the quick one was done.
        self.due = 0

    async def go_on(self, _context: Context, _job: Job) -> None:
        """Handle the long job."""
        self._has_begun.set()
        await self._may_end.wait()

    async def go_on_aside(self, context: Context, job: Job) -> None:
        """Handle the long job, which says that it only waits."""
        with context.waiting.of(job):
            await self.go_on(context, job)

    async def be_quick(self, _context: Context, _job: Job) -> None:
        """Handle the quick job."""
        self._is_done.set()

    async def play(self, worker: Worker) -> None:
        """Let the quick job come and be done, and then the long one end."""
        async with running(worker):
            await self._has_begun.wait()
            await asyncio.to_thread(enqueue_one, self._database, kind=QUICK)
            await self._is_done.wait()
            self.due = Counter(await asyncio.to_thread(list_states, self._database))["due"]
            self._may_end.set()


def test_who_only_waits_for_others_steps_aside(database: Database) -> None:
    enqueue_one(database)
    meeting = Meeting(database)

    both = a_policy(pool=Pool.CALLBACKS)
    work(
        database,
        meeting.go_on_aside,
        meeting.play,
        slots=1,
        handlers={KIND: meeting.go_on_aside, QUICK: meeting.be_quick},
        policies={KIND: both, QUICK: both},
    )

    assert list_states(database) == ["done", "done"]


def test_who_comes_alone_does_not_wait_for_those_that_hang(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than the scene may take.
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_CLAIMS", 60)
    enqueue_one(database)
    meeting = Meeting(database)

    both = a_policy(pool=Pool.CALLBACKS)
    handlers = {KIND: meeting.go_on, QUICK: meeting.be_quick}
    policies = {KIND: both, QUICK: both}
    work(database, meeting.go_on, meeting.play, handlers=handlers, policies=policies)

    assert list_states(database) == ["done", "done"]


def test_who_works_in_another_pool_needs_nobody_to_step_aside(database: Database) -> None:
    enqueue_many(database, 20)
    meeting = Meeting(database)

    work(
        database,
        meeting.go_on,
        meeting.play,
        slots=8,
        handlers={KIND: meeting.go_on, QUICK: meeting.be_quick},
        policies={KIND: a_policy(pool=Pool.LABS), QUICK: a_policy(pool=Pool.CALLBACKS)},
    )

    assert meeting.due == 18
    assert list_states(database)[-1] == "done"
