"""Figures by day: orders and revenue, production times, callbacks delivered.

Days are in UTC; days without any event are included. They are counted once for each day that is
over (`sum_days_over`), and again each time only for the days since; of those, shipments and callbacks
are counted once for each hour that is over.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import Connection, delete, func, select

from printworks.rules.ledger import EntryKind
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.rows import columns_of
from printworks.store.engine.upsert import insert_missing
from printworks.store.tables import daily_figures, ledger_days, shipments
from printworks.store.views.console.hours import count_attempts, count_shipments, sum_hours_over
from printworks.store.views.console.reports import ReportPeriod, sum_days

DAYS: Final = 30

_DAY: Final = timedelta(days=1)
# Longer than any request or job lasts.
_SETTLED_AFTER: Final = timedelta(hours=1)


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
    """Store the figures of days and hours that are over; return how many days that were.

    Afterwards nothing can be added to them: no merchant's clock is behind, and no transaction lasts
    as long as we wait.
    """
    settled = now - _SETTLED_AFTER
    *over, today = _list_days(settled, DAYS)
    # Stored while the clock was ahead, they would stay as they are for good.
    db.execute(delete(daily_figures).where(daily_figures.c.day >= str(today)))
    last = db.execute(select(func.max(daily_figures.c.day))).scalar() or ""
    days = [one for one in over if str(one) > last]
    charged = _sum_charges(db, days)
    made = _count_shipments(db, days, transit_days)
    tried = _count_attempts(db, days)
    sold = _sum_sales(db, days)
    insert_missing(
        db,
        daily_figures,
        [
            {
                **msgspec.structs.asdict(orders),
                **msgspec.structs.asdict(production),
                **msgspec.structs.asdict(callbacks),
            }
            | {"day": str(orders.day), "sales": sold[str(orders.day)]}
            for orders, production, callbacks in zip(charged, made, tried, strict=True)
        ],
    )
    sum_hours_over(db, transit_days=transit_days, settled=settled)
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
    stored = (kind(date.fromisoformat(row[0]), *row[1:]) for row in rows)
    # What comes behind a gap is counted.
    return [one for one, day in zip(stored, shown, strict=False) if one.day == day]


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
    counted = count_shipments(db, days, transit_days)
    return [
        DayOfProduction(one, made.shipped, made.in_time, made.find_median())
        for one, made in zip(days, counted.values(), strict=True)
    ]


def _count_attempts(db: Connection, days: Sequence[date]) -> list[DayOfCallbacks]:
    if not days:
        return []
    counted = count_attempts(db, days)
    return [
        DayOfCallbacks(one, tried.attempts, tried.delivered)
        for one, tried in zip(days, counted.values(), strict=True)
    ]


def _list_days(now: datetime, days: int) -> list[date]:
    today = now.astimezone(UTC).date()
    return [today - _DAY * back for back in range(days - 1, -1, -1)]
