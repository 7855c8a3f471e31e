"""A page of a statement reads its own lines, however long the month is."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection

from printworks.store.engine.database import Database
from printworks.store.money.statements import StatementPeriod, list_statement, sum_statement
from tests.factories import NOON, a_merchant
from tests.store import rows
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

MONTH = StatementPeriod(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
INDEX = "ix_ledger_entries_merchant_id_created_at_number"


@pytest.mark.parametrize("before", [None, 2])
def test_sqlite_neither_sorts_nor_reads_the_month(
    sqlite_database: Database, before: int | None
) -> None:
    def ask(db: Connection) -> None:
        list_statement(db, 1, MONTH, before=before, limit=25)

    *_, steps = explain_on_sqlite(sqlite_database, ask).values()

    assert any(INDEX in line for line in steps), steps
    assert not any("TEMP B-TREE" in line for line in steps), steps


@pytest.mark.parametrize("before", [None, 2])
def test_postgresql_neither_sorts_nor_reads_the_month(
    postgresql_database: Database, before: int | None
) -> None:
    def ask(db: Connection) -> None:
        list_statement(db, 1, MONTH, before=before, limit=25)

    *_, plan = explain_on_postgresql(postgresql_database, ask).values()

    assert INDEX in plan
    assert "Sort" not in plan


def test_totals_are_those_of_the_days_and_lines_are_in_the_order_of_time(
    database: Database,
) -> None:
    times = [NOON, NOON.replace(month=12), NOON.replace(hour=1), NOON, NOON.replace(day=1)]
    with database.writing() as db:
        merchant = a_merchant(db)
        for amount, at in enumerate(times, start=1):
            rows.add_charge(db, merchant, amount, at=at)
        shown = list_statement(db, merchant.id, MONTH, before=None, limit=9)
        pages = [
            list_statement(db, merchant.id, MONTH, before=before, limit=1)[0].number
            for before in (999, 4, 1, 3)
        ]
        totals = sum_statement(db, merchant.id, MONTH)

    assert [(line.number, line.balance) for line in shown] == [(4, 10), (1, 1), (3, 6), (5, 15)]
    assert pages == [4, 1, 3, 5]
    assert totals == {"GBP": {"charge": 1 + 3 + 4 + 5}}


def test_totals_of_two_currencies_are_not_added_up(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        rows.add_charge(db, merchant, 100, at=NOON, currency="GBP")
        rows.add_charge(db, merchant, 7, at=NOON, currency="EUR")

        totals = sum_statement(db, merchant.id, MONTH)

    assert totals == {"EUR": {"charge": 7}, "GBP": {"charge": 100}}
