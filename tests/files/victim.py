"""A process that puts an old and a new picture in turn, until it is killed."""

import os
import sys
from itertools import cycle
from pathlib import Path

from printworks.files import open_files
from printworks.settings import Settings
from tests.files.samples import KEY


def main(data: Path, *sources: Path) -> None:
    """Say what is about to be put, and put it; for ever."""
    files = open_files(Settings.load(data, os.environ))
    for source in cycle(sources):
        sys.stdout.write(f"{source.name}\n")
        sys.stdout.flush()
        files.put(KEY, source)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
