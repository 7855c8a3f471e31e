"""Temporary files that do not outlive the process that creates them."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Drafts:
    """A folder of temporary files. Opening it removes the files of killed processes.

    Each process locks its files, and the kernel ends the lock with the process: so files of
    killed processes can be told from those still in use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in folder.iterdir():
            _remove_if_left(path)

    @contextmanager
    def new(self) -> Iterator[Path]:
        """Yield an empty file that is removed when the block ends, unless it was moved away."""
        handle, path = self._make()
        try:
            yield path
        finally:
            # If this fails, the next process to open the folder removes it.
            with suppress(OSError):
                path.unlink(missing_ok=True)
            os.close(handle)

    def _make(self) -> tuple[int, Path]:
        while True:
            handle, name = tempfile.mkstemp(dir=self.folder)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                # A process that has just opened the folder may have removed it before the lock.
                is_there = os.fstat(handle).st_nlink > 0
            except OSError:
                os.close(handle)
                raise
            if is_there:
                return handle, Path(name)
            os.close(handle)


def _remove_if_left(path: Path) -> None:
    # It may be in use, or have just been removed, or belong to another user.
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(handle)
