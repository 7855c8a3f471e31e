"""A worker to test with: kinds of its own, a clock that stands still, and a way to stop it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from printworks.clock import Clock
from printworks.rules.jobs import Acknowledge, Policy
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context, Handler, Worker
from tests.factories import NOON, some_services
from tests.worker.queues import KIND, LEASE, a_policy

BOTH_WAYS: Final = pytest.mark.parametrize(
    "policy",
    [a_policy(acknowledge=how) for how in Acknowledge],
    ids=list(Acknowledge),
)


async def hang(_context: Context, _job: Job) -> None:
    """Be a handler that never comes back."""
    await asyncio.Event().wait()


def noon() -> datetime:
    """Tell the time of a clock that stands still."""
    return NOON


def work(
    database: Database,
    handler: Handler,
    scene: Callable[[Worker], Awaitable[None]],
    *,
    clock: Clock = noon,
    policy: Policy | None = None,
    **values: Any,
) -> None:
    """Play a scene with a worker that runs this handler for the usual kind."""

    async def play() -> None:
        with ThreadPoolExecutor(4) as threads:
            context = Context(some_services(database, clock=clock), threads)
            usual: Mapping[str, Any] = {
                "handlers": {KIND: handler},
                "policies": {KIND: policy or a_policy()},
                "slots": 8,
                "lease": LEASE,
                "stop_timeout": timedelta(seconds=10),
            }
            async with asyncio.timeout(30):
                await scene(Worker(context, **{**usual, **values}))

    asyncio.run(play())


def drain(database: Database, handler: Handler, **values: Any) -> None:
    """Run whatever is due."""

    async def scene(worker: Worker) -> None:
        await worker.drain()

    work(database, handler, scene, **values)


@asynccontextmanager
async def running(worker: Worker) -> AsyncIterator[None]:
    """Let the worker run during the block, and stop it cleanly."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run(stop))
        try:
            yield
        finally:
            stop.set()
