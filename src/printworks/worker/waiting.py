"""Which jobs wait for other servers right now, and which lanes were answered quickly."""

from asyncio import get_running_loop
from collections.abc import Container
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

    def of(self, job: Job) -> "WaitOf":
        """Say that a job waits for another server, during a block."""
        return WaitOf(self, job)

    def begin(self, claim: Claim, lane: str) -> None:
        """Note that a job waits from now on."""
        self._under_way[claim] = (lane, get_running_loop().time())

    def end(self, claim: Claim, lane: str) -> None:
        """Note that a job was answered, or has failed."""
        del self._under_way[claim]
        self._proven.pop(lane, None)
        if claim in self._overdue:
            self._overdue.discard(claim)
        else:
            self._proven[lane] = None
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


class WaitOf:
    """The block in which a job waits for another server."""

    __slots__ = ("_claim", "_lane", "_waiting")

    def __init__(self, waiting: Waiting, job: Job) -> None:
        self._waiting = waiting
        self._claim, self._lane = job.claim, job.lane

    def __enter__(self) -> None:
        self._waiting.begin(self._claim, self._lane)

    def __exit__(self, *_: object) -> None:
        self._waiting.end(self._claim, self._lane)
