"""A lab's calendar as people read it."""

from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from printworks.catalogue.labs import Lab

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# So far ahead holidays are shown.
_AHEAD: Final = timedelta(days=365)


class Hours(msgspec.Struct, frozen=True):
    """When a lab works, and what it makes of an order that comes now."""

    days: str
    # There.
    now: datetime
    is_open_today: bool
    # The day on which work would begin.
    begins: date


def describe_hours(lab: Lab, *, now: datetime) -> Hours:
    """Return when a lab works, and when it would begin what comes now."""
    there = now.astimezone(lab.hours.zone)
    return Hours(
        days=write_days(lab.working_days),
        now=there,
        is_open_today=lab.hours.calendar.is_working(there.date()),
        begins=lab.hours.find_start(now),
    )


def write_days(days: frozenset[int]) -> str:
    """Return days of the week in words, Monday being 0."""
    listed = sorted(days)
    if len(listed) > 2 and listed == list(range(listed[0], listed[-1] + 1)):
        return f"{_DAYS[listed[0]]} to {_DAYS[listed[-1]]}"
    return ", ".join(_DAYS[day] for day in listed)


def list_holidays(lab: Lab, *, now: datetime) -> list[date]:
    """Return the holidays of a lab in the year to come."""
    today = now.astimezone(ZoneInfo(lab.time_zone)).date()
    return sorted(day for day in lab.holidays if today <= day <= today + _AHEAD)
