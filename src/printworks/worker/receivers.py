"""Which receivers of callbacks are slow, as observed by this worker."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from printworks.rules.jobs import RetryLater

# How many callbacks one worker sends to one host at the same time: one per connection.
MOST_TO_HOST: Final = 32
# How long to wait for a host that has as many as it may.
BUSY_WAIT: Final = timedelta(seconds=2)
# A receiver that takes longer is slow, until it has answered faster again.
SECONDS_TO_ANSWER: Final = 1.0


class Receivers:
    """Remembers which receivers are slow, in this process only."""

    def __init__(self) -> None:
        self._slow: set[int] = set()
        self._busy: Counter[tuple[str, int | None]] = Counter()

    def is_slow(self, merchant_id: int) -> bool:
        """Whether the receiver of a merchant was slow last time, or is slow now."""
        return merchant_id in self._slow

    @contextmanager
    def slot(self, merchant_id: int, url: str) -> Iterator[None]:
        """Take one of a host's slots; raise `RetryLater` while all are taken."""
        address = urlsplit(url)
        host = (address.hostname or "", address.port)
        if self._busy[host] >= MOST_TO_HOST:
            raise RetryLater(
                f"{MOST_TO_HOST} callbacks to {host[0]} are under way.", wait=BUSY_WAIT
            )
        self._busy[host] += 1
        loop = asyncio.get_running_loop()
        began = loop.time()
        # After that time, and not when it has answered: others wait for their first attempt.
        timer = loop.call_later(SECONDS_TO_ANSWER, self._slow.add, merchant_id)
        try:
            yield
        finally:
            timer.cancel()
            self._busy[host] -= 1
            if not self._busy[host]:
                del self._busy[host]
            if loop.time() - began < SECONDS_TO_ANSWER:
                self._slow.discard(merchant_id)
