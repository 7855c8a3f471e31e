"""How long a receiver that does not answer is tried, and what merchants hear of."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.callbacks import (
    CHALLENGE_WAITS,
    MOST_FAILURES,
    WAITS,
    AddressRules,
    CallbackFormat,
    check_scheme,
    choose_format,
    is_echo,
    is_told,
    wait_after,
    wait_after_challenge,
)
from printworks.rules.events import (
    ImagesAdded,
    OrderChanged,
    OrderCreated,
    OrderEvent,
    OrderMoved,
    OrderReleased,
    ShipmentsChanged,
)
from printworks.rules.orders import OrderStatus

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

jitters = st.floats(0, 1)
seconds = st.integers(0, 10**12)
moments = st.datetimes(datetime(1970, 1, 1), datetime(2300, 1, 1))  # noqa: DTZ001
# What receivers answer: seconds, a date, or nonsense.
answers = (
    st.none()
    | seconds.map(str)
    | moments.map(lambda timestamp: format_datetime(timestamp.replace(tzinfo=UTC), usegmt=True))
    | st.text(max_size=60)
    | st.sampled_from(["-1", "1.5", "²", "9" * 5000, "Fri, 31 Dec 9999 23:59:59 -2359", "Thu,"])
)


def _wait(failures: int, jitter: float = 0, retry_after: str | None = None) -> timedelta:
    wait = wait_after(failures, jitter=jitter, retry_after=retry_after, now=NOW)
    assert wait is not None
    return wait


class TestWaitAfter:
    def test_follows_the_schedule(self) -> None:
        waits = [
            *(timedelta(seconds=seconds) for seconds in (10, 30)),
            *(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 30)),
            *(timedelta(hours=hours) for hours in (1, 2, 4, 8, 12, 18, 24)),
        ]

        assert [_wait(failures) for failures in range(1, MOST_FAILURES)] == waits

    def test_gives_up_at_the_fifteenth_failure(self) -> None:
        assert MOST_FAILURES == 15
        for failures in (15, 16, 1000):
            assert wait_after(failures, jitter=0, retry_after="5", now=NOW) is None

    def test_fifteen_failures_take_about_seventy_hours(self) -> None:
        assert timedelta(hours=69) < sum(WAITS, timedelta(0)) < timedelta(hours=71)

    @given(failures=st.integers(1, 14), jitter=jitters)
    def test_jitter_adds_at_most_a_tenth(self, failures: int, jitter: float) -> None:
        assert WAITS[failures - 1] <= _wait(failures, jitter) <= WAITS[failures - 1] * 1.1

    @given(
        failures=st.integers(1, 13),
        jitter=st.tuples(jitters, jitters),
        answer=st.tuples(answers, answers),
    )
    def test_grows_after_every_failure_whatever_the_receiver_says(
        self, failures: int, jitter: tuple[float, float], answer: tuple[str | None, str | None]
    ) -> None:
        assert _wait(failures, jitter[0], answer[0]) < _wait(failures + 1, jitter[1], answer[1])

    @given(failures=st.integers(1, 14), jitter=jitters, answer=answers)
    def test_is_never_shortened_and_never_without_end(
        self, failures: int, jitter: float, answer: str | None
    ) -> None:
        wait = _wait(failures, jitter, answer)

        assert _wait(failures, jitter) <= wait < timedelta(hours=36)

    @pytest.mark.parametrize("answer", ["3600", " 3600 ", "Sun, 01 Mar 2026 13:00:00 GMT"])
    def test_a_receiver_may_ask_for_a_longer_one(self, answer: str) -> None:
        assert _wait(7, retry_after="1900") == timedelta(seconds=1900)
        assert _wait(8, retry_after=answer) == timedelta(hours=1)
        assert _wait(7, retry_after=answer) == timedelta(minutes=59, seconds=59)

    def test_a_date_without_a_zone_is_in_utc(self) -> None:
        assert _wait(8, retry_after="Sun, 01 Mar 2026 13:30:00 -0000") == timedelta(hours=1.5)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (OrderCreated(OrderStatus.NOT_YET_SUBMITTED, None), True),
        (OrderMoved(OrderStatus.SUBMITTED, OrderStatus.COMPLETE, None), True),
        (
            ShipmentsChanged(
                status=OrderStatus.SUBMITTED, merchant_order_id=None, changed=[], shipments=[]
            ),
            True,
        ),
        (OrderChanged(["address1"]), False),
        (ImagesAdded([1]), False),
        (OrderReleased(), False),
    ],
)
def test_merchants_hear_of_orders_moves_and_shipments(event: OrderEvent, told: bool) -> None:
    assert is_told(event) is told


def test_nothing_that_merchants_hear_of_lacks_what_they_are_told() -> None:
    members = {"status", "merchant_order_id"}

    told = {kind for kind in get_args(OrderEvent) if members <= set(kind.__struct_fields__)}

    assert told == {OrderCreated, OrderMoved, ShipmentsChanged}


@pytest.mark.parametrize(
    ("chosen", "of_order", "told"),
    [
        (None, "2.3", CallbackFormat.V2_3),
        ("2.6", "2.3", CallbackFormat.V2_6),
        ("3.0", None, CallbackFormat.V3_0),
        (None, None, CallbackFormat.V3_0),
    ],
)
def test_the_merchants_choice_goes_before_the_version_that_made_the_order(
    chosen: str | None, of_order: str | None, told: CallbackFormat
) -> None:
    assert choose_format(chosen, of_order) is told


class TestNewAddresses:
    def test_only_https_will_do_where_that_is_asked_for(self) -> None:
        check_scheme("http://shop.example/", AddressRules())
        check_scheme("Https://shop.example/", AddressRules(needs_https=True))
        with pytest.raises(BadInput, match="must begin with https://"):
            check_scheme("http://shop.example/", AddressRules(needs_https=True))

    def test_a_challenge_is_tried_five_times(self) -> None:
        waits = [wait_after_challenge(failures) for failures in range(1, 6)]

        assert waits == [*CHALLENGE_WAITS, None]

    @pytest.mark.parametrize(
        ("answer", "is_right"),
        [
            (b"token", True),
            (b" token\r\n", True),
            (b'"token"', True),
            (b'{"challenge": "token"}', True),
            (b"", False),
            (b"Token", False),
            (b"token token", False),
            (b'{"challenge": "token", "environment": "LIVE"}', False),
            (b'["token"]', False),
            (b'{"challenge": 7}', False),
            (b"\xff\xfe", False),
            (b'"\xff"', False),
        ],
    )
    def test_only_the_token_answers_a_challenge(self, answer: bytes, *, is_right: bool) -> None:
        assert is_echo(answer, "token") is is_right
