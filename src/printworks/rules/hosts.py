"""How much is asked of one host at a time, and which hosts are slow."""

from datetime import timedelta
from typing import Final

import msgspec

# How long a host counts as slow after it was, unless it answers quickly before.
SLOW_FOR: Final = timedelta(minutes=10)
# A merchant with so many slow hosts is slow at every host.
MANY_SLOW_HOSTS: Final = 3
# How long to wait for a host that has as many requests as it may.
BUSY_WAIT: Final = timedelta(seconds=2)


class HostLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker asks of one host at the same time, and when the host is slow."""

    # What is asked, for sentences: “downloads from”.
    what: str
    most: int
    most_for_merchant: int
    # It is slow after this time, unless so many bytes a second have come.
    answers_within: timedelta
    least_rate: int | None = None


# No server is flooded, and a merchant with large files does not take a shared server from others.
DOWNLOADS: Final = HostLimits(
    what="downloads from",
    most=24,
    most_for_merchant=6,
    answers_within=timedelta(seconds=2),
    least_rate=256 * 1024,
)
CALLBACKS: Final = HostLimits(
    what="callbacks to", most=32, most_for_merchant=32, answers_within=timedelta(seconds=1)
)


def is_slow(limits: HostLimits, waited: timedelta, received: int) -> bool:
    """Say whether a host is slow that has sent so many bytes in this time and is not done."""
    if waited < limits.answers_within:
        return False
    return limits.least_rate is None or received < limits.least_rate * waited.total_seconds()
