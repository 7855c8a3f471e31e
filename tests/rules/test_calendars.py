"""From the moment of an order to the day on which the parcel arrives."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.routing.calendars import (
    LONGEST_CLOSURE,
    MONDAY_TO_FRIDAY,
    Days,
    LabHours,
    Window,
    WorkingCalendar,
    find_arrival,
    find_promised_day,
)

DAY = timedelta(days=1)
MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = (
    date(2026, 3, 2) + n * DAY for n in range(7)
)
WEEK = 7 * DAY
LONDON, SYDNEY = ZoneInfo("Europe/London"), ZoneInfo("Australia/Sydney")

days = st.dates(date(2020, 1, 1), date(2040, 1, 1))
calendars = st.builds(
    WorkingCalendar,
    st.frozensets(st.integers(0, 6), min_size=1),
    st.frozensets(st.dates(date(2026, 1, 1), date(2026, 2, 28)), max_size=20),
)
spans = st.tuples(st.integers(0, 15), st.integers(0, 15)).map(lambda pair: Days(*sorted(pair)))


def at_midnight(day: date) -> datetime:
    """Return when a day begins."""
    return datetime.combine(day, time(0), UTC)


class TestWorkingCalendar:
    @pytest.mark.parametrize(
        ("day", "working_days", "later"),
        [
            (MONDAY, 0, MONDAY),
            (MONDAY, 4, FRIDAY),
            (FRIDAY, 1, MONDAY + WEEK),
            (SATURDAY, 0, MONDAY + WEEK),
            (SATURDAY, 1, TUESDAY + WEEK),
            (MONDAY, 10, MONDAY + 2 * WEEK),
        ],
    )
    def test_working_days_are_added_over_weekends(
        self, day: date, working_days: int, later: date
    ) -> None:
        assert MONDAY_TO_FRIDAY.add(day, working_days) == later

    def test_a_holiday_is_skipped(self) -> None:
        calendar = WorkingCalendar(holidays=frozenset({TUESDAY, WEDNESDAY}))

        assert calendar.add(MONDAY, 1) == THURSDAY

    @pytest.mark.parametrize("working_days", [frozenset[int](), frozenset({7}), frozenset({-1, 0})])
    def test_a_week_without_working_days_is_refused(self, working_days: frozenset[int]) -> None:
        with pytest.raises(ValueError, match="at least one working day"):
            WorkingCalendar(working_days)

    def test_a_calendar_whose_working_days_are_all_holidays_ends_the_search(self) -> None:
        holidays = frozenset(MONDAY + n * DAY for n in range(800))
        calendar = WorkingCalendar(holidays=holidays)

        with pytest.raises(ValueError, match="no working day for a year from 2026-03-02"):
            calendar.add(MONDAY, 1)

    def test_a_closure_of_a_year_is_just_bearable(self) -> None:
        closed = LONGEST_CLOSURE // DAY
        everyday = frozenset(range(7))
        holidays = frozenset(MONDAY + n * DAY for n in range(closed))

        reopened = WorkingCalendar(everyday, holidays).on_or_after(MONDAY)

        assert reopened == MONDAY + LONGEST_CLOSURE

    def test_nothing_is_counted_backwards(self) -> None:
        with pytest.raises(ValueError, match="forwards only"):
            MONDAY_TO_FRIDAY.add(MONDAY, -1)

    def test_a_calendar_can_be_written_down_and_read_again(self) -> None:
        calendar = WorkingCalendar(frozenset({0, 5}), frozenset({MONDAY}))

        written = msgspec.json.encode(calendar)

        assert msgspec.json.decode(written, type=WorkingCalendar) == calendar

    @given(calendars, days, st.integers(0, 30))
    def test_so_many_working_days_lie_between(
        self, calendar: WorkingCalendar, day: date, working_days: int
    ) -> None:
        later = calendar.add(day, working_days)

        passed = [day + n * DAY for n in range((later - day).days)]
        assert calendar.is_working(later)
        assert sum(map(calendar.is_working, passed)) == working_days

    @given(calendars, days, st.integers(0, 15), st.integers(0, 15))
    def test_adding_twice_is_adding_the_sum(
        self, calendar: WorkingCalendar, day: date, first: int, then: int
    ) -> None:
        assert calendar.add(calendar.add(day, first), then) == calendar.add(day, first + then)

    @given(calendars, days, days, st.integers(0, 15))
    def test_who_begins_later_is_never_done_earlier(
        self, calendar: WorkingCalendar, one: date, other: date, working_days: int
    ) -> None:
        earlier, later = sorted((one, other))

        assert calendar.add(earlier, working_days) <= calendar.add(later, working_days)


class TestFindProductionStart:
    @pytest.mark.parametrize(
        ("ordered_at", "zone", "start"),
        [
            # Before the cut-off, at it, after it.
            (datetime(2026, 3, 2, 13, 59, 59, tzinfo=UTC), LONDON, MONDAY),
            (datetime(2026, 3, 2, 14, 0, tzinfo=UTC), LONDON, TUESDAY),
            (datetime(2026, 3, 2, 23, 0, tzinfo=UTC), LONDON, TUESDAY),
            # Late on Friday and on the weekend: Monday.
            (datetime(2026, 3, 6, 14, 0, tzinfo=UTC), LONDON, MONDAY + WEEK),
            (datetime(2026, 3, 7, 9, 0, tzinfo=UTC), LONDON, MONDAY + WEEK),
            (datetime(2026, 3, 8, 23, 0, tzinfo=UTC), LONDON, MONDAY + WEEK),
            # In Sydney it is Tuesday already, 10:30 and 14:30 in the afternoon.
            (datetime(2026, 3, 2, 23, 30, tzinfo=UTC), SYDNEY, TUESDAY),
            (datetime(2026, 3, 3, 3, 30, tzinfo=UTC), SYDNEY, WEDNESDAY),
            # In summer 13:30 UTC is half past two in London.
            (datetime(2026, 7, 6, 13, 30, tzinfo=UTC), LONDON, date(2026, 7, 7)),
        ],
    )
    def test_the_clock_on_the_wall_of_the_lab_decides(
        self, ordered_at: datetime, zone: ZoneInfo, start: date
    ) -> None:
        assert LabHours(time(14), zone).find_start(ordered_at) == start

    def test_a_moment_without_a_zone_is_refused(self) -> None:
        naive = datetime(2026, 3, 2, 12, 0)  # noqa: DTZ001 - what must not be

        with pytest.raises(ValueError, match="time zone"):
            LabHours(time(14), UTC).find_start(naive)

    @given(
        st.datetimes(
            datetime(2025, 12, 1),  # noqa: DTZ001 - the zone is given beside it
            datetime(2026, 4, 1),  # noqa: DTZ001 - likewise
            timezones=st.just(UTC),
        ),
        st.times(),
        st.sampled_from([LONDON, SYDNEY]),
        calendars,
    )
    def test_work_begins_on_a_working_day_and_not_before_the_order(
        self, ordered_at: datetime, cut_off: time, zone: ZoneInfo, calendar: WorkingCalendar
    ) -> None:
        start = LabHours(cut_off, zone, calendar).find_start(ordered_at)

        local = ordered_at.astimezone(zone)
        assert calendar.is_working(start)
        assert start >= local.date()
        assert start > local.date() or local.time() < cut_off


def test_a_lab_that_needs_no_days_dispatches_on_the_day_it_starts() -> None:
    lab = LabHours(time(14), UTC)

    assert lab.find_dispatch(at_midnight(MONDAY), 0) == Window(MONDAY, MONDAY)
    assert lab.find_dispatch(at_midnight(MONDAY), 2) == Window(WEDNESDAY, WEDNESDAY)


def test_a_carrier_that_rests_on_weekends_begins_to_count_on_monday() -> None:
    lab = LabHours(time(14), UTC, WorkingCalendar(frozenset(range(6))))

    dispatch = lab.find_dispatch(at_midnight(FRIDAY), 1)
    arrival = find_arrival(dispatch, Days(1, 2))

    assert dispatch == Window(SATURDAY, SATURDAY)
    assert arrival == Window(TUESDAY + WEEK, WEDNESDAY + WEEK)


@pytest.mark.parametrize(
    ("transit", "arrives"),
    [
        (Days(0, 1), Window(TUESDAY, WEDNESDAY)),
        (Days(1, 2), Window(WEDNESDAY, FRIDAY)),
        (Days(2, 3), Window(FRIDAY, MONDAY + WEEK)),
    ],
)
def test_a_holiday_where_it_goes_delays_the_arrival_and_not_the_departure(
    transit: Days, arrives: Window
) -> None:
    there = WorkingCalendar(holidays=frozenset({MONDAY, THURSDAY}))
    departs = MONDAY if transit.fewest == 0 else TUESDAY

    assert find_arrival(Window(departs, TUESDAY), transit, there) == arrives


@pytest.mark.parametrize(("fewest", "most"), [(-1, 2), (3, 2)])
def test_a_span_that_cannot_be_is_refused(fewest: int, most: int) -> None:
    with pytest.raises(ValueError, match="not a valid range"):
        Days(fewest, most)


@given(days, st.integers(0, 15), spans, calendars, calendars)
def test_nothing_arrives_before_it_is_dispatched_nor_latest_before_earliest(
    start: date, production: int, transit: Days, lab: WorkingCalendar, carrier: WorkingCalendar
) -> None:
    dispatch = LabHours(time(14), UTC, lab).find_dispatch(at_midnight(start), production)
    arrival = find_arrival(dispatch, transit, carrier)

    assert start <= dispatch.earliest <= dispatch.latest
    assert dispatch.earliest <= arrival.earliest <= arrival.latest
    assert dispatch.latest <= arrival.latest


@pytest.mark.parametrize(
    ("submitted", "days", "promised"),
    [
        (date(2026, 11, 16), 0, date(2026, 11, 16)),
        (date(2026, 11, 16), 1, date(2026, 11, 17)),
        (date(2026, 11, 20), 1, date(2026, 11, 23)),
        (date(2026, 11, 21), 1, date(2026, 11, 23)),
        (date(2026, 11, 22), 5, date(2026, 11, 27)),
    ],
)
def test_promised_days_begin_after_the_day_of_submission(
    submitted: date, days: int, promised: date
) -> None:
    assert find_promised_day(submitted, days) == promised


@pytest.mark.parametrize(
    ("now", "cut_off"),
    [
        # Monday, before and after two o'clock; Friday afternoon; Sunday morning.
        (datetime(2026, 11, 16, 13, 59, tzinfo=UTC), datetime(2026, 11, 16, 14, tzinfo=UTC)),
        (datetime(2026, 11, 16, 14, 0, tzinfo=UTC), datetime(2026, 11, 17, 14, tzinfo=UTC)),
        (datetime(2026, 11, 20, 15, 0, tzinfo=UTC), datetime(2026, 11, 23, 14, tzinfo=UTC)),
        (datetime(2026, 11, 22, 9, 0, tzinfo=UTC), datetime(2026, 11, 23, 14, tzinfo=UTC)),
    ],
)
def test_the_next_cut_off_is_that_of_the_next_day_on_which_work_begins(
    now: datetime, cut_off: datetime
) -> None:
    assert LabHours(time(14), LONDON).find_next_cut_off(now) == cut_off
