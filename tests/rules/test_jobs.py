"""What each kind of job may cost, and what follows a failure."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.jobs import (
    HOURLY,
    MAY_CANCEL,
    MAY_RETRY,
    POLICIES,
    GiveUp,
    JobKind,
    JobState,
    PermanentFailure,
    Retry,
    RetryLater,
    decide,
    doubling,
    has_lease_ended,
    hourly_key,
)
from tests.worker.queues import a_policy

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("attempts", "error", "decision"),
    [
        (1, OSError("refused"), Retry(SECOND)),
        (2, OSError("refused"), Retry(2 * SECOND)),
        (3, TimeoutError(), Retry(3 * SECOND)),
        (4, OSError("refused"), GiveUp()),
        (5, OSError("refused"), GiveUp()),
        (1, PermanentFailure("no such order"), GiveUp()),
    ],
)
def test_a_failure_leads_to_a_retry_until_the_attempts_are_used_up(
    attempts: int, error: Exception, decision: Retry | GiveUp
) -> None:
    policy = a_policy(attempts=4, wait_after=lambda attempts: attempts * SECOND)

    assert decide(policy, attempts, error) == decision


def test_a_policy_may_give_up_before_its_attempts_are_used_up() -> None:
    policy = a_policy(attempts=4, wait_after=lambda _: None)

    assert decide(policy, 1, OSError()) == GiveUp()


def test_a_job_may_go_on_as_another_kind() -> None:
    error = RetryLater("slow", wait=SECOND, kind=JobKind.FETCH_SLOW_IMAGE)

    assert decide(a_policy(), 1, error) == Retry(
        SECOND, counts=False, kind=JobKind.FETCH_SLOW_IMAGE
    )


@pytest.mark.parametrize(
    ("unchanged", "is_past", "has_ended"),
    [(14, True, False), (15, True, True), (29, False, False), (30, False, True)],
)
def test_a_lease_ends_by_elapsed_time_and_the_clock_only_helps(
    unchanged: int, is_past: bool, has_ended: bool
) -> None:
    assert has_lease_ended(unchanged * SECOND, 30 * SECOND, is_past=is_past) is has_ended


class TestDoubling:
    def test_each_wait_is_twice_the_one_before(self) -> None:
        wait_after = doubling(SECOND, longest=timedelta(minutes=1))

        waits = [wait_after(attempts) for attempts in range(1, 6)]

        assert waits == [SECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND, 16 * SECOND]

    @given(attempts=st.integers(1, 10_000), seconds=st.integers(1, 86_400))
    def test_no_wait_is_longer_than_the_longest(self, attempts: int, seconds: int) -> None:
        longest = timedelta(days=1)

        wait = doubling(seconds * SECOND, longest=longest)(attempts)

        assert seconds * SECOND <= wait <= longest


def test_every_kind_has_a_policy_and_nothing_else_does() -> None:
    assert set(POLICIES) == set(JobKind)


@pytest.mark.parametrize("kind", JobKind)
def test_every_kind_may_run_for_some_time_more_than_never(kind: JobKind) -> None:
    policy = POLICIES[kind]

    assert policy.in_flight >= 1
    assert policy.attempts >= 1
    assert policy.timeout > timedelta(0)


def test_a_job_in_somebodys_hands_or_done_can_be_neither_retried_nor_cancelled() -> None:
    assert {JobState.RUNNING, JobState.DONE}.isdisjoint(MAY_RETRY | MAY_CANCEL)


def test_what_happens_every_hour_has_one_key_for_each_hour_and_kind() -> None:
    begins = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)

    keys = [
        hourly_key(kind, begins + timedelta(minutes=30 * n)) for n in range(4) for kind in HOURLY
    ]

    assert hourly_key(JobKind.PURGE_JOBS, begins) == "purge-jobs:2026-11-15T01"
    assert len(set(keys)) == 2 * len(HOURLY)
