"""Whatever is looked for, finding orders costs the same in a large shop as in a small one."""

import pytest
from sqlalchemy import text

from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.orders.filters import count_orders
from printworks.store.orders.search import MOST_ALIKE, OrderSearch, search_orders
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


@pytest.mark.parametrize("way", WAYS)
class TestIndexes:
    """Each statement is bounded by its index: it ends there, or at its limit in that order."""

    def add_alike(self, database: Database) -> Merchant:
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

    @pytest.mark.parametrize("is_analysed", [False, True])
    def test_sqlite_scans_and_sorts_nothing(
        self, sqlite_database: Database, way: str, is_analysed: bool
    ) -> None:
        merchant = self.add_alike(sqlite_database)
        if is_analysed:
            with sqlite_database.writing() as db:
                db.execute(text("ANALYZE"))
        plans = explain_on_sqlite(
            sqlite_database,
            lambda db: search_orders(db, merchant.id, WAYS[way], before=None, limit=20),
        )

        assert plans
        for statement, plan in plans.items():
            # What was found is counted afterwards; parcels and lists of numbers are read first.
            steps = [line for line in plan if line not in BESIDE]
            assert all(line.startswith("SEARCH") for line in steps), (statement, plan)
        if way in SQLITE_INDEXES:
            used = "\n".join(line for plan in plans.values() for line in plan)
            for index in SQLITE_INDEXES[way]:
                assert index in used

    def test_counting_reads_no_more(
        self, sqlite_database: Database, postgresql_database: Database, way: str
    ) -> None:
        merchant = self.add_alike(sqlite_database)
        plans = explain_on_sqlite(
            sqlite_database, lambda db: count_orders(db, merchant.id, WAYS[way])
        )
        counted = {"CO-ROUTINE counted", "SCAN counted"}
        for statement, plan in plans.items():
            steps = [line for line in plan if line not in BESIDE | counted]
            assert all(line.startswith("SEARCH") for line in steps), (statement, plan)
            # Not all orders of the merchant.
            assert not any(line.endswith("(merchant_id=?)") for line in steps), (statement, plan)
        merchant = self.add_alike(postgresql_database)
        explained = explain_on_postgresql(
            postgresql_database, lambda db: count_orders(db, merchant.id, WAYS[way])
        )
        assert not any("Seq Scan" in plan for plan in explained.values()), explained

    def test_postgresql_reads_in_the_order_of_an_index(
        self, postgresql_database: Database, way: str
    ) -> None:
        merchant = self.add_alike(postgresql_database)
        plans = explain_on_postgresql(
            postgresql_database,
            lambda db: search_orders(db, merchant.id, WAYS[way], before=None, limit=20),
        )

        assert plans
        for plan in plans.values():
            assert "Seq Scan" not in plan, plan
            assert "Sort" not in plan, plan
            assert "Index" in plan, plan


BESIDE = {
    *("CO-ROUTINE found", "SCAN found", "LIST SUBQUERY 1", "USE TEMP B-TREE FOR DISTINCT"),
    "SCAN json_each VIRTUAL TABLE INDEX 1:",
}
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
