"""Figures by day: orders and revenue, production times, callbacks delivered.

Days are in UTC; days without any event are included. They are counted once for each day that is
over (`sum_days_over`), and again each time only for the days since.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Text,
    case,
    func,
    literal_column,
    select,
)

from printworks.rules.ledger import EntryKind
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.rows import columns_of
from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import callback_attempts, daily_figures, ledger_days, shipments
from printworks.store.views.console.reports import ReportPeriod, sum_days

DAYS: Final = 30

_DAY: Final = timedelta(days=1)
# Longer than any request or job lasts.
_SETTLED_AFTER: Final = timedelta(hours=1)
# The status with which a receiver acknowledges a callback.
_HEARD: Final = 200


class DayOfOrders(msgspec.Struct, frozen=True):
    """What was submitted and charged on a day."""

    day: date
    orders: int
    # By currency, in minor units.
    revenue: dict[str, int]


class DayOfProduction(msgspec.Struct, frozen=True):
    """What labs shipped on a day, and how long they took."""

    day: date
    shipped: int
    # How many left early enough to arrive by the promised day.
    in_time: int
    # From the offer to the lab, at submission or after another lab rejected it, until shipping:
    # the median in hours, to a tenth; None if nothing was shipped.
    median_hours: float | None


class DayOfCallbacks(msgspec.Struct, frozen=True):
    """How many callbacks were attempted on a day, and how many delivered."""

    day: date
    attempts: int
    delivered: int


class FiguresAhead(msgspec.Struct, frozen=True):
    """What belongs to days after today, by merchants' clocks that are ahead in a sandbox."""

    orders: int
    # By currency, in minor units.
    revenue: dict[str, int]
    shipped: int


Day = TypeVar("Day", DayOfOrders, DayOfProduction, DayOfCallbacks)


def count_orders(db: Connection, *, now: datetime, days: int = DAYS) -> list[DayOfOrders]:
    """Return what was submitted on each of the last days, today included, oldest first."""
    shown = _list_days(now, days)
    stored = _read_stored(db, DayOfOrders, shown)
    return [*stored, *_sum_charges(db, shown[len(stored) :])]


def count_production(
    db: Connection, *, transit_days: Mapping[str, int], now: datetime, days: int = DAYS
) -> list[DayOfProduction]:
    """Return what labs shipped on each of the last days, today included, oldest first.

    `transit_days` has the longest transit time of each shipping service.
    """
    shown = _list_days(now, days)
    stored = _read_stored(db, DayOfProduction, shown)
    return [*stored, *_count_shipments(db, shown[len(stored) :], transit_days)]


def count_callbacks(db: Connection, *, now: datetime, days: int = DAYS) -> list[DayOfCallbacks]:
    """Return the callbacks attempted on each of the last days, oldest first."""
    shown = _list_days(now, days)
    stored = _read_stored(db, DayOfCallbacks, shown)
    return [*stored, *_count_attempts(db, shown[len(stored) :])]


def count_ahead(db: Connection, *, now: datetime) -> FiguresAhead:
    """Return what was submitted and shipped after today, by clocks that are ahead."""
    today = now.astimezone(UTC).date()
    total = ledger_days.c
    charged = (
        select(total.currency, func.sum(total.entries), func.sum(total.amount))
        .where(total.kind == spelled_out(EntryKind.CHARGE), total.day > str(today))
        .group_by(total.currency)
    )
    rows = db.execute(charged).all()
    tomorrow = datetime.combine(today + _DAY, time(), UTC)
    shipped = select(func.count()).where(shipments.c.shipped_at >= tomorrow)
    return FiguresAhead(
        sum(int(entries) for _, entries, _ in rows),
        {currency: int(amount) for currency, _, amount in rows},
        int(db.execute(shipped).scalar_one()),
    )


def sum_days_over(db: Connection, *, transit_days: Mapping[str, int], now: datetime) -> int:
    """Store the figures of days that are over; return how many days that were.

    Afterwards nothing can be added to such a day: no merchant's clock is behind, and no
    transaction lasts as long as we wait after midnight.
    """
    last = db.execute(select(func.max(daily_figures.c.day))).scalar() or ""
    days = [one for one in _list_days(now - _SETTLED_AFTER, DAYS)[:-1] if str(one) > last]
    charged = _sum_charges(db, days)
    made = _count_shipments(db, days, transit_days)
    tried = _count_attempts(db, days)
    sold = _sum_sales(db, days)
    for figures in zip(charged, made, tried, strict=True):
        values = {
            name: value for one in figures for name, value in msgspec.structs.asdict(one).items()
        }
        day = str(values["day"])
        insert_unless_there(db, daily_figures, **{**values, "day": day, "sales": sold[day]})
    return len(days)


def _sum_sales(db: Connection, days: Sequence[date]) -> dict[str, dict[str, Any]]:
    """Return what reports show of days, by day and currency."""
    sold: dict[str, dict[str, Any]] = {str(day): {} for day in days}
    for line in sum_days(db, [ReportPeriod(days[0], days[-1])]) if days else ():
        sold[line.key][line.currency] = msgspec.to_builtins(line.figures)
    return sold


def _read_stored(db: Connection, kind: type[Day], shown: Sequence[date]) -> list[Day]:
    """Return the figures of the first of these days, as far as they are stored."""
    day = daily_figures.c.day
    query = select(*columns_of(daily_figures, kind)).order_by(day)
    rows = db.execute(query.where(day.between(str(shown[0]), str(shown[-1]))))
    return [kind(date.fromisoformat(row[0]), *row[1:]) for row in rows]


def _sum_charges(db: Connection, days: Sequence[date]) -> list[DayOfOrders]:
    if not days:
        return []
    total = ledger_days.c
    query = (
        select(total.day, total.currency, func.sum(total.entries), func.sum(total.amount))
        .where(
            total.kind == spelled_out(EntryKind.CHARGE),
            # Merchants whose clocks are ahead have later ones.
            total.day.between(str(days[0]), str(days[-1])),
        )
        .group_by(total.day, total.currency)
    )
    counts: dict[str, int] = defaultdict(int)
    revenue: dict[str, dict[str, int]] = defaultdict(dict)
    for found, currency, count, amount in db.execute(query):
        counts[found] += int(count)
        revenue[found][currency] = int(amount)
    return [DayOfOrders(one, counts[str(one)], revenue[str(one)]) for one in days]


def _count_shipments(
    db: Connection, days: Sequence[date], transit_days: Mapping[str, int]
) -> list[DayOfProduction]:
    if not days:
        return []
    shipped, in_time = Counter[str](), Counter[str]()
    # By day, the shipments by their production time in tenths of an hour.
    took: dict[str, Counter[int]] = defaultdict(Counter)
    alike = (
        _day_of(db, shipments.c.shipped_at),
        shipments.c.service,
        shipments.c.latest_arrival,
        _tenths_of_hours_between(db, shipments.c.created_at, shipments.c.shipped_at),
    )
    are_of_days = _are_of(shipments.c.shipped_at, days)
    arrivals: dict[tuple[str, str], str] = {}
    query = select(*alike, func.count()).where(*are_of_days).group_by(*alike)
    for found, service, promised, time_taken, count in db.execute(query):
        arrives = arrivals.get((found, service))
        if arrives is None:
            leaves = date.fromisoformat(found)
            arrives = MONDAY_TO_FRIDAY.add(leaves, transit_days.get(service, 0)).isoformat()
            arrivals[found, service] = arrives
        shipped[found] += count
        in_time[found] += count if arrives <= promised else 0
        took[found][int(time_taken)] += count
    return [
        DayOfProduction(one, shipped[str(one)], in_time[str(one)], _find_median(took[str(one)]))
        for one in days
    ]


def _find_median(tenths: Counter[int]) -> float | None:
    """Return the median in hours."""
    return median(tenths.elements()) / 10 if tenths else None


def _count_attempts(db: Connection, days: Sequence[date]) -> list[DayOfCallbacks]:
    if not days:
        return []
    day = _day_of(db, callback_attempts.c.at)
    is_heard = case((callback_attempts.c.status == _HEARD, 1), else_=0)
    query = (
        select(day, func.count(), func.sum(is_heard))
        .where(*_are_of(callback_attempts.c.at, days))
        .group_by(day)
    )
    found = {row[0]: (row[1], int(row[2])) for row in db.execute(query)}
    return [DayOfCallbacks(one, *found.get(str(one), (0, 0))) for one in days]


def _list_days(now: datetime, days: int) -> list[date]:
    today = now.astimezone(UTC).date()
    return [today - _DAY * back for back in range(days - 1, -1, -1)]


def _are_of(column: Column[Any], days: Sequence[date]) -> list[ColumnElement[bool]]:
    """Limit a timestamp to consecutive days."""
    first, last = (datetime.combine(day, time(), UTC) for day in (days[0], days[-1]))
    return [column >= first, column < last + _DAY]


def _day_of(db: Connection, column: Column[Any]) -> ColumnElement[str]:
    """Return the day of a timestamp in ISO 8601."""
    if db.dialect.name == "sqlite":
        return func.substr(column, 1, 10, type_=Text)
    in_utc = func.timezone(literal_column("'UTC'"), column)
    return func.to_char(in_utc, literal_column("'YYYY-MM-DD'"), type_=Text)


def _tenths_of_hours_between(
    db: Connection, first: Column[Any], last: Column[Any]
) -> ColumnElement[Any]:
    # Spelled out: PostgreSQL must see that it groups by what it selects.
    if db.dialect.name == "sqlite":
        apart = func.julianday(last, type_=Float) - func.julianday(first, type_=Float)
        return func.round(apart * literal_column("240.0"), type_=Float)
    seconds = func.date_part(literal_column("'epoch'"), last - first, type_=Float)
    return func.round(seconds / literal_column("360.0"), type_=Float)
