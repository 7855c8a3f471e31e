"""Reports by day: what is stored of days that are over is what a sum would be."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from sqlalchemy import Connection, text

from printworks.catalogue.products import Currency
from printworks.rules.sales import Figures, SalesDay, SalesPlace
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.sales import add_to_days
from printworks.store.views.console.figures import sum_days_over
from printworks.store.views.console.reports import (
    ReportLine,
    ReportPeriod,
    list_by_day,
    sum_days,
)
from tests.factories import NOON, a_merchant

TODAY = NOON.date()
DAY = timedelta(days=1)
MONTH = ReportPeriod(TODAY - 30 * DAY, TODAY)


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def sell(db: Connection, merchant: Merchant, day: date, net: int, currency: str = "GBP") -> None:
    """Sell two products on a day, to two countries."""
    places = [
        SalesPlace(str(day), currency, country, "gb-leeds", sku)
        for country, sku in (("GB", "A"), ("FR", "B"))
    ]
    add_to_days(db, merchant.id, [SalesDay(one, Figures(orders=1, net=net)) for one in places])


def store_days(db: Connection, *, now: datetime = NOON) -> None:
    sum_days_over(db, transit_days={}, now=now)


def test_the_lines_are_those_of_each_day_and_currency_in_order(
    database: Database, merchant: Merchant
) -> None:
    with database.writing() as db:
        sell(db, merchant, TODAY, 300)
        sell(db, merchant, TODAY - DAY, 200, "USD")
        sell(db, merchant, TODAY - DAY, 100)
        store_days(db)

        found = list_by_day(db, MONTH)

    yesterday = str(TODAY - DAY)
    assert found == [
        ReportLine(yesterday, Currency.GBP, Figures(orders=2, net=200)),
        ReportLine(yesterday, Currency.USD, Figures(orders=2, net=400)),
        ReportLine(str(TODAY), Currency.GBP, Figures(orders=2, net=600)),
    ]


def test_stored_or_not_the_figures_are_the_same(database: Database, merchant: Merchant) -> None:
    days = [TODAY - back * DAY for back in (-2, 0, 1, 2, 29, 30, 31, 200)]
    period = ReportPeriod(TODAY - 365 * DAY, TODAY + 5 * DAY)
    with database.writing() as db:
        for number, day in enumerate(days):
            sell(db, merchant, day, number + 1)
            sell(db, merchant, day, number + 10, "EUR")
        expected = list_by_day(db, period)
        store_days(db)

        assert list_by_day(db, period) == expected
        assert len(expected) == 2 * len(days)
        assert sum_days(db, []) == []


def test_days_that_were_never_stored_are_summed_wherever_they_are(
    database: Database, merchant: Merchant
) -> None:
    later = NOON + 90 * DAY
    with database.writing() as db:
        for day in (TODAY - DAY, TODAY + 20 * DAY, TODAY + 80 * DAY):
            sell(db, merchant, day, 100)
        # Nothing ran in between.
        store_days(db)
        store_days(db, now=later)

        found = list_by_day(db, ReportPeriod(TODAY - DAY, later.date()))

    assert [line.key for line in found] == [
        str(TODAY - DAY),
        str(TODAY + 20 * DAY),
        str(TODAY + 80 * DAY),
    ]


def test_a_day_that_is_over_is_not_summed_again(database: Database, merchant: Merchant) -> None:
    midnight = datetime.combine(TODAY, time(), UTC)
    with database.writing() as db:
        sell(db, merchant, TODAY - DAY, 100)
        store_days(db, now=midnight + timedelta(hours=1))
        expected = list_by_day(db, MONTH)
        db.execute(text("DELETE FROM sales_days"))

        assert list_by_day(db, MONTH) == expected
