"""Why a file could not be kept or found, in one tree.

FilesError
├── FileMissing       nothing is kept under this key
└── FilesUnavailable  the store is away, full or closed to us: worth another try

The text is a sentence for the operator. Nothing else is raised, except `ValueError` for a key
that no store takes.
"""

import errno
from typing import Final


class FilesError(Exception):
    """The store of files did not do what was asked; the text says why."""


class FileMissing(FilesError):
    """Nothing is kept under this key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no file `{key}`.")
        self.key = key


class FilesUnavailable(FilesError):
    """The store is away, full or closed to us; later it may not be."""


_ADVICE: Final = {
    errno.ENOSPC: "The disk of {place} is full; make room.",
    errno.EDQUOT: "The disk quota for {place} is used up; raise it or make room.",
    errno.EACCES: "{place} must belong to the user that runs the service: {error}.",
    errno.EPERM: "{place} must belong to the user that runs the service: {error}.",
    errno.EROFS: "The disk of {place} is read-only; mount it for writing.",
}


def explain(error: OSError, place: str) -> FilesUnavailable:
    """Say in a sentence what the operating system refused to do in this place."""
    sentence = _ADVICE.get(error.errno or 0, "{place} cannot be used: {error}.")
    return FilesUnavailable(sentence.format(place=place, error=error))
