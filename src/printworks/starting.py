"""How a program starts quickly."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
