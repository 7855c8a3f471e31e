"""Writes files and folders for a lab so that they stay, also on a share that can do less."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from printworks.labs.connector import LabUnavailable
from printworks.labs.documents import JobFile

_COPY_BLOCK: Final = 1_000_000
# Some shares know no locks and cannot sync a folder.
_CANNOT: Final = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})


def copy_checked(source: Path, target: Path, expected: JobFile) -> None:
    """Copy a file; refuse one that is not what was expected."""
    if not target.parent.exists():
        make_folders(target.parent)
    digest = hashlib.sha256()
    with source.open("rb") as reading, target.open("xb") as writing:
        while block := reading.read(_COPY_BLOCK):
            digest.update(block)
            writing.write(block)
        writing.flush()
        flush(writing.fileno())
    _open_to_group(target, 0o060)
    if digest.hexdigest() != expected.sha256:
        message = f"The file {expected.name} is not the one that was approved; it is kept back."
        raise LabUnavailable(message)


def write_file(target: Path, content: bytes) -> None:
    """Write a new file."""
    with target.open("xb") as file:
        file.write(content)
        file.flush()
        flush(file.fileno())
    _open_to_group(target, 0o060)


def make_folders(path: Path) -> None:
    """Make a folder and those that lead to it."""
    if not path.parent.exists():
        make_folders(path.parent)
    make_folder(path)


def make_folder(path: Path) -> None:
    """Make a folder, unless somebody else has."""
    # Another process may make it at the same time.
    path.mkdir(mode=0o770, exist_ok=True)
    _open_to_group(path, 0o070)


def _open_to_group(path: Path, bits: int) -> None:
    # The lab must be able to read and move what we write, whatever our umask; nobody else may,
    # for there are faces and addresses in it. Shares with rights of their own refuse this.
    with suppress(PermissionError):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o007 | bits)


def sync(folder: Path) -> None:
    """Let what a folder lists survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        flush(handle)
    finally:
        os.close(handle)


def flush(handle: int) -> None:
    """Let what was written to an open file survive a power cut."""
    with tolerating():
        os.fsync(handle)


@contextmanager
def tolerating() -> Iterator[None]:
    """Let pass what some shares cannot do."""
    try:
        yield
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
