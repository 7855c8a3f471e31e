"""Many files at once, in the order in which they were asked for."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

THREADS: Final = 8
# Tasks that are being done or wait for those before them.
AHEAD: Final = 64


def in_order(call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Call a function for each task in some threads; return the results in the order of the tasks.

    What one raises is raised here, and no further task is begun.
    """
    with ThreadPoolExecutor(THREADS, thread_name_prefix="files") as threads:
        begun: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                begun.append(threads.submit(call, task))
                if len(begun) >= AHEAD:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
