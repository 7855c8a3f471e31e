"""Shipments and callback attempts by hour, in UTC.

They are counted once for each hour that is over (`sum_hours_over`), and again each time only for
the hours since.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Text,
    case,
    delete,
    func,
    literal_column,
    or_,
    select,
)

from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY
from printworks.store.engine.rows import columns_of
from printworks.store.engine.upsert import insert_missing
from printworks.store.tables import callback_attempts, hourly_figures, shipments

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
# Such as "2026-11-15 13"; its first letters are the day.
_HOUR_FORMAT: Final = "%Y-%m-%d %H"
_LETTERS_OF_A_DAY: Final = len("2026-11-15")
# The status with which a receiver acknowledges a callback.
_HEARD: Final = 200


class Period(NamedTuple):
    """A time from its beginning until before its end."""

    begin: datetime
    end: datetime

    def has(self, column: Column[Any]) -> list[ColumnElement[bool]]:
        """Limit a timestamp to this period."""
        return [column >= self.begin, column < self.end]

    def list_hours(self) -> list[str]:
        count = (self.end - self.begin) // _HOUR
        return [(self.begin + number * _HOUR).strftime(_HOUR_FORMAT) for number in range(count)]


class ShipmentCounts(msgspec.Struct):
    """What labs shipped in a time, and how long they took."""

    shipped: int = 0
    in_time: int = 0
    # How many there were of each production time, which is in tenths of an hour.
    production_times: dict[int, int] = msgspec.field(default_factory=Counter[int])

    def add(self, shipped: int, in_time: int, production_times: Mapping[Any, int]) -> None:
        self.shipped += shipped
        self.in_time += in_time
        for tenths, count in production_times.items():
            number = int(tenths)
            self.production_times[number] = self.production_times.get(number, 0) + count

    def find_median(self) -> float | None:
        """Return the median production time in hours; None if nothing was shipped."""
        times = Counter(self.production_times)
        return median(times.elements()) / 10 if times else None


class AttemptCounts(msgspec.Struct):
    """How many callbacks were attempted in a time, and how many delivered."""

    attempts: int = 0
    delivered: int = 0

    def add(self, attempts: int, delivered: int) -> None:
        self.attempts += attempts
        self.delivered += delivered


def count_shipments(
    db: Connection, days: Sequence[date], transit_days: Mapping[str, int]
) -> dict[str, ShipmentCounts]:
    """Return what was shipped on each of these consecutive days, by day in ISO 8601."""
    counted: dict[str, ShipmentCounts] = {str(day): ShipmentCounts() for day in days}
    stored, since = _read_stored(db, ShipmentCounts, days)
    for hour, *counts in stored:
        counted[hour[:_LETTERS_OF_A_DAY]].add(*counts)
    for hour, shipped, in_time, times in _list_shipments(db, since, transit_days):
        counted[hour[:_LETTERS_OF_A_DAY]].add(shipped, in_time, times)
    return counted


def count_attempts(db: Connection, days: Sequence[date]) -> dict[str, AttemptCounts]:
    """Return the callbacks attempted on each of these consecutive days, by day in ISO 8601."""
    counted: dict[str, AttemptCounts] = {str(day): AttemptCounts() for day in days}
    stored, since = _read_stored(db, AttemptCounts, days)
    for hour, *counts in stored:
        counted[hour[:_LETTERS_OF_A_DAY]].add(*counts)
    for hour, attempts, delivered in _list_attempts(db, since):
        counted[hour[:_LETTERS_OF_A_DAY]].add(attempts, delivered)
    return counted


def sum_hours_over(db: Connection, *, transit_days: Mapping[str, int], settled: datetime) -> None:
    """Store the hours of a day that are over at this time; forget those of the days before."""
    last = settled.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    today = last.date()
    stored = hourly_figures.c.hour
    # Those that are not over were stored while the clock was ahead.
    are_wrong = or_(stored < str(today), stored >= last.strftime(_HOUR_FORMAT))
    db.execute(delete(hourly_figures).where(are_wrong))
    _, since = _read_stored(db, AttemptCounts, [today])
    over = Period(since.begin, last)
    shipped: dict[str, ShipmentCounts] = defaultdict(ShipmentCounts)
    for hour, count, in_time, times in _list_shipments(db, over, transit_days):
        shipped[hour].add(count, in_time, times)
    attempted = {
        hour: AttemptCounts(attempts, delivered)
        for hour, attempts, delivered in _list_attempts(db, over)
    }
    rows = [
        {
            "hour": hour,
            **msgspec.structs.asdict(shipped[hour]),
            **msgspec.structs.asdict(attempted.get(hour, AttemptCounts())),
        }
        for hour in over.list_hours()
    ]
    insert_missing(db, hourly_figures, rows)


def _read_stored(
    db: Connection, kind: type[ShipmentCounts | AttemptCounts], days: Sequence[date]
) -> tuple[Sequence[Any], Period]:
    """Return the stored hours of these days, and the time that is left to count."""
    hour = hourly_figures.c.hour
    are_of_days = hour.between(f"{days[0]} 00", f"{days[-1]} 23")
    query = select(hour, *columns_of(hourly_figures, kind)).where(are_of_days).order_by(hour)
    begin, end = (datetime.combine(day, time(), UTC) for day in (days[0], days[-1] + _DAY))
    stored = db.execute(query).all()
    if not stored or stored[0].hour != begin.strftime(_HOUR_FORMAT):
        # Nothing, or the first days were stored as days meanwhile.
        return [], Period(begin, end)
    last = datetime.strptime(stored[-1].hour, _HOUR_FORMAT).replace(tzinfo=UTC)
    return stored, Period(last + _HOUR, end)


def _list_shipments(
    db: Connection, period: Period, transit_days: Mapping[str, int]
) -> Iterable[tuple[str, int, int, Mapping[int, int]]]:
    """Yield hours with a number of shipments; an hour as often as there are kinds of them."""
    alike = (
        _hour_of(db, shipments.c.shipped_at),
        shipments.c.service,
        shipments.c.latest_arrival,
        _tenths_of_hours_between(db, shipments.c.created_at, shipments.c.shipped_at),
    )
    arrivals: dict[tuple[str, str], str] = {}
    are_of_period = period.has(shipments.c.shipped_at)
    query = select(*alike, func.count()).where(*are_of_period).group_by(*alike)
    for hour, service, promised, tenths, count in db.execute(query):
        day = hour[:_LETTERS_OF_A_DAY]
        arrives = arrivals.get((day, service))
        if arrives is None:
            leaves = date.fromisoformat(day)
            arrives = MONDAY_TO_FRIDAY.add(leaves, transit_days.get(service, 0)).isoformat()
            arrivals[day, service] = arrives
        yield hour, count, count if arrives <= promised else 0, {int(tenths): count}


def _list_attempts(db: Connection, period: Period) -> Iterable[tuple[str, int, int]]:
    hour = _hour_of(db, callback_attempts.c.at)
    is_heard = case((callback_attempts.c.status == _HEARD, 1), else_=0)
    are_of_period = period.has(callback_attempts.c.at)
    query = select(hour, func.count(), func.sum(is_heard)).where(*are_of_period).group_by(hour)
    for found, attempts, delivered in db.execute(query):
        yield found, attempts, int(delivered)


def _hour_of(db: Connection, column: Column[Any]) -> ColumnElement[str]:
    """Return the hour of a timestamp."""
    if db.dialect.name == "sqlite":
        return func.substr(column, 1, 13, type_=Text)
    in_utc = func.timezone(literal_column("'UTC'"), column)
    return func.to_char(in_utc, literal_column("'YYYY-MM-DD HH24'"), type_=Text)


def _tenths_of_hours_between(
    db: Connection, first: Column[Any], last: Column[Any]
) -> ColumnElement[Any]:
    # Spelled out: PostgreSQL must see that it groups by what it selects.
    if db.dialect.name == "sqlite":
        apart = func.julianday(last, type_=Float) - func.julianday(first, type_=Float)
        return func.round(apart * literal_column("240.0"), type_=Float)
    seconds = func.date_part(literal_column("'epoch'"), last - first, type_=Float)
    return func.round(seconds / literal_column("360.0"), type_=Float)
