"""A bounded pool of threads for the synchronous core, with a cheap way back to the event loop."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class PoolFull(Exception):
    """So many requests are waiting that another would only wait in vain."""


class _Task(NamedTuple):
    work: Callable[[], Any]
    future: asyncio.Future[Any]


class _Outcome(NamedTuple):
    future: asyncio.Future[Any]
    result: Any
    error: BaseException | None


class ThreadPool:
    """Runs functions in threads; use it from one event loop.

    The standard executor wakes the event loop once for every result, which costs more than a
    query. Here all results that are ready travel together, and an idle loop is woken once.
    """

    def __init__(self, *, threads: int, queue: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._most = threads + queue
        self._under_way = 0
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._outcomes: deque[_Outcome] = deque()
        self._is_woken = False
        self._threads = [
            threading.Thread(target=self._work, name=f"core-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def run(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Run a function in a thread; raise `PoolFull` at once rather than wait for long."""
        if self._under_way >= self._most:
            raise PoolFull
        self._under_way += 1
        future: asyncio.Future[T] = self._loop.create_future()
        self._tasks.put(_Task(work, future))
        return future

    def close(self) -> None:
        """Let the threads finish what was begun, and end them."""
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()
        self._deliver()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                outcome = _Outcome(task.future, task.work(), None)
            except BaseException as error:  # noqa: BLE001  (it is raised again where it is awaited)
                outcome = _Outcome(task.future, None, error)
            self._outcomes.append(outcome)
            # Two threads may both wake the loop; that costs a little and loses nothing,
            # because the flag is cleared before the outcomes are taken.
            if not self._is_woken:
                self._is_woken = True
                self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._is_woken = False
        while self._outcomes:
            future, result, error = self._outcomes.popleft()
            self._under_way -= 1
            # Whoever asked may have gone away.
            if future.cancelled():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
