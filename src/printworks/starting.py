"""How a program starts quickly."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
