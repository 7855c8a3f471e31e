"""Shares what each process of a machine has counted, through small files in the data folder.

A process holds one place, by a lock that ends with it however it ends. Whoever takes the place
next goes on counting where its last holder stopped, so that sums never fall, and there is nothing
to clean up.
"""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Self

import msgspec
import structlog

from printworks.watch.counts import Counts, SavedCounts

log = structlog.get_logger(__name__)

FOLDER: Final = "counts"
WEB: Final = "web"
WORKER: Final = "worker"
SECONDS_BETWEEN_SAVES: Final = 1.0
# More processes of one kind on a machine share what is left over: nothing.
MOST_PLACES: Final = 512

_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(SavedCounts)


class CountsOfProcess(NamedTuple):
    """What is written at one place, and whether a process holds it now."""

    place: str
    is_alive: bool
    counts: SavedCounts


class CountPlace:
    """The place of one process among those of its data folder."""

    def __init__(self, folder: Path, name: str, lock: int) -> None:
        self.name = name
        self._file = folder / f"{name}.json"
        self._lock = lock
        self._written = b""
        # What the last holder of this place counted.
        self.before = _read(self._file)

    @classmethod
    def take(cls, data: Path, role: str) -> Self | None:
        """Take the first free place for a web process or a worker; None if that is impossible."""
        folder = data / FOLDER
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for number in range(1, MOST_PLACES + 1):
                name = f"{role}-{number}"
                lock = _lock(folder / f"{name}.lock")
                if lock is not None:
                    return cls(folder, name, lock)
        except OSError as error:
            log.warning("counts are not shared", error=error.strerror)
        return None

    def write(self, content: bytes) -> None:
        """Let others see what was counted; a disk that fails costs only that."""
        if content == self._written:
            return
        try:
            draft = self._file.with_suffix(".new")
            draft.write_bytes(content)
            draft.replace(self._file)
            self._written = content
        except OSError as error:
            log.warning("counts not written", error=error.strerror)

    def leave(self) -> None:
        os.close(self._lock)


async def keep_sharing(counts: Counts, data: Path, role: str) -> None:
    """Share what this process counts until cancelled; then once more, and leave the place."""
    place = await asyncio.to_thread(CountPlace.take, data, role)
    if place is None:
        return
    if place.before is not None:
        counts.continue_from(place.before)
    try:
        while True:
            # Read here, where it is counted; written where a slow disk holds up nobody.
            await asyncio.to_thread(place.write, _encoder.encode(counts.save()))
            await asyncio.sleep(SECONDS_BETWEEN_SAVES)
    finally:
        place.write(_encoder.encode(counts.save()))
        place.leave()


def list_counts(data: Path) -> list[CountsOfProcess]:
    """Return what all processes of a data folder have counted on this machine."""
    return sorted(_find_counts(data / FOLDER))


def _find_counts(folder: Path) -> Iterator[CountsOfProcess]:
    for file in folder.glob("*.json"):
        counts = _read(file)
        if counts is None:
            continue
        is_alive = _is_held(file.with_suffix(".lock"))
        if not is_alive:
            counts.states.clear()
        yield CountsOfProcess(file.stem, is_alive, counts)


def _read(file: Path) -> SavedCounts | None:
    try:
        return _decoder.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError):
        # Nobody has counted yet, or another version of the program in another way.
        return None


def _lock(path: Path) -> int | None:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file


def _is_held(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
