"""Working days: when production of an order starts, when it leaves the lab, when it arrives."""

from datetime import date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final

import msgspec

_DAY: Final = timedelta(days=1)
_WEEK: Final = frozenset(range(7))

# A calendar that is closed for longer is a mistake; without a limit the search would not end.
LONGEST_CLOSURE: Final = timedelta(days=366)


class WorkingCalendar(msgspec.Struct, frozen=True):
    """Which days count: days of the week (Monday is 0) without the holidays."""

    working_days: frozenset[int] = frozenset(range(5))
    holidays: frozenset[date] = frozenset()

    def __post_init__(self) -> None:
        """Refuse a week without a working day."""
        if not self.working_days or not self.working_days <= _WEEK:
            message = "A calendar needs at least one working day, from 0 (Monday) to 6 (Sunday)."
            raise ValueError(message)

    def is_working(self, day: date) -> bool:
        """Whether this is a working day."""
        return day.weekday() in self.working_days and day not in self.holidays

    def on_or_after(self, day: date) -> date:
        """Return this day if it is a working day, else the next one.

        Raises ValueError when there is none for longer than a year.
        """
        found = day
        while not self.is_working(found):
            if found - day >= LONGEST_CLOSURE:
                message = f"The calendar has no working day for a year from {day}."
                raise ValueError(message)
            found += _DAY
        return found

    def add(self, day: date, working_days: int) -> date:
        """Return the day that is this many working days later.

        Counting starts on the first working day: what is handed over on a Saturday counts as
        handed over on Monday. So adding 0 gives that first working day.
        """
        if working_days < 0:
            message = "Working days are counted forwards only."
            raise ValueError(message)
        return _count_on(self, day, working_days)


# Each route asks for the same few days of the same few calendars.
@lru_cache(maxsize=4096)
def _count_on(calendar: WorkingCalendar, day: date, working_days: int) -> date:
    found = calendar.on_or_after(day)
    for _ in range(working_days):
        found = calendar.on_or_after(found + _DAY)
    return found


MONDAY_TO_FRIDAY: Final = WorkingCalendar()


def find_promised_day(submitted: date, days: int) -> date:
    """Return the last day that is in time: this many weekdays (Monday to Friday) later."""
    if days == 0:
        return submitted
    return MONDAY_TO_FRIDAY.add(submitted + _DAY, days - 1)


class Days(msgspec.Struct, frozen=True):
    """How many working days something takes."""

    fewest: int
    most: int

    def __post_init__(self) -> None:
        """Refuse negative numbers, and a minimum above the maximum."""
        if not 0 <= self.fewest <= self.most:
            message = f"From {self.fewest} to {self.most} working days is not a valid range."
            raise ValueError(message)


class Window(msgspec.Struct, frozen=True):
    """The days between which something will happen, both included."""

    earliest: date
    latest: date


class LabHours(msgspec.Struct, frozen=True):
    """When a lab works: orders before the cut-off go into production on the same working day."""

    cut_off: time
    zone: tzinfo
    calendar: WorkingCalendar = MONDAY_TO_FRIDAY

    def find_start(self, ordered_at: datetime) -> date:
        """Return the lab's day on which work on an order starts."""
        if ordered_at.tzinfo is None:
            message = "The time of an order must have a time zone."
            raise ValueError(message)
        local = ordered_at.astimezone(self.zone)
        today = local.date()
        is_in_time = local.time() < self.cut_off
        return self.calendar.on_or_after(today if is_in_time else today + _DAY)

    def find_next_cut_off(self, now: datetime) -> datetime:
        """Return the next cut-off: orders before it go into production on that day."""
        return datetime.combine(self.find_start(now), self.cut_off, self.zone)

    def find_dispatch(self, ordered_at: datetime, production_days: int) -> Window:
        """Return when an order is dispatched; 0 days of production is the day work starts."""
        day = self.calendar.add(self.find_start(ordered_at), production_days)
        return Window(day, day)


def find_arrival(
    dispatch: Window, transit: Days, calendar: WorkingCalendar = MONDAY_TO_FRIDAY
) -> Window:
    """Return when the shipment arrives, by the calendar of the place that it goes to."""

    def arrive(dispatched: date, days: int) -> date:
        # On a holiday of that place it can still leave the lab.
        left = MONDAY_TO_FRIDAY.on_or_after(dispatched)
        return calendar.add(left + _DAY, days - 1) if days else calendar.on_or_after(left)

    return Window(arrive(dispatch.earliest, transit.fewest), arrive(dispatch.latest, transit.most))
