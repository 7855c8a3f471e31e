"""Counts the files that are arriving, by merchant: nobody fills the disk with half of them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from printworks.errors import TooManyUploads


class OpenUploads:
    """The uploads of one web process; use it from one event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[int] = Counter()

    @contextmanager
    def hold(self, merchant_id: int) -> Iterator[None]:
        """Count an upload during the block; refuse one too many."""
        if self._open[merchant_id] >= self._most:
            raise TooManyUploads(
                f"As many files of this account are arriving as may at once ({self._most}); send this "
                "one again when one of them is complete."
            )
        self._open[merchant_id] += 1
        try:
            yield
        finally:
            self._open[merchant_id] -= 1
            if not self._open[merchant_id]:
                del self._open[merchant_id]
