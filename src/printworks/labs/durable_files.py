"""Writes files and folders for a lab durably, also on network shares with fewer features."""

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
# Some shares have no locks and cannot sync a folder.
_UNSUPPORTED: Final = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})


def copy_checked(source: Path, target: Path, expected: JobFile) -> None:
    """Copy a file; raise `LabUnavailable` if its hash is not the expected one."""
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
        message = f"The file {expected.name} is not the one that was approved; it was not sent."
        raise LabUnavailable(message)


def write_file(target: Path, content: bytes) -> None:
    with target.open("xb") as file:
        file.write(content)
        file.flush()
        flush(file.fileno())
    _open_to_group(target, 0o060)


def make_folders(path: Path) -> None:
    if not path.parent.exists():
        make_folders(path.parent)
    make_folder(path)


def make_folder(path: Path) -> None:
    """Create a folder, unless another process has done so."""
    path.mkdir(mode=0o770, exist_ok=True)
    _open_to_group(path, 0o070)


def _open_to_group(path: Path, bits: int) -> None:
    # The lab must be able to read and move what we write, whatever our umask; others must not:
    # it is personal data. Shares with their own access rights refuse this.
    with suppress(PermissionError):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o007 | bits)


def sync(folder: Path) -> None:
    """Make the entries of a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        flush(handle)
    finally:
        os.close(handle)


def flush(handle: int) -> None:
    """Make what was written to an open file survive a power cut."""
    with tolerating():
        os.fsync(handle)


@contextmanager
def tolerating() -> Iterator[None]:
    """Ignore errors about features that some shares lack."""
    try:
        yield
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
