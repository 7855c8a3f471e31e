"""Which jobs wait for other servers right now, and which lanes were answered quickly."""

from asyncio import get_running_loop
from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Final

from printworks.store.queue.jobs import Claim, Job

# A job that waits for longer leaves its slot, if there is room beside the slots.
SECONDS_IN_SLOT: Final = 1.0
# How many lanes are remembered.
MOST_LANES: Final = 10_000


class Waiting:
    """Remembers it, in this process only."""

    def __init__(self) -> None:
        self._under_way: dict[Claim, tuple[str, float]] = {}
        self._overdue: set[Claim] = set()
        # The one that was answered last comes last.
        self._proven: dict[str, None] = {}

    @property
    def proven(self) -> Container[str]:
        """The lanes whose last job was answered quickly."""
        return self._proven.keys()

    @contextmanager
    def of(self, job: Job) -> Iterator[None]:
        """Say that a job waits for another server."""
        self._under_way[job.claim] = (job.lane, get_running_loop().time())
        try:
            yield
        finally:
            del self._under_way[job.claim]
            self._proven.pop(job.lane, None)
            if job.claim in self._overdue:
                self._overdue.discard(job.claim)
            else:
                self._proven[job.lane] = None
                if len(self._proven) > MOST_LANES:
                    del self._proven[next(iter(self._proven))]

    def find_overdue(self) -> list[Claim]:
        """Return the jobs that have waited for too long to keep their slots."""
        began_before = get_running_loop().time() - SECONDS_IN_SLOT
        for claim, (lane, began) in self._under_way.items():
            if began <= began_before:
                self._overdue.add(claim)
                self._proven.pop(lane, None)
        return list(self._overdue)
