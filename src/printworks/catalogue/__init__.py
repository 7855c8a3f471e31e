"""What is sold: products, labs and shipping, read from a folder of TOML files."""

from functools import cache
from pathlib import Path

from printworks.catalogue.snapshot import DEFAULT_FOLDER, Catalogue


@cache
def open_catalogue(folder: Path | None) -> Catalogue:
    """Return the catalogue in a folder, or the one that is built in; read once by a process."""
    return Catalogue.load(folder or DEFAULT_FOLDER)
