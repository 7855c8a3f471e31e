"""Orders of all merchants are found by small steps, however many there are."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from printworks.errors import NotFound
from printworks.store.engine.database import Database
from printworks.store.orders.orders import update_order
from printworks.store.views.console.orders import (
    get_any_order,
    list_any_orders,
    list_problem_orders,
)
from tests.factories import NOON, a_merchant, an_order
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

Ask = Callable[[Connection], object]


def held(db: Connection) -> object:
    return list_problem_orders(db, is_held=True, before=99, limit=5)


def stuck(db: Connection) -> object:
    return list_problem_orders(db, is_held=False, before=None, limit=5)


def newest(db: Connection) -> object:
    return list_any_orders(db, before=99, limit=5)


def test_they_are_listed_and_found_across_merchants(database: Database) -> None:
    with database.writing() as db:
        first, second, third = (an_order(db, a_merchant(db)) for _ in range(3))
        update_order(db, second, {"held_at": NOON})

        def ids(found: object) -> list[int]:
            assert isinstance(found, list)
            return [order.id for order in found]

        assert ids(list_any_orders(db, before=None, limit=2)) == [third.id, second.id]
        assert ids(list_any_orders(db, before=second.id, limit=2)) == [first.id]
        assert ids(held(db)) == [second.id]
        assert ids(stuck(db)) == []
        assert get_any_order(db, first.id) == first
        with pytest.raises(NotFound):
            get_any_order(db, 2**64)


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (held, "ix_orders_troubled"),
        (stuck, "ix_orders_troubled"),
        (newest, "INTEGER PRIMARY KEY"),
    ],
)
def test_sqlite_reads_an_index(sqlite_database: Database, ask: Ask, index: str) -> None:
    with sqlite_database.writing() as db:
        an_order(db, a_merchant(db))

    statement, *_ = explain_on_sqlite(sqlite_database, ask).values()

    assert any("orders" in line and index in line for line in statement), statement
    assert "SCAN orders" not in statement, statement


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (held, "ix_orders_troubled"),
        (stuck, "ix_orders_troubled"),
        (newest, "pk_orders"),
    ],
)
def test_postgresql_reads_an_index(postgresql_database: Database, ask: Ask, index: str) -> None:
    plan, *_ = explain_on_postgresql(postgresql_database, ask, sorts=True).values()

    assert index in plan, plan
    assert "Seq Scan on orders" not in plan, plan
