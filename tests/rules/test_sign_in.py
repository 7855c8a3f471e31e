"""How often somebody may try."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.people import FREE_FAILURES
from printworks.rules.sign_in import (
    FORGOTTEN_AFTER,
    OF_A_NETWORK,
    Tries,
    count_in_a_row,
    count_within,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_five_tries_are_free_and_the_sixth_waits() -> None:
    tries = Tries(0, NOW)
    for number in range(1, FREE_FAILURES + 2):
        counted = count_in_a_row(tries, now=NOW)
        assert counted == Tries(number, NOW)
        assert isinstance(counted, Tries)
        tries = counted
    assert count_in_a_row(tries, now=NOW) == timedelta(seconds=15)
    assert count_in_a_row(tries, now=NOW + timedelta(seconds=15)) == Tries(
        6, NOW + timedelta(seconds=15)
    )


def test_tries_are_forgotten_after_a_day_without_any() -> None:
    assert count_in_a_row(Tries(40, NOW), now=NOW + FORGOTTEN_AFTER) == Tries(
        1, NOW + FORGOTTEN_AFTER
    )


def test_a_clock_that_was_set_back_makes_nobody_wait_longer() -> None:
    assert count_in_a_row(Tries(5, NOW), now=NOW - timedelta(hours=1)) == timedelta(seconds=15)
    full = Tries(OF_A_NETWORK.together, NOW)
    assert count_within(OF_A_NETWORK, full, now=NOW - timedelta(hours=1)) == OF_A_NETWORK.every


def test_a_network_tries_twenty_times_and_once_more_every_five_seconds() -> None:
    tries = Tries(0, NOW)
    for _ in range(20):
        counted = count_within(OF_A_NETWORK, tries, now=NOW)
        assert isinstance(counted, Tries)
        tries = counted

    assert count_within(OF_A_NETWORK, tries, now=NOW) == timedelta(seconds=5)
    assert count_within(OF_A_NETWORK, tries, now=NOW + timedelta(seconds=3)) == timedelta(seconds=2)
    assert count_within(OF_A_NETWORK, tries, now=NOW + timedelta(seconds=5)) == Tries(
        20, NOW + timedelta(seconds=5)
    )
    assert count_within(OF_A_NETWORK, tries, now=NOW + timedelta(hours=1)) == Tries(
        1, NOW + timedelta(hours=1)
    )


@given(st.lists(st.integers(0, 60), max_size=200))
def test_no_rhythm_gets_more_tries_than_are_allowed(pauses: list[int]) -> None:
    tries, now, allowed = Tries(0, NOW), NOW, 0
    for pause in pauses:
        now += timedelta(seconds=pause)
        counted = count_within(OF_A_NETWORK, tries, now=now)
        if isinstance(counted, Tries):
            tries, allowed = counted, allowed + 1
        else:
            assert timedelta() < counted <= OF_A_NETWORK.every
    assert allowed <= OF_A_NETWORK.together + (now - NOW) // OF_A_NETWORK.every
