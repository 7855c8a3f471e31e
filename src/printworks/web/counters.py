"""Counters that all web processes of a machine share: a small file that each maps into memory.

A counter is a number beside the id of whoever it belongs to. There are no locks: reading and
writing one number is one instruction, and when two processes change the same counter within the
same microsecond, one of the changes is lost, which lets one request more through. Nothing has to
be cleaned up after a process that was killed.
"""

import mmap
import os
from hashlib import blake2b
from pathlib import Path
from typing import Final

import structlog

log = structlog.get_logger(__name__)

FILE_NAME: Final = "request-counters"
# In each of the two tables. Who comes when all are in use gets the counter that is full soonest.
SLOTS: Final = 16_384
# Counters that an id may use.
_WAYS: Final = 4
_BYTES: Final = 8
_TABLE: Final = 2 * _BYTES * SLOTS


class Counters:
    """A table of counters by id; ids are not 0, and numbers start at 0."""

    def __init__(self, memory: memoryview) -> None:
        half = len(memory) // 2
        self._ids = memory[:half].cast("q")
        self._numbers = memory[half:].cast("d")
        self._sets = len(self._ids) // _WAYS

    def find(self, owner: int) -> int:
        """Return the place of somebody's counter; it may become another's later."""
        first = owner % self._sets * _WAYS
        ids = self._ids
        for place in range(first, first + _WAYS):
            if ids[place] == owner:
                return place
        # The smallest number is that of the bucket that has been full for longest.
        place = min(range(first, first + _WAYS), key=self._numbers.__getitem__)
        self._numbers[place] = 0.0
        ids[place] = owner
        return place

    def belongs_to(self, place: int, owner: int) -> bool:
        return self._ids[place] == owner

    def read(self, place: int) -> float:
        return self._numbers[place]

    def write(self, place: int, number: float) -> None:
        self._numbers[place] = number


def open_counters(folder: Path) -> tuple[Counters, Counters]:
    """Return the tables of merchants and of addresses, which a folder's processes share."""
    memory = memoryview(_map_file(folder / FILE_NAME))
    return Counters(memory[:_TABLE]), Counters(memory[_TABLE:])


def identify(name: str) -> int:
    """Return the id of a name: the same in every process."""
    digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True) or 1


def _map_file(path: Path) -> mmap.mmap:
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Without the space, writing to the memory would kill the process.
            os.posix_fallocate(file, 0, 2 * _TABLE)
            return mmap.mmap(file, 2 * _TABLE)
        finally:
            os.close(file)
    except (OSError, ValueError, AttributeError) as error:
        log.warning("each process counts requests by itself", error=str(error))
        return mmap.mmap(-1, 2 * _TABLE)
