"""Figures by day: orders and revenue, production times, callbacks delivered.

Days are in UTC. Each query reads only the days that are shown, along the index of its
timestamps; days without any event are included.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from statistics import median
from typing import Any, Final

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Float,
    Select,
    Text,
    case,
    cast,
    func,
    literal_column,
    select,
)

from printworks.rules.ledger import EntryKind
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY
from printworks.store.engine.columns import spelled_out
from printworks.store.tables import callback_attempts, ledger_entries, shipments

DAYS: Final = 30

_DAY: Final = timedelta(days=1)
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


def count_orders(db: Connection, *, now: datetime, days: int = DAYS) -> list[DayOfOrders]:
    """Return what was submitted on each of the last days, today included, oldest first."""
    day = _day_of(db, ledger_entries.c.created_at)
    charged = cast(ledger_entries.c.lines[(0, 1)].as_string(), BigInteger)
    query = (
        select(day, ledger_entries.c.currency, func.count(), func.sum(charged))
        .where(
            ledger_entries.c.kind == spelled_out(EntryKind.CHARGE),
            *_are_shown(ledger_entries.c.created_at, now, days),
        )
        .group_by(day, ledger_entries.c.currency)
    )
    counts: dict[str, int] = defaultdict(int)
    revenue: dict[str, dict[str, int]] = defaultdict(dict)
    for found, currency, count, amount in db.execute(query):
        counts[found] += count
        revenue[found][currency] = int(amount)
    return [DayOfOrders(one, counts[str(one)], revenue[str(one)]) for one in _list_days(now, days)]


def count_production(
    db: Connection, *, transit_days: Mapping[str, int], now: datetime, days: int = DAYS
) -> list[DayOfProduction]:
    """Return what labs shipped on each of the last days, today included, oldest first.

    `transit_days` has the longest transit time of each shipping service.
    """

    @cache
    def arrive(day: str, service: str) -> str:
        leaves = date.fromisoformat(day)
        return MONDAY_TO_FRIDAY.add(leaves, transit_days.get(service, 0)).isoformat()

    made: dict[str, _Made] = defaultdict(_Made)
    for day, service, promised, tenths, count in _group_shipments(db, now, days):
        is_in_time = arrive(day, service) <= promised
        made[day].add(count, is_in_time=is_in_time, tenths=int(tenths))
    return [
        DayOfProduction(one, found.shipped, found.in_time, found.find_median())
        for one in _list_days(now, days)
        for found in [made[str(one)]]
    ]


class _Made:
    """The shipments of a day, while they are counted."""

    def __init__(self) -> None:
        self.shipped = 0
        self.in_time = 0
        # Shipments by their production time in tenths of an hour.
        self._took = Counter[int]()

    def add(self, count: int, *, is_in_time: bool, tenths: int) -> None:
        self.shipped += count
        self.in_time += count if is_in_time else 0
        self._took[tenths] += count

    def find_median(self) -> float | None:
        """Return the median in hours."""
        return median(self._took.elements()) / 10 if self._took else None


def _group_shipments(db: Connection, now: datetime, days: int) -> Iterable[Any]:
    """Return the shipments of each day, counted in groups that are alike."""
    alike = (
        _day_of(db, shipments.c.shipped_at),
        shipments.c.service,
        shipments.c.latest_arrival,
        _tenths_of_hours_between(db, shipments.c.created_at, shipments.c.shipped_at),
    )
    query: Select[Any] = (
        select(*alike, func.count())
        .where(*_are_shown(shipments.c.shipped_at, now, days))
        .group_by(*alike)
    )
    return db.execute(query)


def count_callbacks(db: Connection, *, now: datetime, days: int = DAYS) -> list[DayOfCallbacks]:
    """Return the callbacks attempted on each of the last days, oldest first.

    Attempts are deleted after a while.
    """
    day = _day_of(db, callback_attempts.c.at)
    is_heard = case((callback_attempts.c.status == _HEARD, 1), else_=0)
    query = (
        select(day, func.count(), func.sum(is_heard))
        .where(*_are_shown(callback_attempts.c.at, now, days))
        .group_by(day)
    )
    found = {row[0]: (row[1], int(row[2])) for row in db.execute(query)}
    return [DayOfCallbacks(one, *found.get(str(one), (0, 0))) for one in _list_days(now, days)]


def _list_days(now: datetime, days: int) -> list[date]:
    today = now.astimezone(UTC).date()
    return [today - _DAY * back for back in range(days - 1, -1, -1)]


def _are_shown(column: Column[Any], now: datetime, days: int) -> list[ColumnElement[bool]]:
    """Limit a timestamp to the days; merchants whose clocks are ahead have later ones."""
    tomorrow = datetime.combine(now.astimezone(UTC).date(), time(), UTC) + _DAY
    return [column >= tomorrow - _DAY * days, column < tomorrow]


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
