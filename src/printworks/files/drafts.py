"""Files in the making, which do not outlive the process that makes them."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Drafts:
    """A folder of temporary files. What a killed process left there goes when it is opened.

    Each file is locked by its maker, and the kernel ends the lock with the process: this tells
    a leftover from the file of another process that is still at it, whatever the clocks say.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in folder.iterdir():
            _remove_if_left(path)

    @contextmanager
    def new(self) -> Iterator[Path]:
        """Give an empty file that is gone when the block ends, unless it was moved away."""
        handle, path = self._make()
        try:
            yield path
        finally:
            # If this fails, the next one to open the folder does it.
            with suppress(OSError):
                path.unlink(missing_ok=True)
            os.close(handle)

    def _make(self) -> tuple[int, Path]:
        while True:
            handle, name = tempfile.mkstemp(dir=self.folder)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                # Somebody who opened the folder just now may have found it before the lock.
                is_there = os.fstat(handle).st_nlink > 0
            except OSError:
                os.close(handle)
                raise
            if is_there:
                return handle, Path(name)
            os.close(handle)


def _remove_if_left(path: Path) -> None:
    # Its maker may be at it or finish just now, and what belongs to another user is not ours.
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(handle)
