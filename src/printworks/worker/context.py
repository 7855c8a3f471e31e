"""What handlers can use, and what they leave to the loop."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

import structlog
from sqlalchemy import Connection

from printworks.actions.services import Services
from printworks.actions.work import SystemWork, Work
from printworks.clock import Clock
from printworks.rules.jobs import PermanentFailure
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Claim, Job
from printworks.watch.counts import Counts
from printworks.watch.observing import Observer
from printworks.worker.resources import Resources
from printworks.worker.waiting import Waiting

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


# What a claim has read for a job holds for this long; a job that begins later reads it again.
SECONDS_KNOWN: Final = 1.0

log = structlog.get_logger()


class JobNeed(NamedTuple):
    """What jobs of a kind have to know, which is read for many of them at once."""

    find: Callable[[Connection, Sequence[Any]], Mapping[Any, Any]]
    # The argument of the jobs under which it is found.
    key: str


class _Known(NamedTuple):
    """What was read for a job, and when by a clock that nobody sets."""

    found: Any
    at: float


class _Load:
    """Loads of the same kind that were requested at the same time."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, asyncio.Future[Any]]] = []
        self.task: asyncio.Task[None] | None = None

    def answer(self, found: Mapping[Any, Any]) -> None:
        """Answer every request that still waits."""
        for key, answer in self.asked:
            if not answer.done():
                answer.set_result(found.get(key))

    def fail(self, error: Exception) -> None:
        """Raise an error in every request that still waits."""
        for _, answer in self.asked:
            if not answer.done():
                answer.set_exception(error)


@dataclass(frozen=True)
class Context:
    services: Services
    threads: ThreadPoolExecutor
    opened: Resources | None = None
    # Who waits for other servers.
    waiting: Waiting = field(default_factory=Waiting)
    observer: Observer = field(default_factory=lambda: Observer(Counts()))
    _loads: dict[Any, _Load] = field(default_factory=dict)
    _known: dict[Claim, _Known] = field(default_factory=dict)

    @property
    def database(self) -> Database:
        return self.services.database

    @property
    def settings(self) -> Settings:
        return self.services.settings

    @property
    def clock(self) -> Clock:
        """The real time."""
        return self.services.clock

    def system_work(self, db: Connection, job: Job | None = None) -> SystemWork:
        """Begin work that belongs to no merchant, on behalf of the request that caused a job."""
        return self.services.system_work(db, request_id=job.request_id if job else None)

    def work(self, db: Connection, merchant: Merchant, job: Job | None = None) -> Work:
        """Begin work for a merchant, on behalf of the request that caused a job."""
        return self.system_work(db, job).for_merchant(merchant)

    def job_work(self, db: Connection, job: Job) -> Work:
        """Begin work for the merchant of a job."""
        if job.merchant_id is None:
            raise PermanentFailure("The job has no merchant.")
        return self.work(db, get_merchant(db, job.merchant_id), job)

    @property
    def resources(self) -> Resources:
        """Network, files and pools; a worker without them only runs sweeps."""
        if self.opened is None:
            raise RuntimeError("This worker has no resources.")
        return self.opened

    async def in_thread(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a call that blocks, such as a transaction, without holding up other jobs."""
        return await _run(self.threads, call, *args, **kwargs)

    async def in_payment_pool(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a call that waits for a payment provider, apart from the others."""
        return await _run(self.resources.payment_pool, call, *args, **kwargs)

    async def in_mail_pool(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a call that waits for the mail server, apart from the others."""
        return await _run(self.resources.mail_pool, call, *args, **kwargs)

    async def in_lab_pool(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a call that waits for a lab, apart from the others."""
        return await _run(self.resources.lab_pool, call, *args, **kwargs)

    def read_ahead(self, jobs: Sequence[Job], needs: Mapping[str, JobNeed]) -> None:
        """Read what these jobs will need, in the thread of the claim that took them."""
        alike: dict[JobNeed, list[Job]] = {}
        for job in jobs:
            if need := needs.get(job.kind):
                alike.setdefault(need, []).append(job)
        for need, those in alike.items():
            try:
                found = self._find(need.find, [job.args[need.key] for job in those])
            except Exception as error:  # noqa: BLE001  (raised where each of them reads it)
                log.warning("nothing read ahead", error=type(error).__name__)
                return
            at = time.monotonic()
            for job in those:
                self._known[job.claim] = _Known(found.get(job.args[need.key]), at)

    def forget(self, claim: Claim) -> None:
        """Drop what was read for a job that does not begin."""
        self._known.pop(claim, None)

    async def load(self, need: JobNeed, job: Job) -> Any:
        """Return what a job needs, or None; jobs that start at the same time share a query."""
        known = self._known.pop(job.claim, None)
        if known is not None and time.monotonic() - known.at < SECONDS_KNOWN:
            return known.found
        return await self._load_with_others(need.find, job.args[need.key])

    async def _load_with_others(self, find: Callable[..., Mapping[Any, Any]], key: Any) -> Any:
        load = self._loads.get(find)
        if load is None:
            load = self._loads[find] = _Load()
            load.task = asyncio.create_task(self._find_together(find))
        answer = asyncio.get_running_loop().create_future()
        load.asked.append((key, answer))
        return await answer

    async def _find_together(self, find: Callable[..., Mapping[Any, Any]]) -> None:
        # Lets jobs that start at the same time join this load.
        await asyncio.sleep(0)
        load = self._loads.pop(find)
        try:
            load.answer(await self.in_thread(self._find, find, [key for key, _ in load.asked]))
        except Exception as error:  # noqa: BLE001  (raised in the jobs that asked)
            load.fail(error)

    def _find(self, find: Callable[..., Mapping[Any, Any]], keys: list[Any]) -> Mapping[Any, Any]:
        with self.database.reading() as db:
            return find(db, keys)

    async def in_cpu_pool(
        self, call: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a call that takes long, such as rendering a picture, apart from the others."""
        return await _run(self.resources.cpu_pool, call, *args, **kwargs)


async def _run(
    pool: ThreadPoolExecutor,
    call: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    # With the task's log context.
    bound = partial(copy_context().run, call, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(pool, bound)


class Completion(NamedTuple):
    """What a handler leaves to be written in the transaction that marks its job as done.

    Jobs that finish at the same time are written together, with one call of `write`, and only if
    this worker still holds them.
    """

    write: Callable[[Connection, Sequence[Any], datetime], None]
    note: Any


Handler: TypeAlias = Callable[[Context, Job], Awaitable[Completion | None]]
