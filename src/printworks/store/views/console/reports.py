"""What was sold and what was left of it, by day, merchant, product, lab or country."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import Column, Connection, Select, func, or_, select

from printworks.catalogue.products import Currency
from printworks.rules.sales import Figures, ReportBy
from printworks.store.tables import daily_figures, merchants, sales_days

_KEYS: Final[Mapping[ReportBy, Column[Any]]] = {
    ReportBy.DAY: sales_days.c.day,
    ReportBy.MERCHANT: merchants.c.code,
    ReportBy.PRODUCT: sales_days.c.sku,
    ReportBy.LAB: sales_days.c.lab,
    ReportBy.COUNTRY: sales_days.c.country,
}
_DAY: Final = timedelta(days=1)
_SUMS: Final = [func.sum(sales_days.c[name]) for name in Figures.__struct_fields__]


class ReportPeriod(msgspec.Struct, frozen=True):
    """Whole days in UTC, the last one included."""

    since: date
    until: date


class ReportLine(msgspec.Struct, frozen=True):
    """The figures of one day, merchant, product, lab or country, in one currency."""

    # A day in ISO 8601, or a code.
    key: str
    currency: Currency
    figures: Figures


def list_by_day(db: Connection, period: ReportPeriod) -> list[ReportLine]:
    """Return the figures of each day and currency, in this order.

    Days that are over were summed once (`figures.sum_days_over`): a day has a row for each product
    of each merchant.
    """
    day = daily_figures.c.day
    are_of_period = day.between(str(period.since), str(period.until))
    stored = dict(db.execute(select(day, daily_figures.c.sales).where(are_of_period)).all())
    lines = [
        ReportLine(key, Currency(currency), Figures(**figures))
        for key, sales in stored.items()
        for currency, figures in sales.items()
    ]
    lines += sum_days(db, _find_missing(period, stored))
    return sorted(lines, key=lambda line: (line.key, line.currency))


def add_up(lines: Iterable[ReportLine]) -> dict[Currency, Figures]:
    """Return the totals of lines, by currency."""
    totals: dict[Currency, Figures] = {}
    for line in lines:
        totals[line.currency] = totals.get(line.currency, Figures()).plus(line.figures)
    return dict(sorted(totals.items()))


def sum_days(db: Connection, periods: Sequence[ReportPeriod]) -> list[ReportLine]:
    """Sum the figures of each day of some periods, by currency."""
    if not periods:
        return []
    day = sales_days.c.day
    are_of_periods = or_(*(day.between(str(one.since), str(one.until)) for one in periods))
    query = _select(ReportBy.DAY).where(are_of_periods).group_by(day, sales_days.c.currency)
    return [_read_line(row) for row in db.execute(query)]


def _find_missing(period: ReportPeriod, stored: Container[str]) -> list[ReportPeriod]:
    """Return the days of a period that are not stored, those in a row as one period."""
    missing: list[ReportPeriod] = []
    for past in range((period.until - period.since).days + 1):
        day = period.since + past * _DAY
        if str(day) in stored:
            continue
        if missing and missing[-1].until == day - _DAY:
            missing[-1] = ReportPeriod(missing[-1].since, day)
        else:
            missing.append(ReportPeriod(day, day))
    return missing


def list_report(
    db: Connection,
    by: ReportBy,
    period: ReportPeriod,
    currency: Currency,
    *,
    after: str | None = None,
    limit: int,
) -> list[ReportLine]:
    """Return the lines of a report in one currency, in the order of their keys."""
    key = _KEYS[by]
    query = _of_period(_select(by), period).where(sales_days.c.currency == currency)
    if after is not None:
        query = query.where(key > after)
    rows = db.execute(query.group_by(key, sales_days.c.currency).order_by(key).limit(limit))
    return [_read_line(row) for row in rows]


def list_whole_report(db: Connection, by: ReportBy, period: ReportPeriod) -> Iterator[ReportLine]:
    """Yield all lines of a report, in all currencies."""
    key, currency = _KEYS[by], sales_days.c.currency
    query = _of_period(_select(by), period).group_by(key, currency).order_by(currency, key)
    for row in db.execute(query):
        yield _read_line(row)


def name_merchants(db: Connection, codes: Sequence[str]) -> Mapping[str, str]:
    """Return the names of some merchants by their codes."""
    query = select(merchants.c.code, merchants.c.name).where(merchants.c.code.in_(codes))
    return {row.code: row.name for row in db.execute(query)}


def _select(by: ReportBy) -> Select[Any]:
    query = select(_KEYS[by], sales_days.c.currency, *_SUMS)
    if by is not ReportBy.MERCHANT:
        return query
    return query.join_from(sales_days, merchants, sales_days.c.merchant_id == merchants.c.id)


def _of_period(query: Select[Any], period: ReportPeriod) -> Select[Any]:
    return query.where(sales_days.c.day.between(str(period.since), str(period.until)))


def _read_line(row: Any) -> ReportLine:
    return ReportLine(row[0], Currency(row[1]), _read(row[2:]))


def _read(sums: Any) -> Figures:
    return Figures(*(int(one) for one in sums))
