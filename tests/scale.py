"""How large the largest tests are: a part of it in every run, all of it with `make test-full`."""

import os
from typing import Final

# Everything on every database and in every version, and the largest tests at their full size.
IS_FULL: Final = os.environ.get("FULL_TESTS") == "1"
# A first answer in two minutes, on one database.
IS_QUICK: Final = os.environ.get("QUICK_TESTS") == "1"


def scaled(whole: int) -> int:
    """Return a quarter of a large number, unless everything is asked for."""
    return whole if IS_FULL else whole // 4
