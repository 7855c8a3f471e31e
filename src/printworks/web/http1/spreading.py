"""Spreads connections evenly over the processes that listen on one socket.

All of them hear of a new connection, and the one that is least busy for a moment would get most of
those that come together; but they stay, and later the others would have nothing to do.
"""

import mmap
from typing import Final

# A process with more than this many connections more than another lets it go first.
MOST_AHEAD: Final = 2
_BYTES: Final = 8


class OpenConnections:
    """How many connections each process has; make it before they are forked, so that they share it."""

    def __init__(self, processes: int) -> None:
        self._counts = memoryview(mmap.mmap(-1, processes * _BYTES)).cast("q")

    def note(self, number: int, count: int) -> None:
        """Say how many a process has."""
        self._counts[number] = count

    def is_ahead(self, number: int) -> bool:
        """Whether a process has so many that another one should get the next."""
        return self._counts[number] > min(self._counts) + MOST_AHEAD


class Spread:
    """The part of one process in it."""

    def __init__(self, connections: OpenConnections, number: int) -> None:
        self._connections = connections
        self._number = number

    def note(self, count: int) -> None:
        """Say how many connections this process has."""
        self._connections.note(self._number, count)

    def is_ahead(self) -> bool:
        """Whether another process should get the next."""
        return self._connections.is_ahead(self._number)
