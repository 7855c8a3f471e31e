"""Checks that the file store works, by storing a file."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from printworks.files.store import Files

_KEY: Final = "doctor/probe.txt"
_CONTENT: Final = b"Can this be read?"


def gives_back(files: Files) -> bool:
    """Store a file, read it and delete it; return whether the content was the same."""
    with NamedTemporaryFile() as probe:
        probe.write(_CONTENT)
        probe.flush()
        files.put(_KEY, Path(probe.name))
    received = files.read(_KEY)
    files.delete(_KEY)
    return received == _CONTENT
