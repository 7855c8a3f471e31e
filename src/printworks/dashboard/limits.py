"""How often one may ask: a bucket of tokens for each key, filled again as time passes."""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final, NamedTuple

# So many keys are remembered; the one that asked longest ago is forgotten first.
MOST_KEYS: Final = 10_000


class _Bucket(NamedTuple):
    tokens: float
    at: datetime


class RateLimiter:
    """Lets each key do something `burst` times at once, and once `every` so often after that.

    Each process counts for itself. Safe to use from many threads.
    """

    def __init__(self, *, burst: int, every: timedelta, most_keys: int = MOST_KEYS) -> None:
        self._burst = burst
        self._every = every
        self._most_keys = most_keys
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str, *, now: datetime) -> timedelta | None:
        """Take a token and return None; if there is none left, return the wait for the next."""
        with self._lock:
            tokens = self._count(key, now)
            is_allowed = tokens >= 1
            self._buckets[key] = _Bucket(tokens - is_allowed, now)
            self._buckets.move_to_end(key)
            if len(self._buckets) > self._most_keys:
                self._buckets.popitem(last=False)
        return None if is_allowed else (1 - tokens) * self._every

    def _count(self, key: str, now: datetime) -> float:
        bucket = self._buckets.get(key)
        if bucket is None:
            return float(self._burst)
        # A clock that was set back takes nothing away.
        passed = max(now - bucket.at, timedelta())
        return min(bucket.tokens + passed / self._every, self._burst)
