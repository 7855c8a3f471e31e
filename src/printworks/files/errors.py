"""Why a file could not be stored or found, in one tree.

FilesError
├── FileMissing       no file has this key
└── FilesUnavailable  the store cannot be reached or used, or is full: retry

The text is a sentence for the operator. Nothing else is raised, except `ValueError` for a key
that is not valid.
"""

import errno
from typing import Final


class FilesError(Exception):
    """The file store failed; the text says why."""


class FileMissing(FilesError):
    """No file has this key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no file `{key}`.")
        self.key = key


class FilesUnavailable(FilesError):
    """The store cannot be reached or used, or is full; a retry may succeed."""


_ADVICE: Final = {
    errno.ENOSPC: "The disk of {place} is full; make room.",
    errno.EDQUOT: "The disk quota for {place} is used up; raise it or make room.",
    errno.EACCES: "{place} must belong to the user that runs the service: {error}.",
    errno.EPERM: "{place} must belong to the user that runs the service: {error}.",
    errno.EROFS: "{place} is read-only; mount it for writing, or let the unit of systemd write there.",
}


def explain(error: OSError, place: str) -> FilesUnavailable:
    """Explain an error of the operating system in a sentence for the operator."""
    sentence = _ADVICE.get(error.errno or 0, "{place} cannot be used: {error}.")
    return FilesUnavailable(sentence.format(place=place, error=error))
