"""Who may owe how much, and when a payment is checked again."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.payments import (
    LEAST_CHARGE,
    find_free_balance,
    may_owe,
    share_balance,
    wait_for_payer,
    wait_for_provider,
)

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("waited", "left", "is_clock_moving", "expected"),
    [
        (2 * MINUTE, 24 * HOUR, False, 15 * MINUTE),
        (HOUR, 23 * HOUR, False, HOUR),
        (16 * HOUR, 8 * HOUR, False, 8 * HOUR),
        (2 * MINUTE, MINUTE, False, MINUTE),
        (2 * MINUTE, 24 * HOUR, True, 24 * HOUR),
    ],
)
def test_a_payment_that_only_waits_is_checked_ever_more_rarely(
    waited: timedelta, left: timedelta, is_clock_moving: bool, expected: timedelta
) -> None:
    assert wait_for_payer(waited, left, is_clock_moving=is_clock_moving) == expected


@pytest.mark.parametrize(
    ("waited", "left", "expected"),
    [
        (timedelta(0), 24 * HOUR, MINUTE),
        (5 * MINUTE, 24 * HOUR, 5 * MINUTE),
        (5 * HOUR, 19 * HOUR, HOUR),
        (23 * HOUR + 30 * MINUTE, 30 * MINUTE, 30 * MINUTE),
        (24 * HOUR, timedelta(0), HOUR),
        (48 * HOUR, -24 * HOUR, HOUR),
    ],
)
def test_a_silent_provider_is_asked_ever_more_rarely_and_when_the_payment_ends(
    waited: timedelta, left: timedelta, expected: timedelta
) -> None:
    assert wait_for_provider(waited, left) == expected


@pytest.mark.parametrize(
    ("added", "owed", "limit", "on_account", "expected"),
    [
        (100, 0, None, True, True),
        (100, 900, None, True, True),
        (100, 900, 1000, True, True),
        (101, 900, 1000, True, False),
        (100, 900, 1000, False, True),
        (101, 900, 1000, False, False),
        (0, 1001, 1000, False, False),
        (100, 0, None, False, True),
        (100, -50, None, False, True),
        (100, 1, None, False, False),
        (0, 1, None, False, True),
    ],
)
def test_nobody_owes_beyond_a_limit_and_who_has_a_card_owes_for_one_order(
    added: int, owed: int, limit: int | None, on_account: bool, expected: bool
) -> None:
    assert may_owe(added, owed=owed, limit=limit, on_account=on_account) is expected


AMOUNT = st.integers(0, 5000)


@given(total=st.integers(1, 5000), free=AMOUNT)
def test_a_balance_pays_what_it_can_and_leaves_nothing_or_enough_for_a_card(
    total: int, free: int
) -> None:
    paid = share_balance(total, free)
    rest = total - paid

    assert 0 <= paid <= min(total, free)
    assert rest == 0 or rest >= min(LEAST_CHARGE, total)
    # As much as possible.
    assert rest in {0, LEAST_CHARGE, total} or paid == free


@given(balance=st.integers(-5000, 5000), claimed=AMOUNT)
def test_what_is_claimed_is_not_free(balance: int, claimed: int) -> None:
    free = find_free_balance(balance, claimed)

    assert free >= 0
    assert free == 0 or free + claimed == -balance
