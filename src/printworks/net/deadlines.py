"""Time limits of many tasks with one timer of the event loop.

A timer for each of two thousand requests a second, nearly all of which are cancelled, costs more
than writing the request.
"""

import asyncio
from asyncio import get_running_loop
from datetime import timedelta
from functools import lru_cache
from types import TracebackType
from typing import Protocol, Self


class Waiter(Protocol):
    """Somebody who is told when the time is up."""

    def time_is_up(self) -> None: ...


class SharedTimer:
    """Tells all that wait for the same length of time; use it in one event loop."""

    def __init__(self, wait: timedelta) -> None:
        self._seconds = wait.total_seconds()
        # Whoever began first comes first.
        self._waiters: dict[Waiter, float] = {}
        self._handle: asyncio.TimerHandle | None = None

    def start(self, waiter: Waiter) -> None:
        """Tell this one when the time is up, unless it is stopped before."""
        loop = get_running_loop()
        until = self._waiters[waiter] = loop.time() + self._seconds
        if self._handle is None:
            self._handle = loop.call_at(until, self._ring)

    def stop(self, waiter: Waiter) -> None:
        self._waiters.pop(waiter, None)

    def _ring(self) -> None:
        loop = get_running_loop()
        self._handle = None
        now = loop.time()
        over = []
        for waiter, until in self._waiters.items():
            if until > now:
                self._handle = loop.call_at(until, self._ring)
                break
            over.append(waiter)
        for waiter in over:
            del self._waiters[waiter]
        for waiter in over:
            waiter.time_is_up()


class TimeLimit:
    """A block that raises `TimeoutError` when its time is up, as `asyncio.timeout` does."""

    __slots__ = ("_requests", "_task", "_timer", "is_over")

    def __init__(self, timer: SharedTimer) -> None:
        self._timer = timer
        self.is_over = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("A time limit needs a task.")
        self._task = task
        # Whoever else wants to cancel the task still does.
        self._requests = task.cancelling()
        self._timer.start(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        self._timer.stop(self)
        if (
            self.is_over
            and self._task.uncancel() <= self._requests
            and kind is asyncio.CancelledError
        ):
            raise TimeoutError from error

    def time_is_up(self) -> None:
        self.is_over = True
        self._task.cancel()


class TimeLimits:
    """Makes limits of any length; those of the same length share a timer."""

    def __init__(self) -> None:
        self._find_timer = lru_cache(maxsize=None)(SharedTimer)

    def limit(self, wait: timedelta) -> TimeLimit:
        """Limit how long a block may take."""
        return TimeLimit(self._find_timer(wait))
