"""Which hosts are slow."""

from datetime import timedelta

import pytest

from printworks.rules.hosts import CALLBACKS, DOWNLOADS, HostLimits, is_slow

RATE = 256 * 1024


@pytest.mark.parametrize(
    ("limits", "seconds", "received", "expected"),
    [
        (DOWNLOADS, 1.9, 0, False),
        (DOWNLOADS, 2, 0, True),
        (DOWNLOADS, 2, 2 * RATE - 1, True),
        (DOWNLOADS, 2, 2 * RATE, False),
        (DOWNLOADS, 60, 2 * RATE, True),
        (CALLBACKS, 0.9, 0, False),
        (CALLBACKS, 1, 10 * RATE, True),
    ],
)
def test_a_host_is_slow_that_takes_long_and_has_sent_little(
    limits: HostLimits, seconds: float, received: int, expected: bool
) -> None:
    assert is_slow(limits, timedelta(seconds=seconds), received) is expected
