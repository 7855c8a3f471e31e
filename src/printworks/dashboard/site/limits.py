"""Rate limits: a token bucket for each key."""

import math
import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Final, NamedTuple

# The owner of one IPv6 address has all of such a network.
_BITS_OF_ONE: Final = 64
# How many keys are remembered; the least recently used is dropped first.
MOST_KEYS: Final = 10_000


class _Bucket(NamedTuple):
    tokens: float
    at: datetime


class RateLimiter:
    """Allows each key `burst` uses together, and one more `every` so often.

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


def network_of(address: str) -> str:
    """Return what to count an address by: itself, or all that its owner could use instead."""
    try:
        read = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(read, IPv4Address):
        return str(read)
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(IPv6Network((read, _BITS_OF_ONE), strict=False))


def describe_wait(wait: timedelta) -> str:
    """Write a wait as people say it."""
    seconds = max(math.ceil(wait.total_seconds()), 1)
    if seconds < 90:
        return f"{seconds} seconds" if seconds > 1 else "a second"
    return f"{math.ceil(seconds / 60)} minutes"
