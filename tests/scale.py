"""How large the largest tests are: a part of it in every run, all of it with `make test-full`."""

import os
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

# Everything on every database and in every version, and the largest tests at their full size.
IS_FULL: Final = os.environ.get("FULL_TESTS") == "1"
# A first answer in two minutes: the first case of each test, on one database.
IS_QUICK: Final = os.environ.get("QUICK_TESTS") == "1"


def scaled(whole: int, *, part: int = 8) -> int:
    """Return a part of a large number, unless everything is asked for."""
    return whole if IS_FULL else whole // part


def some_of(every: Sequence[T], *, part: int = 4) -> Sequence[T]:
    """Return every fourth or so of these, unless everything is asked for."""
    return every if IS_FULL else every[::part]
