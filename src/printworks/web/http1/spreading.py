"""Spreads connections evenly over the processes that listen on one socket.

All of them hear of a new connection, and the one that is least busy for a moment would get most of
those that come together; but they stay, and later the others would have nothing to do.
"""

import mmap
from typing import Final

# A process with more than this many connections more than another lets it go first.
MOST_AHEAD: Final = 2
_BYTES: Final = 8


def share_counts(processes: int) -> memoryview:
    """Return memory for one count of each process; processes share it that are forked afterwards."""
    return memoryview(mmap.mmap(-1, processes * _BYTES)).cast("q")


class Spread:
    """How many connections this process has, and whether others have fewer."""

    def __init__(self, counts: memoryview, number: int) -> None:
        self._counts = counts
        self._number = number

    def note(self, count: int) -> None:
        """Say how many connections this process has."""
        self._counts[self._number] = count

    def is_ahead(self) -> bool:
        """Whether another process should get the next."""
        return self._counts[self._number] > min(self._counts) + MOST_AHEAD
