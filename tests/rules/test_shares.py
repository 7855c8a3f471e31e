"""A bucket grants its burst at once and its rate in the long run, and nothing can jam it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.shares import (
    BYTES_OF_ANSWER,
    BYTES_OF_BODY,
    REFUSALS_A_SECOND,
    REFUSALS_AT_ONCE,
    SECONDS_HELD,
    RequestShare,
    ShareTerms,
    charge,
    count_more,
    describe_share,
    give_back,
    hold_refusal,
    take,
)

USUAL = RequestShare(per_second=50, burst=200, in_work=8, waiting=256)
NOW = 1_800_000_000.0


def send(share: RequestShare, times: list[float], full_at: float = 0.0) -> list[bool]:
    """Send a request at each time; return which were granted."""
    granted = []
    for now in times:
        taken = take(share, full_at, now)
        full_at = taken.full_at
        granted.append(not taken.wait)
    return granted


def test_a_burst_is_granted_at_once_and_no_more() -> None:
    assert send(USUAL, [NOW] * 300) == [True] * 200 + [False] * 100


def test_in_the_long_run_the_rate_is_granted() -> None:
    # A hundred a second for a minute.
    granted = send(USUAL, [NOW + number / 100 for number in range(6_000)])

    assert sum(granted) == pytest.approx(200 + 50 * 60, abs=2)


def test_whoever_keeps_to_the_rate_is_never_refused() -> None:
    assert all(send(USUAL, [NOW + number / 50 for number in range(1_000)]))


def test_who_is_refused_hears_when_there_is_room_again() -> None:
    full_at = 0.0
    for _ in range(200):
        full_at = take(USUAL, full_at, NOW).full_at

    refused = take(USUAL, full_at, NOW)

    assert refused.wait == pytest.approx(0.02, abs=0.001)
    assert refused.remaining == 0
    assert not take(USUAL, refused.full_at, NOW + refused.wait).wait


def test_the_headers_say_what_there_is_and_what_is_left() -> None:
    taken = take(USUAL, 0.0, NOW)

    assert USUAL.policy == b'"requests";q=200;w=4'
    assert taken.limit == b'"requests";r=199;t=1'


def test_what_is_given_back_can_be_taken_again() -> None:
    one = RequestShare(per_second=1, burst=1, in_work=1, waiting=1)
    taken = take(one, 0.0, NOW)

    assert take(one, taken.full_at, NOW).wait
    assert not take(one, give_back(one, taken.full_at), NOW).wait


@given(full_at=st.floats(allow_nan=True, allow_infinity=True))
def test_whatever_is_in_a_counter_a_client_never_waits_longer_than_a_bucket_takes_to_fill(
    full_at: float,
) -> None:
    """The file may be damaged, and the clock may be set."""
    taken = take(USUAL, full_at, NOW)

    assert 0 <= taken.wait <= USUAL.seconds_to_fill + 1.1
    assert 0 <= taken.remaining < 200


def test_a_machine_grants_its_part_and_a_process_works_on_its_part() -> None:
    part = USUAL.divided_by(machines=4, processes=3)

    assert part == RequestShare(per_second=12.5, burst=50, in_work=3, waiting=86)
    assert RequestShare(1, 1, 1, 1).divided_by(machines=4, processes=3).burst == 1


@pytest.mark.parametrize(
    ("terms", "share"),
    [
        (ShareTerms(), USUAL),
        (ShareTerms(per_second=500), RequestShare(500, 2_000, 8, 256)),
        (ShareTerms(per_second=5), RequestShare(5, 200, 8, 256)),
        (ShareTerms(burst=10), RequestShare(50, 10, 8, 256)),
        (ShareTerms(500, 600, 32), RequestShare(500, 600, 32, 256)),
    ],
)
def test_a_merchants_own_limits_take_the_place_of_the_usual_ones(
    terms: ShareTerms, share: RequestShare
) -> None:
    assert terms.apply_to(USUAL) == share


def test_a_share_is_described_for_people() -> None:
    assert describe_share(USUAL) == "50 requests a second, 200 in a burst"
    assert describe_share(USUAL.divided_by(4, 1)) == "12.5 requests a second, 50 in a burst"


def refuse(times: list[float], chance: float = 0) -> list[float]:
    """Refuse a request at each time; return how long each refusal is held."""
    held, caught_up_at = [], 0.0
    for now in times:
        caught_up_at, seconds = hold_refusal(caught_up_at, now, chance)
        held.append(seconds)
    return held


def test_a_few_refusals_are_heard_at_once() -> None:
    assert refuse([NOW] * REFUSALS_AT_ONCE) == pytest.approx([0.0] * REFUSALS_AT_ONCE, abs=1e-6)


@pytest.mark.parametrize("chance", [0, 0.9])
def test_whoever_sends_again_as_soon_as_it_was_refused_is_slowed_down(chance: float) -> None:
    now, caught_up_at, count = NOW, 0.0, 0
    while now < NOW + 60:
        caught_up_at, seconds = hold_refusal(caught_up_at, now, chance)
        now += seconds + 0.001
        count += 1

    assert count == pytest.approx(REFUSALS_AT_ONCE + 60 * REFUSALS_A_SECOND, abs=2)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=200), st.floats(0, 1))
def test_no_refusal_is_held_for_longer_than_told(waits: list[float], chance: float) -> None:
    times = [NOW + sum(waits[:number]) for number in range(len(waits))]

    assert all(0 <= seconds <= SECONDS_HELD + 1e-6 for seconds in refuse(times, chance))


def test_those_that_come_together_do_not_come_back_together() -> None:
    crowd = [NOW] * 1000

    assert refuse(crowd)[-1] == pytest.approx(SECONDS_HELD)
    assert refuse(crowd, chance=1)[-1] == pytest.approx(SECONDS_HELD / 2)


def test_whoever_waits_is_heard_at_once_again() -> None:
    late = NOW + REFUSALS_AT_ONCE / REFUSALS_A_SECOND + SECONDS_HELD

    assert refuse([NOW] * 500 + [late + 1])[-1] == 0


@pytest.mark.parametrize(
    ("answer", "body", "more"),
    [
        (0, 0, 0),
        (BYTES_OF_ANSWER, BYTES_OF_BODY, 0),
        (BYTES_OF_ANSWER + 1, 0, 1),
        (0, BYTES_OF_BODY + 1, 1),
        (10**6, 10**5, 30 + 24),
    ],
)
def test_what_is_large_counts_as_several_requests(answer: int, body: int, more: int) -> None:
    assert count_more(answer, body) == more


def test_what_is_charged_later_is_missing_from_the_bucket() -> None:
    taken = charge(USUAL, take(USUAL, 0.0, NOW).full_at, NOW, 9)

    assert taken.remaining == 190
    assert send(USUAL, [NOW] * 200, taken.full_at) == [True] * 190 + [False] * 10


@given(st.floats(-1e3, 1e3), st.integers(0, 10**9))
def test_nobody_owes_more_than_a_bucket(ahead: float, requests: int) -> None:
    taken = charge(USUAL, NOW + ahead, NOW, requests)

    assert 0 <= taken.remaining <= USUAL.burst
    assert take(USUAL, taken.full_at, NOW).wait <= 1 / USUAL.per_second + 1e-6
