"""Bounded thread pools for synchronous code, with a cheap way back to the event loop.

Work belongs to a lane, which is that of its merchant. Lanes take turns, and when a queue is full,
whoever has most in it is refused.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, NamedTuple, TypeVar

from printworks.web.lanes import Lanes

T = TypeVar("T")
Work = TypeVar("Work")

# Small enough that other requests can be read and answered while a group is written.
LARGEST_GROUP: Final = 16
# What a thread is told.
_LOOK: Final = True
_END: Final = False


def _weigh_equally(_: object) -> int:
    return 1


class PoolFull(Exception):
    """Too many requests are waiting already."""


class _Task(NamedTuple, Generic[Work]):
    work: Work
    future: asyncio.Future[Any]


class _Outcome(NamedTuple):
    future: asyncio.Future[Any]
    result: Any
    error: BaseException | None


class _Threads(Generic[Work]):
    """Threads that take work from the lanes in turn; use it from one event loop.

    The standard executor wakes the event loop once for every result, which costs more than a
    query. Here all results that are ready are delivered together, and an idle loop is woken once.
    """

    def __init__(self, name: str, *, threads: int, queue: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._most = threads + queue
        self._running = 0
        # One thread is left for others, whatever one lane has to do.
        self._lanes: Lanes[_Task[Work]] = Lanes(max(1, threads - 1))
        # One for each task, so that a thread looks for it.
        self._calls: SimpleQueue[bool] = SimpleQueue()
        self._outcomes: deque[_Outcome] = deque()
        self._is_woken = False
        self._name = name
        self._count = threads
        # Each is started with a task: many processes never need those for what takes long.
        self._threads: list[threading.Thread] = []

    def submit(self, work: Work, lane: Hashable = None) -> asyncio.Future[Any]:
        """Queue work for a thread; raise `PoolFull` if too much of this lane is waiting.

        If there is more of another lane, its newest work fails with `PoolFull` instead.
        """
        # First: if the system has no thread for it, nothing has happened.
        if len(self._threads) < self._count:
            self._start_another()
        if self._running >= self._most:
            self._refuse_longest(lane)
        self._running += 1
        future: asyncio.Future[Any] = self._loop.create_future()
        self._lanes.put(lane, _Task(work, future))
        self._calls.put(_LOOK)
        return future

    def _start_another(self) -> None:
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _refuse_longest(self, lane: Hashable) -> None:
        refused = self._lanes.take_back(lane)
        if refused is None:
            raise PoolFull
        self._running -= 1
        if not refused.future.cancelled():
            refused.future.set_exception(PoolFull())

    def close(self) -> None:
        """Let the threads finish their work, and end them."""
        self._lanes.open_up()
        for _ in self._threads:
            self._calls.put(_END)
        for thread in self._threads:
            thread.join()
        self._deliver()

    def _work(self) -> None:
        raise NotImplementedError

    def _return(self, outcomes: Sequence[_Outcome]) -> None:
        self._outcomes.extend(outcomes)
        # Two threads may both wake the loop; that costs a little and loses nothing, because
        # the flag is cleared before the outcomes are taken.
        if not self._is_woken:
            self._is_woken = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._is_woken = False
        while self._outcomes:
            future, result, error = self._outcomes.popleft()
            self._running -= 1
            # The caller may have been cancelled.
            if future.cancelled():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)


class ThreadPool(_Threads[Callable[[], Any]]):
    """Runs functions, as many at a time as there are threads."""

    def run(self, work: Callable[[], T], lane: Hashable = None) -> asyncio.Future[T]:
        return self.submit(work, lane)

    def _work(self) -> None:
        while self._calls.get():
            self._do_next()
        # A lane that had too much in work may have more.
        while self._do_next():
            pass

    def _do_next(self) -> bool:
        taken = self._lanes.take()
        if taken is None:
            return False
        lane, task = taken
        try:
            outcome = _Outcome(task.future, task.work(), None)
        except BaseException as error:  # noqa: BLE001  (it is raised again where it is awaited)
            outcome = _Outcome(task.future, None, error)
        # First: the loop that is woken next would wait for the lock of the lanes.
        if self._lanes.finish(lane):
            self._calls.put(_LOOK)
        self._return([outcome])
        return True


class GroupThread(_Threads[Work], Generic[Work, T]):
    """One thread that takes all the work that waits, and does it in one group.

    While a group is being written, more work queues up for the next group: the higher the load,
    the larger the groups, and no work waits for others. A group is full with `LARGEST_GROUP`
    pieces of work, or fewer if some of them weigh more than one.
    """

    def __init__(
        self,
        name: str,
        work_on: Callable[[Sequence[Work]], Sequence[T]],
        *,
        queue: int,
        weigh: Callable[[Work], int] = _weigh_equally,
    ) -> None:
        self._work_on = work_on
        self._weigh = weigh
        super().__init__(name, threads=1, queue=queue)

    def run(self, work: Work, lane: Hashable = None) -> asyncio.Future[T]:
        """Do this together with all other work that waits."""
        return self.submit(work, lane)

    def _work(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._take_group()
            if group:
                self._return(self._do(group))

    def _take_group(self) -> tuple[list[_Task[Work]], bool]:
        group: list[_Task[Work]] = []
        room = LARGEST_GROUP
        is_called = self._calls.get()
        while is_called:
            taken = self._lanes.take()
            if taken is not None:
                lane, task = taken
                # A group has as much of a lane as there is room for after the others' turns.
                self._lanes.finish(lane)
                group.append(task)
                room -= self._weigh(task.work)
            if room <= 0:
                return group, True
            try:
                is_called = self._calls.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _do(self, group: Sequence[_Task[Work]]) -> list[_Outcome]:
        try:
            results = self._work_on([task.work for task in group])
        except BaseException as error:  # noqa: BLE001  (it is raised again where it is awaited)
            return [_Outcome(task.future, None, error) for task in group]
        return [
            _Outcome(task.future, result, None) for task, result in zip(group, results, strict=True)
        ]
