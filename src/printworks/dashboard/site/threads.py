"""Threads in which pages are made, so that one that waits does not block all others."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio.to_thread

T = TypeVar("T")


class Threads:
    """Runs calls in threads, at most so many at the same time."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        # Made when first needed: it belongs to the event loop that is running then.
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, call: Callable[..., T], *args: object) -> T:
        """Run a call in a thread, once one is free."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._at_once)
        return await anyio.to_thread.run_sync(partial(call, *args), limiter=self._limiter)
