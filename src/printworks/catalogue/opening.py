"""Opens the catalogue that the settings name, once in a process."""

from functools import cache
from pathlib import Path

from printworks.catalogue.snapshot import DEFAULT_FOLDER, Catalogue


@cache
def open_catalogue(folder: Path | None) -> Catalogue:
    """Return the catalogue in a folder, or the one that is built in; read once by a process."""
    return Catalogue.load(folder or DEFAULT_FOLDER)
