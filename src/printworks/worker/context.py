"""What a handler can reach, and what it may leave to the loop."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from sqlalchemy import Connection

from printworks.clock import Clock
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Job
from printworks.worker.tools import Tools

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Key = TypeVar("Key")


class _Load:
    """Those who asked for something at the same time."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, asyncio.Future[Any]]] = []
        self.task: asyncio.Task[None] | None = None

    def answer(self, found: Mapping[Any, Any]) -> None:
        """Give everybody who still waits what was found."""
        for key, answer in self.asked:
            if not answer.done():
                answer.set_result(found.get(key))

    def fail(self, error: Exception) -> None:
        """Tell everybody who still waits what went wrong."""
        for _, answer in self.asked:
            if not answer.done():
                answer.set_exception(error)


@dataclass(frozen=True)
class Context:
    """What a handler can reach."""

    database: Database
    settings: Settings
    clock: Clock
    threads: ThreadPoolExecutor
    tools: Tools | None = None
    _loads: dict[Any, _Load] = field(default_factory=dict)

    @property
    def outside(self) -> Tools:
        """The tools that reach beyond the database; a worker without them runs sweeps only."""
        if self.tools is None:
            message = "This worker has no tools."
            raise RuntimeError(message)
        return self.tools

    async def in_thread(
        self,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a call that blocks, such as a transaction, without holding up other jobs."""
        return await _run(self.threads, call, *args, **kwargs)

    async def in_payment_pool(
        self,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a call that waits for a payment provider, apart from the others."""
        return await _run(self.outside.payment_pool, call, *args, **kwargs)

    async def load(
        self, find: Callable[[Connection, Sequence[Key]], Mapping[Key, Result]], key: Key
    ) -> Result | None:
        """Return what is found under a key; jobs that begin at the same time ask together."""
        load = self._loads.get(find)
        if load is None:
            load = self._loads[find] = _Load()
            load.task = asyncio.create_task(self._find_together(find))
        answer = asyncio.get_running_loop().create_future()
        load.asked.append((key, answer))
        found: Result | None = await answer
        return found

    async def _find_together(self, find: Callable[..., Mapping[Any, Any]]) -> None:
        # Whoever begins in the same moment gets the time to ask too.
        await asyncio.sleep(0)
        load = self._loads.pop(find)
        try:
            load.answer(await self.in_thread(self._find, find, [key for key, _ in load.asked]))
        except Exception as error:  # noqa: BLE001  (theirs, who asked)
            load.fail(error)

    def _find(self, find: Callable[..., Mapping[Any, Any]], keys: list[Any]) -> Mapping[Any, Any]:
        with self.database.reading() as db:
            return find(db, keys)

    async def in_cpu_pool(
        self,
        call: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a call that takes long, such as drawing a picture, apart from the others."""
        return await _run(self.outside.cpu_pool, call, *args, **kwargs)


async def _run(
    pool: ThreadPoolExecutor,
    call: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    # With the facts for the log that the task has gathered.
    bound = partial(copy_context().run, call, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(pool, bound)


class Ending(NamedTuple):
    """What a handler leaves to be written in the transaction that marks its job as done.

    What ends at the same time is written together, with one call of `write`, and only if the
    job is still in this worker's hands.
    """

    write: Callable[[Connection, Sequence[Any], datetime], None]
    note: Any


Handler: TypeAlias = Callable[[Context, Job], Awaitable[Ending | None]]
