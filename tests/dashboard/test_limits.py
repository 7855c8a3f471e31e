"""The rate limiter lets through what it promises, and remembers no more than it promises."""

from datetime import timedelta

import pytest

from printworks.dashboard.site.limits import RateLimiter
from tests.factories import NOON

SECOND = timedelta(seconds=1)


@pytest.fixture
def limiter() -> RateLimiter:
    """Three at once, and one each ten seconds after that."""
    return RateLimiter(burst=3, every=10 * SECOND, most_keys=2)


def empty(limiter: RateLimiter, key: str) -> None:
    """Take all that there is at noon."""
    while limiter.take(key, now=NOON) is None:
        pass


def test_a_burst_is_let_through_and_the_next_must_wait(limiter: RateLimiter) -> None:
    waits = [limiter.take("page", now=NOON) for _ in range(4)]

    assert waits == [None, None, None, 10 * SECOND]


def test_one_more_is_let_through_after_the_wait(limiter: RateLimiter) -> None:
    empty(limiter, "page")

    assert limiter.take("page", now=NOON + 4 * SECOND) == 6 * SECOND
    assert limiter.take("page", now=NOON + 10 * SECOND) is None
    assert limiter.take("page", now=NOON + 10 * SECOND) == 10 * SECOND


def test_no_more_than_a_burst_is_saved_up(limiter: RateLimiter) -> None:
    empty(limiter, "page")

    later = NOON + timedelta(days=1)
    waits = [limiter.take("page", now=later) for _ in range(4)]

    assert waits == [None, None, None, 10 * SECOND]


def test_keys_do_not_pay_for_each_other(limiter: RateLimiter) -> None:
    empty(limiter, "page")

    assert limiter.take("another", now=NOON) is None


def test_the_key_that_asked_longest_ago_is_forgotten_first(limiter: RateLimiter) -> None:
    empty(limiter, "old")
    empty(limiter, "kept")

    limiter.take("new", now=NOON)

    assert limiter.take("kept", now=NOON) is not None
    assert limiter.take("old", now=NOON) is None


def test_a_clock_that_was_set_back_takes_nothing_away(limiter: RateLimiter) -> None:
    limiter.take("page", now=NOON)

    assert limiter.take("page", now=NOON - timedelta(hours=1)) is None
    assert limiter.take("page", now=NOON - timedelta(hours=1)) is None
