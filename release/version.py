"""The version of the program, which is in one place only."""

import re
from pathlib import Path
from typing import Final

VERSION: Final = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)


class NotReleasable(Exception):
    """Version, changelog and tag contradict each other; the message says how."""


def read_version(source: Path) -> str:
    """Return the version, which is in one place only."""
    found = VERSION.search((source / "src" / "printworks" / "__init__.py").read_text())
    if found is None:
        raise NotReleasable("src/printworks/__init__.py has no line `__version__ = ...`.")
    return found["version"]
