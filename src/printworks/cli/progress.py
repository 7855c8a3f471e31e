"""Progress bars for people; nothing for programs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from printworks.backup.progress import SilentProgress, TransferProgress


class ProgressBars:
    """One bar below the other, a line for each part."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def begin(self, what: str, total: int | None = None) -> None:
        if self._task is not None:
            self._finish()
        self._task = self._bars.add_task(what, total=total)

    def advance(self, pieces: int = 1) -> None:
        if self._task is not None:
            self._bars.advance(self._task, pieces)

    def _finish(self) -> None:
        task = self._bars.tasks[-1]
        self._bars.update(task.id, total=task.completed, completed=task.completed)


@contextmanager
def showing_progress(*, is_json: bool) -> Iterator[TransferProgress]:
    """Show how far something is, on standard error, if a person is looking."""
    if is_json or not sys.stderr.isatty():
        yield SilentProgress()
        return
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield ProgressBars(bars)
