"""What every store of files promises, and which keys it takes."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

_SEGMENT: Final = r"[a-z0-9][a-z0-9.-]*"
_KEY: Final = re.compile(rf"{_SEGMENT}(/{_SEGMENT})+")
_PREFIX: Final = re.compile(rf"({_SEGMENT}(/{_SEGMENT})*)?")
_LONGEST: Final = 200


class Files(Protocol):
    """Pictures by key, such as `proofs/42/preview.jpg`; safe to use from many threads.

    Every method raises `FilesUnavailable` if the store is away, full or closed to us, and
    `ValueError` for a key that `is_key` refuses.
    """

    def put(self, key: str, source: Path) -> None:
        """Keep a copy of a local file; once this returns, it survives a power cut.

        Whoever reads sees the old or the new file whole. Putting twice is harmless.
        """

    def read(self, key: str) -> bytes:
        """Return the whole content of a small file; raise `FileMissing`."""

    def local(self, key: str) -> AbstractContextManager[Path]:
        """Give a path to read the file from while the block lasts; raise `FileMissing`.

        The file is not the caller's: neither change nor move it.
        """

    def delete(self, key: str) -> None:
        """Forget a file; harmless if it is gone already."""

    def keys(self, prefix: str = "") -> Iterator[str]:
        """List the keys below a prefix of whole segments (`proofs/42`), in no order.

        A file that comes or goes meanwhile may be listed or not. However many there are, only
        a few thousand names are in memory.
        """


def is_key(text: str) -> bool:
    """Say whether a store takes this key.

    It is two or more segments with slashes between them, each of lower-case letters, digits,
    hyphens and dots that begins with a letter or digit, and has at most 200 characters.
    """
    return len(text) <= _LONGEST and _KEY.fullmatch(text) is not None


def check_key(key: str) -> None:
    """Refuse what is no key."""
    if not is_key(key):
        message = f"{key!r} is no key such as `proofs/42/preview.jpg`."
        raise ValueError(message)


def check_prefix(prefix: str) -> None:
    """Refuse what no key can begin with."""
    if not _PREFIX.fullmatch(prefix):
        message = f"{prefix!r} is no prefix such as `proofs/42`."
        raise ValueError(message)
