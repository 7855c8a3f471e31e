"""Which receivers of callbacks take long, as far as this worker has seen."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from printworks.rules.jobs import RetryLater

# What one receiver gets at the same time by one worker: as many as there are connections to it.
MOST_TO_HOST: Final = 32
# How long to leave a receiver alone that has as many as it may.
BUSY: Final = timedelta(seconds=2)
# A receiver that needs longer is slow, until it has been quick again.
SECONDS_TO_ANSWER: Final = 1.0


class Receivers:
    """Remembers who was slow; what it forgets with its process, the next one learns again."""

    def __init__(self) -> None:
        self._slow: set[int] = set()
        self._busy: Counter[tuple[str, int | None]] = Counter()

    def is_slow(self, merchant_id: int) -> bool:
        """Say whether the receiver of a merchant took long last, or does so just now."""
        return merchant_id in self._slow

    @contextmanager
    def turn(self, merchant_id: int, url: str) -> Iterator[None]:
        """Take a turn at a receiver; raise `RetryLater` while it has as many as it may."""
        address = urlsplit(url)
        host = (address.hostname or "", address.port)
        if self._busy[host] >= MOST_TO_HOST:
            raise RetryLater(f"{MOST_TO_HOST} callbacks to {host[0]} are under way.", wait=BUSY)
        self._busy[host] += 1
        loop = asyncio.get_running_loop()
        began = loop.time()
        # At once, and not when it has answered: others may be waiting for their first try.
        noting = loop.call_later(SECONDS_TO_ANSWER, self._slow.add, merchant_id)
        try:
            yield
        finally:
            noting.cancel()
            self._busy[host] -= 1
            if not self._busy[host]:
                del self._busy[host]
            if loop.time() - began < SECONDS_TO_ANSWER:
                self._slow.discard(merchant_id)
