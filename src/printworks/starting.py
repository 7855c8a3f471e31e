"""How a process starts quickly, and gives way to others."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

# How Linux shares the processors among sessions.
_OF_SESSION: Final = Path("/proc/self/autogroup")


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for no garbage in what the block imports or reads: all of it stays until the end.

    Searching it again and again takes a sixth of a start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def keep_for_good() -> None:
    """Never look for garbage in what there is now, which stays until the end.

    Each search stops all threads: a worker that has imported everything, for 0.09 s.
    """
    gc.freeze()


@contextmanager
def doing_without(name: str) -> Iterator[None]:
    """Keep a package from libraries that import it in the block wherever it is installed."""
    modules: dict[str, Any] = sys.modules
    if name in modules:
        yield
        return
    # To an import, this says that there is no such package.
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]


def give_way(niceness: int) -> None:
    """Let others have the processors first, from a process that leads a session of its own."""
    os.nice(niceness)
    # Where the processors are shared among sessions first, the other counts only within this one.
    if _OF_SESSION.exists():
        with suppress(OSError):
            _OF_SESSION.write_text(str(niceness))
