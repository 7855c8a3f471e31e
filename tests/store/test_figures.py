"""Figures by day: what happened is counted on its day, and quiet days are there too."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, delete, select, text

from printworks.rules.events import CallbackState
from printworks.rules.ledger import EntryKind
from printworks.rules.production import LabState
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.tables import callback_attempts, daily_figures, hourly_figures
from printworks.store.views.console.figures import (
    DayOfCallbacks,
    DayOfOrders,
    DayOfProduction,
    FiguresAhead,
    count_ahead,
    count_callbacks,
    count_orders,
    count_production,
    sum_days_over,
)
from tests.factories import NOON, a_merchant
from tests.store import rows
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

TODAY = NOON.date()
MIDNIGHT = datetime.combine(TODAY, time(), UTC)
DAY = timedelta(days=1)
TRANSIT = {"post": 3, "courier": 1}
MANY_DAYS = """
    INSERT INTO ledger_days (merchant_id, day, kind, currency, entries, amount)
    SELECT merchants.id, to_char(date '2026-11-15' - back, 'YYYY-MM-DD'), 'charge', 'GBP', 1, 100
    FROM merchants, generate_series(0, 399) AS back
"""


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


class TestDays:
    def test_days_without_anything_are_there_oldest_first(self, database: Database) -> None:
        with database.reading() as db:
            orders = count_orders(db, now=NOON)
            production = count_production(db, transit_days=TRANSIT, now=NOON)
            callbacks = count_callbacks(db, now=NOON)

        days = [TODAY - DAY * back for back in range(29, -1, -1)]
        assert orders == [DayOfOrders(day, 0, {}) for day in days]
        assert production == [DayOfProduction(day, 0, 0, None) for day in days]
        assert callbacks == [DayOfCallbacks(day, 0, 0) for day in days]

    def test_a_day_lasts_from_midnight_to_midnight_of_utc(
        self, database: Database, merchant: Merchant
    ) -> None:
        last = MIDNIGHT + DAY - timedelta(microseconds=1)
        timestamps = [MIDNIGHT - DAY - timedelta(microseconds=1), MIDNIGHT - DAY, last, last]
        with database.writing() as db:
            for timestamp in [*timestamps, MIDNIGHT + DAY]:
                rows.add_charge(db, merchant, 100, at=timestamp)

        with database.reading() as db:
            # Late in the evening there, while it is another day here.
            now = last.astimezone(datetime.fromisoformat("2026-01-01T00:00-11:00").tzinfo)
            found = count_orders(db, now=now, days=2)

        assert [(one.day, one.orders) for one in found] == [(TODAY - DAY, 1), (TODAY, 2)]


class TestOrders:
    def test_charges_are_counted_and_added_up_by_currency(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            # More than 32 bits hold.
            rows.add_charge(db, merchant, 3_000_000_000, at=NOON)
            rows.add_charge(db, merchant, 350, at=NOON)
            rows.add_charge(db, merchant, 900, at=NOON, currency="EUR")
            rows.add_charge(db, merchant, 0, at=NOON - DAY)

        with database.reading() as db:
            found = count_orders(db, now=NOON, days=2)

        assert found == [
            DayOfOrders(TODAY - DAY, 1, {"GBP": 0}),
            DayOfOrders(TODAY, 3, {"GBP": 3_000_000_350, "EUR": 900}),
        ]

    def test_what_clocks_that_are_ahead_say_is_not_forgotten(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            rows.add_charge(db, merchant, 350, at=NOON)
            rows.add_charge(db, merchant, 400, at=NOON + DAY)
            rows.add_charge(db, merchant, 500, at=NOON + DAY * 40)
            rows.add_charge(db, merchant, 600, at=NOON + DAY * 40, kind=EntryKind.REFUND)
            ship(db, merchant, hours=1, at=NOON)
            ship(db, merchant, hours=1, at=NOON + DAY)

        with database.reading() as db:
            assert count_ahead(db, now=NOON) == FiguresAhead(2, {"GBP": 900}, 1)

    def test_other_money_is_not_an_order(self, database: Database, merchant: Merchant) -> None:
        with database.writing() as db:
            for kind in EntryKind:
                rows.add_charge(db, merchant, 100, at=NOON, kind=kind)

        with database.reading() as db:
            assert count_orders(db, now=NOON, days=1) == [DayOfOrders(TODAY, 1, {"GBP": 100})]


def ship(
    db: Connection, merchant: Merchant, *, hours: float, at: datetime = NOON, **values: Any
) -> None:
    """Add a shipment that left so many hours after it was offered to its lab."""
    offered_at = at - timedelta(hours=hours)
    sent = {"state": LabState.DISPATCHED, "shipped_at": at, "created_at": offered_at}
    rows.add_shipment(db, merchant, **sent, **values)


def ship_each(database: Database, merchant: Merchant, hours: Iterable[float]) -> None:
    with database.writing() as db:
        for one in hours:
            ship(db, merchant, hours=one)


class TestProduction:
    @pytest.mark.parametrize(
        ("hours", "median"),
        [([5], 5), ([1, 30, 2], 2), ([40, 2, 1, 4], 3), ([7, 7], 7), ([0.3, 0.8, 9.5, 0.8], 0.8)],
    )
    def test_the_time_in_the_middle_is_told(
        self, database: Database, merchant: Merchant, hours: list[float], median: float
    ) -> None:
        ship_each(database, merchant, hours)

        with database.reading() as db:
            [today] = count_production(db, transit_days=TRANSIT, now=NOON, days=1)

        assert today.shipped == len(hours)
        assert today.median_hours == pytest.approx(median, abs=0.001)

    def test_each_day_has_its_own(self, database: Database, merchant: Merchant) -> None:
        with database.writing() as db:
            ship(db, merchant, hours=10, at=NOON - DAY)
            ship(db, merchant, hours=20)
            # Still at its lab.
            rows.add_shipment(db, merchant)

        with database.reading() as db:
            found = count_production(db, transit_days=TRANSIT, now=NOON, days=3)

        assert [(one.day, one.shipped) for one in found] == [
            (TODAY - 2 * DAY, 0),
            (TODAY - DAY, 1),
            (TODAY, 1),
        ]
        assert [one.median_hours for one in found] == [None, pytest.approx(10), pytest.approx(20)]

    def test_what_left_early_enough_to_arrive_as_promised_was_in_time(
        self, database: Database, merchant: Merchant
    ) -> None:
        # A Thursday: the post of three days arrives on Tuesday, the courier's on Friday.
        thursday = datetime(2026, 11, 12, 9, tzinfo=UTC)
        with database.writing() as db:
            for service, latest in (
                ("post", "2026-11-17"),
                ("post", "2026-11-16"),
                ("courier", "2026-11-13"),
                ("courier", "2026-11-12"),
                ("forgotten", "2026-11-12"),
            ):
                ship(db, merchant, hours=1, at=thursday, service=service, latest_arrival=latest)

        with database.reading() as db:
            [found] = count_production(db, transit_days=TRANSIT, now=thursday, days=1)

        assert (found.shipped, found.in_time) == (5, 3)


class TestCallbacks:
    def test_tries_are_counted_and_those_that_were_heard(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            callback = rows.add_callback(db, merchant, CallbackState.DELIVERED)
            for number, (at, status) in enumerate(
                [(NOON - DAY, 500), (NOON, None), (NOON, 404), (NOON, 204), (NOON, 200)]
            ):
                rows.add_attempt(db, callback, number, at=at, status=status)

        with database.reading() as db:
            found = count_callbacks(db, now=NOON, days=2)

        assert found == [DayOfCallbacks(TODAY - DAY, 1, 0), DayOfCallbacks(TODAY, 4, 1)]


def count(db: Connection, *, now: datetime) -> tuple[object, ...]:
    return (
        count_orders(db, now=now),
        count_production(db, transit_days=TRANSIT, now=now),
        count_callbacks(db, now=now),
    )


def happen(db: Connection, merchant: Merchant, timestamps: Sequence[datetime]) -> None:
    """Charge, ship and attempt a callback at each of these times."""
    callback = rows.add_callback(db, merchant, CallbackState.DELIVERED)
    for number, at in enumerate(timestamps):
        rows.add_attempt(db, callback, number, at=at, status=500 if number % 3 else 200)
        rows.add_charge(db, merchant, 5_000_000_000 + number, at=at)
        ship(db, merchant, hours=number, at=at, latest_arrival=str(at.date() + 2 * DAY))


class TestDaysThatAreOver:
    def test_what_was_stored_and_what_is_counted_are_the_same(
        self, database: Database, merchant: Merchant
    ) -> None:
        timestamps = [NOON - DAY * (number % 31) for number in range(50)]
        # Of a merchant whose clock is ahead.
        timestamps += [NOON + DAY, NOON + 5 * DAY]
        nights = [MIDNIGHT, MIDNIGHT + timedelta(minutes=59), NOON, NOON + DAY, NOON + 6 * DAY]
        with database.writing() as db:
            happen(db, merchant, timestamps)
            counted = [count(db, now=now) for now in nights]

            for now, expected in zip(nights, counted, strict=True):
                assert count(db, now=now) == expected
                sum_days_over(db, transit_days=TRANSIT, now=now)
                sum_days_over(db, transit_days=TRANSIT, now=now)
                assert count(db, now=now) == expected

    def test_a_day_is_stored_an_hour_after_it_ended_and_not_counted_again(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            happen(db, merchant, [NOON - DAY, NOON])
            early = sum_days_over(db, transit_days=TRANSIT, now=MIDNIGHT + timedelta(minutes=59))
            stored = sum_days_over(db, transit_days=TRANSIT, now=MIDNIGHT + timedelta(hours=1))
            expected = count(db, now=NOON)
            db.execute(delete(callback_attempts).where(callback_attempts.c.at < MIDNIGHT))

            assert (early, stored) == (29, 1)
            assert count(db, now=NOON) == expected

    def test_after_a_long_pause_the_days_that_are_shown_are_stored(
        self, database: Database, merchant: Merchant
    ) -> None:
        later = NOON + 90 * DAY
        with database.writing() as db:
            sum_days_over(db, transit_days=TRANSIT, now=NOON)
            happen(db, merchant, [later - DAY * 3, later])
            expected = count(db, now=later)

            assert sum_days_over(db, transit_days=TRANSIT, now=later) == 29
            assert count(db, now=later) == expected

    @pytest.mark.parametrize("ahead", [timedelta(hours=5), DAY, 3 * DAY, 400 * DAY], ids=str)
    def test_a_clock_that_was_ahead_leaves_nothing_behind(
        self, database: Database, merchant: Merchant, ahead: timedelta
    ) -> None:
        with database.writing() as db:
            happen(db, merchant, [NOON - DAY * 2, NOON - timedelta(hours=3)])
            sum_days_over(db, transit_days=TRANSIT, now=NOON + ahead)
            happen(db, merchant, [NOON + timedelta(hours=2), NOON + DAY])
            sum_days_over(db, transit_days=TRANSIT, now=NOON)
            sum_days_over(db, transit_days=TRANSIT, now=NOON + DAY)
            found = count(db, now=NOON + DAY)
            for stored in (daily_figures, hourly_figures):
                db.execute(delete(stored))

            assert found == count(db, now=NOON + DAY)


class TestHoursThatAreOver:
    @pytest.mark.slow
    def test_sums_change_nothing_at_any_hour(self, database: Database, merchant: Merchant) -> None:
        # Some in each of the last 60 hours, in their first and last microsecond, too.
        hours = [MIDNIGHT + timedelta(hours=number) for number in range(-48, 12)]
        timestamps = [*hours, *(hour - timedelta(microseconds=1) for hour in hours)]
        nights = [MIDNIGHT + timedelta(minutes=20 + 100 * number) for number in range(-14, 8)]
        with database.writing() as db:
            happen(db, merchant, timestamps)
            for now in nights:
                expected = count(db, now=now)
                sum_days_over(db, transit_days=TRANSIT, now=now)
                assert count(db, now=now) == expected

    def test_an_hour_is_stored_an_hour_after_it_ended_and_not_counted_again(
        self, database: Database, merchant: Merchant
    ) -> None:
        timestamps = [MIDNIGHT, NOON - timedelta(hours=2, minutes=1), NOON - timedelta(minutes=119)]
        with database.writing() as db:
            happen(db, merchant, timestamps)
            sum_days_over(db, transit_days=TRANSIT, now=NOON - timedelta(minutes=1))
            expected = count(db, now=NOON)
            is_stored = callback_attempts.c.at < timestamps[-1]
            db.execute(delete(callback_attempts).where(is_stored))
            assert count(db, now=NOON) == expected

            db.execute(delete(callback_attempts))
            assert count_callbacks(db, now=NOON, days=1) == [DayOfCallbacks(TODAY, 2, 1)]

    def test_hours_are_kept_until_their_day_is_stored(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            happen(db, merchant, [MIDNIGHT + timedelta(hours=5)])
            found = []
            for hours in (12, 24.5, 25, 26, 30):
                now = MIDNIGHT + timedelta(hours=hours)
                sum_days_over(db, transit_days=TRANSIT, now=now)
                found.append(list(db.scalars(select(hourly_figures.c.hour))))

        assert [len(hours) for hours in found] == [11, 23, 0, 1, 5]
        assert found[1][-1] == f"{TODAY} 22"
        assert found[-1] == [f"{TODAY + DAY} 0{hour}" for hour in range(5)]

    def test_a_day_that_is_stored_while_a_chart_is_read_is_not_lost(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            happen(db, merchant, [NOON - DAY, MIDNIGHT, NOON])
            expected = count(db, now=NOON)
            sum_days_over(db, transit_days=TRANSIT, now=NOON)
            # What a reader sees who has read the days before they were stored, and the hours after.
            db.execute(delete(daily_figures).where(daily_figures.c.day == str(TODAY - DAY)))

            assert count(db, now=NOON) == expected


class TestIndexes:
    INDEXES = ("ix_ledger_days_day", "ix_shipments_shipped_at", "ix_callback_attempts_at")

    @staticmethod
    def ask(db: Connection) -> None:
        count_orders(db, now=NOON)
        count_production(db, transit_days=TRANSIT, now=NOON)
        count_callbacks(db, now=NOON)

    def test_sqlite_reads_only_the_days_that_are_shown(self, sqlite_database: Database) -> None:
        plans = explain_on_sqlite(sqlite_database, self.ask)

        steps = [line for plan in plans.values() for line in plan]
        for index in self.INDEXES:
            assert any(index in line for line in steps), (index, steps)
        tables = ("ledger_days", "shipments", "callback_attempts", "callbacks", "orders")
        assert not any(line.startswith(f"SCAN {name}") for line in steps for name in tables), steps

    def test_postgresql_reads_only_the_days_that_are_shown(self, postgresql_url: str) -> None:
        database = Database(postgresql_url)
        with database.writing() as db:
            for number in range(100):
                a_merchant(db, f"Merchant {number}")
            # Among few merchants, skipping through the key would be as good as the index of days.
            db.execute(text(MANY_DAYS))
            db.execute(text("ANALYZE ledger_days"))
        plans = explain_on_postgresql(database, self.ask, sorts=True)
        database.close()

        everything = "\n".join(plans.values())
        for index in self.INDEXES:
            assert index in everything, index
        assert "Seq Scan" not in everything


def test_the_days_of_this_test_are_those_of_a_calendar() -> None:
    assert date(2026, 11, 15) == TODAY
