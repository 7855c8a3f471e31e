"""Leaves the processes in which pictures are decoded running from test to test.

To start one takes ten times as long as what most tests want of it. Nothing of a picture stays in it:
each is decoded in a child of its own.
"""

import atexit
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from printworks.imaging import processor
from printworks.imaging.messages import ChildReport, Task
from printworks.imaging.slot import ZYGOTE, Slot

# More than one test has open at the same time.
MOST_IDLE: Final = 4

# Each with the program that it runs.
_idle: Final[list[tuple[list[str], Any]]] = []
# Those of the process that this one is a fork of: whoever writes to them, it reads the answers.
_foreign: Final[list[Any]] = []


class SharedSlot(Slot):
    """A slot that passes its process on, unless a task has ended it."""

    def __init__(self, zygote: Sequence[str]) -> None:
        super().__init__(zygote)
        self._is_shared = tuple(zygote) == ZYGOTE
        self._is_busy = False

    def ask(self, task: Task) -> ChildReport:
        """Run the task in a process that an earlier test has started, if there is one."""
        if self._is_shared and self._process is None:
            self._process = _take(self._program)
        self._is_busy = True
        try:
            return super().ask(task)
        finally:
            self._is_busy = False

    def stop(self) -> None:
        """Keep the process for the next test, if it waits for a task."""
        process = self._process
        if process is None or self._is_busy or not self._is_shared or len(_idle) >= MOST_IDLE:
            super().stop()
            return
        self._process = None
        _idle.append((self._program, process))


def _take(program: list[str]) -> Any:
    # Another thread may have taken the last one.
    with suppress(IndexError):
        while _idle and _idle[-1][0] == program:
            _, process = _idle.pop()
            if process.poll() is None:
                return process
            # It has ended meanwhile.
            process.communicate()
    return None


def share_zygotes() -> None:
    """Let all image processors of this process share theirs."""
    processor.Slot = SharedSlot  # type: ignore[attr-defined]
    os.register_at_fork(after_in_child=_leave_to_parent)
    atexit.register(_end)


def _leave_to_parent() -> None:
    _foreign.extend(_idle)
    _idle.clear()


def _end() -> None:
    while _idle:
        _, process = _idle.pop()
        process.kill()
        process.communicate()
