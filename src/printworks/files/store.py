"""The protocol of every file store, and which keys are valid."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

_SEGMENT: Final = r"[a-z0-9][a-z0-9.-]*"
_KEY: Final = re.compile(rf"{_SEGMENT}(/{_SEGMENT})+")
_PREFIX: Final = re.compile(rf"({_SEGMENT}(/{_SEGMENT})*)?")
_LONGEST: Final = 200


class FileFacts(NamedTuple):
    """What a store knows of a file without reading it."""

    size: int
    # Changes whenever the file is written again.
    mark: str


class Files(Protocol):
    """Pictures by key, such as `proofs/42/preview.jpg`; safe to use from many threads.

    Every method raises `FilesUnavailable` if the store cannot be reached or used, or is full, and
    `ValueError` for a key that is not valid.
    """

    def put(self, key: str, source: Path) -> None:
        """Store a copy of a local file; once this returns, it survives a power cut.

        Readers see either the old or the new file. Idempotent.
        """

    def read(self, key: str) -> bytes:
        """Return the whole content of a small file; raise `FileMissing`."""

    def local(self, key: str) -> AbstractContextManager[Path]:
        """Yield a path to read the file from during the block; raise `FileMissing`.

        Do not change or move the file.
        """

    def look(self, key: str) -> FileFacts:
        """Return the size and the mark of a file; raise `FileMissing`."""

    def delete(self, key: str) -> None:
        """Delete a file. Idempotent."""

    def keys(self, prefix: str = "") -> Iterator[str]:
        """List the keys below a prefix of whole segments (`proofs/42`), in no order.

        A file that is added or deleted meanwhile may be listed or not. Only a few thousand
        names are in memory at once.
        """


def is_key(text: str) -> bool:
    """Return whether a key is valid.

    It has two or more segments with slashes between them, each of lower-case letters, digits,
    hyphens and dots, starting with a letter or digit, and at most 200 characters.
    """
    return len(text) <= _LONGEST and _KEY.fullmatch(text) is not None


def check_key(key: str) -> None:
    """Raise `ValueError` if a key is not valid."""
    if not is_key(key):
        raise ValueError(f"{key!r} is not a key such as `proofs/42/preview.jpg`.")


def check_prefix(prefix: str) -> None:
    """Raise `ValueError` if no key can start like this."""
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"{prefix!r} is not a prefix such as `proofs/42`.")
