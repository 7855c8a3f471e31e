"""Whatever is looked for, finding orders costs the same in a large shop as in a small one."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import text

from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.orders.filters import count_orders
from printworks.store.orders.search import MOST_ALIKE, OrderSearch, search_orders
from tests.conftest import Copies
from tests.factories import NOON, a_merchant
from tests.store.plans import explain_on_postgresql, explain_on_sqlite
from tests.store.rows import add_orders

_S = OrderStatus
TODAY = NOON.date()

WAYS = {
    "all": OrderSearch(),
    "status": OrderSearch(status=_S.SUBMITTED),
    "days": OrderSearch(from_day=TODAY, to_day=TODAY),
    "days and status": OrderSearch(from_day=TODAY, to_day=TODAY, status=_S.SUBMITTED),
    "text": OrderSearch(text="1"),
    "text and status": OrderSearch(text="1", status=_S.SUBMITTED),
    "text and days": OrderSearch(text="1", from_day=TODAY, to_day=TODAY),
    "everything": OrderSearch(text="1", from_day=TODAY, to_day=TODAY, status=_S.SUBMITTED),
    "product": OrderSearch(text="A-1", sku="X"),
    "common text": OrderSearch(text="A"),
    "common text and everything": OrderSearch(
        text="A", from_day=TODAY, to_day=TODAY, status=_S.SUBMITTED
    ),
}


class Shop(NamedTuple):
    """A database, and a merchant in it whose orders look all alike, as many as there may be."""

    database: Database
    merchant: Merchant


# What is explained changes nothing, and to add so many orders takes a second.
@pytest.fixture(scope="module", params=[False, True], ids=["new", "analysed"])
def on_sqlite(
    request: pytest.FixtureRequest, migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """A shop in SQLite, which knows how the values are spread, or does not yet."""
    path = tmp_path_factory.mktemp("plans") / "printworks.db"
    shutil.copyfile(migrated_file, path)
    database = Database(f"sqlite:///{path}")
    shop = Shop(database, add_alike(database))
    if request.param:
        with database.writing() as db:
            db.execute(text("ANALYZE"))
    yield shop
    database.close()


@pytest.fixture(scope="module")
def on_postgresql(postgresql_copies: Copies) -> Iterator[Shop]:
    """A shop in PostgreSQL."""
    with postgresql_copies() as url:
        database = Database(url)
        yield Shop(database, add_alike(database))
        database.close()


def add_alike(database: Database) -> Merchant:
    rows = [
        {
            "merchant_order_id": f"A-{n}",
            "recipient_name": "A 1",
            "town_or_city": "A 1",
            "image_count": 1,
        }
        for n in range(MOST_ALIKE + 1)
    ]
    with database.writing() as db:
        merchant, other = a_merchant(db), a_merchant(db)
        add_orders(db, merchant, rows)
        # Without them it would be as quick to read everything.
        add_orders(db, other, [{"recipient_name": "B 2"}] * 4000)
    return merchant


@pytest.mark.parametrize("way", WAYS)
class TestIndexes:
    """Each statement is bounded by its index: it ends there, or at its limit in that order."""

    def test_sqlite_scans_and_sorts_nothing(self, on_sqlite: Shop, way: str) -> None:
        plans = explain_on_sqlite(
            on_sqlite.database,
            lambda db: search_orders(db, on_sqlite.merchant.id, WAYS[way], before=None, limit=20),
        )

        assert plans
        for statement, plan in plans.items():
            steps = [line for line in plan if not BESIDE.fullmatch(line)]
            assert all(line.startswith("SEARCH") for line in steps), (statement, plan)
        if way in SQLITE_INDEXES:
            used = "\n".join(line for plan in plans.values() for line in plan)
            for index in SQLITE_INDEXES[way]:
                assert index in used

    def test_counting_reads_no_more_on_sqlite(self, on_sqlite: Shop, way: str) -> None:
        plans = explain_on_sqlite(
            on_sqlite.database, lambda db: count_orders(db, on_sqlite.merchant.id, WAYS[way])
        )
        for statement, plan in plans.items():
            steps = [line for line in plan if not BESIDE.fullmatch(line)]
            assert all(line.startswith("SEARCH") for line in steps), (statement, plan)
            # Not all orders of the merchant.
            assert not any(line.endswith("(merchant_id=?)") for line in steps), (statement, plan)

    def test_counting_reads_no_more_on_postgresql(self, on_postgresql: Shop, way: str) -> None:
        explained = explain_on_postgresql(
            on_postgresql.database,
            lambda db: count_orders(db, on_postgresql.merchant.id, WAYS[way]),
        )
        assert explained
        assert not any("Seq Scan" in plan for plan in explained.values()), explained

    def test_postgresql_reads_in_the_order_of_an_index(self, on_postgresql: Shop, way: str) -> None:
        merchant = on_postgresql.merchant
        plans = explain_on_postgresql(
            on_postgresql.database,
            lambda db: search_orders(db, merchant.id, WAYS[way], before=None, limit=20),
        )

        assert plans
        for plan in plans.values():
            assert "Seq Scan" not in plan, plan
            assert "Sort" not in plan, plan
            assert "Index" in plan, plan


# What was found is listed or counted afterwards; shipments and lists of numbers are read first.
BESIDE = re.compile(
    r"(CO-ROUTINE|SCAN) (found|counted|sent)|(LIST|SCALAR|CORRELATED SCALAR) SUBQUERY \d+|SCAN CONSTANT ROW"
    r"|SCAN json_each VIRTUAL TABLE INDEX 1:|USE TEMP B-TREE FOR DISTINCT"
)
SQLITE_INDEXES = {
    "status": ["ix_orders_merchant_id_status_ordinal (merchant_id=? AND (status,ordinal)>(?,?)"],
    "days": ["ix_orders_merchant_id_created_at", "orders_1 (merchant_id=? AND ordinal>?"],
    "text": [
        *("ix_orders_reference", "ix_orders_recipient", "INTEGER PRIMARY KEY"),
        "INDEX ix_orders_town (merchant_id=? AND town_key>?",
        "ix_shipments_tracking (tracking_number=?)",
    ],
    "product": ["ix_images_order_id (order_id=?)"],
    "common text": [
        "COVERING INDEX ix_orders_reference (merchant_id=? AND merchant_order_id>?",
        "COVERING INDEX ix_orders_recipient (merchant_id=? AND recipient_key>?",
    ],
}


def test_what_is_looked_up_by_its_beginning_is_sorted_by_bytes(
    postgresql_database: Database,
) -> None:
    with postgresql_database.reading() as db:
        rows = db.execute(
            text("""
            SELECT column_name, collation_name FROM information_schema.columns
            WHERE table_name = 'orders'
                AND column_name IN ('merchant_order_id', 'recipient_key', 'town_key')
            """)
        ).all()

    # In the order of a dictionary, what begins alike need not lie together.
    assert {tuple(row) for row in rows} == {
        ("merchant_order_id", "C"),
        ("recipient_key", "C"),
        ("town_key", "C"),
    }
