"""What labs have before them: listed by age, counted by lab, and never by reading the rest."""

from typing import Any

import pytest
from sqlalchemy import Connection

from printworks.rules.production import LabState
from printworks.store.accounts.merchants import Merchant
from printworks.store.catalogue.versions import list_busy_labs
from printworks.store.engine.database import Database
from printworks.store.views.console.labs import QueueCount, count_queue, list_queue
from tests.factories import NOON, a_merchant
from tests.store.plans import explain_on_postgresql, explain_on_sqlite
from tests.store.rows import add_shipment

_S = LabState
OPEN = (_S.OFFERED, _S.ACCEPTED, _S.IN_PRODUCTION, _S.FAILED)


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def add(database: Database, merchant: Merchant, **values: Any) -> int:
    with database.writing() as db:
        return add_shipment(db, merchant, **values)


def numbers(database: Database, **wanted: Any) -> list[int]:
    """List the queue, and return the numbers of the shipments."""
    with database.reading() as db:
        return [shipment.id for shipment in list_queue(db, **{"limit": 100, **wanted}).shipments]


def test_a_shipment_says_what_an_operator_must_know(database: Database, merchant: Merchant) -> None:
    said = {
        "state": _S.FAILED,
        "lab": "paris",
        "service": "courier",
        "copies": 7,
        "earliest_arrival": "2026-11-20",
        "latest_arrival": "2026-11-23",
        "sent_at": NOON,
        "held_because": "The lab printed another file.",
        "reason": "Out of paper.",
        "created_at": NOON,
    }
    number = add(database, merchant, **said)

    with database.reading() as db:
        [found] = list_queue(db, limit=10).shipments

    assert {name: getattr(found, name) for name in said} == said
    assert (found.id, found.merchant_id, found.merchant) == (number, merchant.id, "Alice")
    assert found.order_id > 0


def test_only_what_is_open_is_listed_oldest_first(database: Database, merchant: Merchant) -> None:
    by_state = {state: add(database, merchant, state=state) for state in [*_S, None]}

    assert numbers(database) == sorted(by_state[state] for state in OPEN)


def test_it_is_listed_by_lab_and_state(database: Database, merchant: Merchant) -> None:
    here = add(database, merchant, lab="london", state=_S.ACCEPTED)
    there = add(database, merchant, lab="paris", state=_S.ACCEPTED)
    later = add(database, merchant, lab="paris", state=_S.OFFERED)

    assert numbers(database, lab="paris") == [there, later]
    assert numbers(database, state=_S.ACCEPTED) == [here, there]
    assert numbers(database, lab="paris", state=_S.ACCEPTED) == [there]
    assert numbers(database, lab="rome") == []
    assert numbers(database, state=_S.DISPATCHED) == []


def test_pages_follow_each_other_until_the_last(database: Database, merchant: Merchant) -> None:
    made = [add(database, merchant) for _ in range(3)]

    with database.reading() as db:
        first = list_queue(db, limit=2)
        second = list_queue(db, limit=2, after=first.next or 0)

    assert [shipment.id for shipment in first.shipments] == made[:2]
    assert first.next == made[1]
    assert [shipment.id for shipment in second.shipments] == made[2:]
    assert second.next is None


def test_shipments_and_copies_are_counted_by_lab_and_state(
    database: Database, merchant: Merchant
) -> None:
    for lab, state, copies in (
        ("london", _S.OFFERED, 2),
        ("london", _S.OFFERED, 3),
        ("london", _S.FAILED, 5),
        ("paris", _S.ACCEPTED, 7),
        ("paris", _S.DISPATCHED, 11),
    ):
        add(database, merchant, lab=lab, state=state, copies=copies)

    with database.reading() as db:
        counts = count_queue(db)

    assert sorted(counts, key=lambda count: (count.lab, count.shipments)) == [
        QueueCount("london", _S.FAILED, 1, 5),
        QueueCount("london", _S.OFFERED, 2, 5),
        QueueCount("paris", _S.ACCEPTED, 1, 7),
    ]


def ask(db: Connection) -> None:
    list_queue(db, limit=10)
    list_queue(db, lab="london", state=_S.OFFERED, after=5, limit=10)
    count_queue(db)
    list_busy_labs(db)


class TestIndexes:
    def test_sqlite_reads_only_what_is_open(self, sqlite_database: Database) -> None:
        with sqlite_database.writing() as db:
            add_shipment(db, a_merchant(db))

        for statement, plan in explain_on_sqlite(sqlite_database, ask).items():
            steps = [line for line in plan if line.startswith(("SCAN", "SEARCH"))]
            # What is open, or rows by their numbers.
            assert all("ix_shipments_open" in line or "rowid=?" in line for line in steps), (
                statement,
                plan,
            )

    def test_postgresql_reads_only_what_is_open(self, postgresql_database: Database) -> None:
        with postgresql_database.writing() as db:
            add_shipment(db, a_merchant(db))

        plans = explain_on_postgresql(postgresql_database, ask, sorts=True)

        assert plans
        for statement, plan in plans.items():
            assert "Seq Scan" not in plan, (statement, plan)
            assert "ix_shipments_open" in plan or "(id = " in plan, (statement, plan)
