"""Lists of orders: newest first, some or all of them, and never by reading the others."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, text

from printworks.actions.images.images import add_images
from printworks.actions.orders.moves import move_order
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import QualityLevel
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.engine.rows import ROWS_AT_ONCE
from printworks.store.images.images import NewImage
from printworks.store.labs.shipments import get_whole_order
from printworks.store.orders import orders as store
from printworks.store.orders.orders import Order, OrderFilter, get_order, list_orders
from printworks.store.orders.whole_orders import list_whole_orders
from tests.factories import NOON, a_merchant, a_work, a_work_of, an_order

_S = OrderStatus
CATALOGUE = open_catalogue(None)


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def add_orders(database: Database, merchant: Merchant, *references: str | None) -> list[int]:
    """Add orders with these references; return their ids, oldest first."""
    with database.writing() as db:
        return [an_order(db, merchant, merchant_order_id=each).id for each in references]


def move(database: Database, order_ids: Sequence[int], status: OrderStatus) -> None:
    with database.writing() as db:
        for order_id in order_ids:
            order = store.get_any_order_to_change(db, order_id)
            move_order(a_work_of(db, order, now=NOON), order, status)


def ids(database: Database, merchant: Merchant, **wanted: Any) -> list[int]:
    """List orders and return their ids."""
    with database.reading() as db:
        page = list_orders(
            db,
            merchant.id,
            limit=wanted.pop("limit", 100),
            start=wanted.pop("start", 0),
            wanted=OrderFilter(**wanted),
        )
    return [order.id for order in page.orders]


def test_what_the_older_versions_say_of_an_order_is_remembered(
    database: Database, merchant: Merchant
) -> None:
    said = {"is_tracked": True, "quality_level": QualityLevel.PRO, "print_country": "GB"}
    with database.writing() as db:
        made = an_order(db, merchant, **said)

    with database.reading() as db:
        order = get_order(db, merchant.id, made.id)

    assert order == made
    assert (order.is_tracked, order.quality_level, order.print_country) == (
        True,
        QualityLevel.PRO,
        "GB",
    )


def test_who_says_nothing_of_it_wants_no_tracking(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        made = an_order(db, merchant)

    with database.reading() as db:
        order = get_order(db, merchant.id, made.id)

    assert (order.is_tracked, order.quality_level, order.print_country) == (False, None, None)


class TestStatus:
    def test_only_orders_with_the_status_are_listed_newest_first(
        self, database: Database, merchant: Merchant
    ) -> None:
        first, second, third, fourth = add_orders(database, merchant, *[None] * 4)
        move(database, [second, fourth], _S.SUBMITTED)

        assert ids(database, merchant, status=_S.SUBMITTED) == [fourth, second]
        assert ids(database, merchant, status=_S.NOT_YET_SUBMITTED) == [third, first]
        assert ids(database, merchant, status=_S.COMPLETE) == []

    def test_pages_count_only_what_is_listed(self, database: Database, merchant: Merchant) -> None:
        made = add_orders(database, merchant, *[None] * 6)
        move(database, made[::2], _S.CANCELLED)

        assert ids(database, merchant, status=_S.CANCELLED, limit=2) == [made[4], made[2]]
        assert ids(database, merchant, status=_S.CANCELLED, limit=2, start=2) == [made[0]]
        assert ids(database, merchant, status=_S.CANCELLED, start=3) == []
        assert ids(database, merchant, status=_S.CANCELLED, limit=0) == []
        assert ids(database, merchant, status=_S.CANCELLED, limit=None, start=1) == [
            made[2],
            made[0],
        ]

    def test_the_total_is_that_of_all_orders(self, database: Database, merchant: Merchant) -> None:
        add_orders(database, merchant, None, None)

        with database.reading() as db:
            page = list_orders(db, merchant.id, limit=10, start=0, wanted=OrderFilter(_S.COMPLETE))

        assert (page.orders, page.total) == ([], 2)


class TestReference:
    def test_only_orders_with_the_reference_are_listed_newest_first(
        self, database: Database, merchant: Merchant
    ) -> None:
        first, _, _, again = add_orders(database, merchant, "A-1", "a-1", None, "A-1")

        assert ids(database, merchant, merchant_order_id="A-1") == [again, first]
        assert ids(database, merchant, merchant_order_id="A-1", start=1) == [first]
        assert ids(database, merchant, merchant_order_id="A") == []

    def test_both_filters_must_fit(self, database: Database, merchant: Merchant) -> None:
        cancelled, open_one, _ = add_orders(database, merchant, "A-1", "A-1", "B-2")
        move(database, [cancelled], _S.CANCELLED)

        wanted = {"merchant_order_id": "A-1"}
        assert ids(database, merchant, **wanted, status=_S.CANCELLED) == [cancelled]
        assert ids(database, merchant, **wanted, status=_S.NOT_YET_SUBMITTED) == [open_one]
        assert ids(database, merchant, **wanted, status=_S.COMPLETE) == []

    @pytest.mark.parametrize("odd", ["", "\0", "A\0", "%", "'", "\N{PILE OF POO}" * 255])
    def test_a_reference_that_nobody_has_finds_nothing(
        self, database: Database, merchant: Merchant, odd: str
    ) -> None:
        add_orders(database, merchant, "A-1", None)

        assert ids(database, merchant, merchant_order_id=odd) == []

    def test_the_longest_reference_can_be_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        longest = "\N{PILE OF POO}" * 255
        [order] = add_orders(database, merchant, longest)

        assert ids(database, merchant, merchant_order_id=longest) == [order]


def test_somebody_elses_orders_are_not_listed(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        bob = a_merchant(db, "Bob")
    add_orders(database, bob, "A-1")

    assert ids(database, merchant, merchant_order_id="A-1") == []
    assert ids(database, merchant, status=_S.NOT_YET_SUBMITTED) == []
    assert ids(database, merchant, limit=None) == []


def test_without_a_limit_all_are_listed_a_bounded_number_at_a_time(
    database: Database, merchant: Merchant
) -> None:
    made = add_orders(database, merchant, *[None] * (ROWS_AT_ONCE + 2))

    for start in (0, 1, 2, 3, ROWS_AT_ONCE, ROWS_AT_ONCE + 3):
        assert ids(database, merchant, limit=None, start=start) == made[::-1][start:]
    for limit in (1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 10 * ROWS_AT_ONCE):
        assert ids(database, merchant, limit=limit) == made[::-1][:limit]


class TestWholeOrders:
    def test_they_are_what_each_of_them_is_alone(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            for images in (2, 0, 1):
                fill(db, merchant, an_order(db, merchant), images)

        with database.reading() as db:
            listed = list_whole_orders(db, merchant.id, limit=None, start=0)
            alone = [get_whole_order(db, merchant.id, each.order.id) for each in listed]

        assert listed == alone
        assert [len(each.images) for each in listed] == [1, 0, 2]
        assert [len(each.shipments) for each in listed] == [1, 0, 1]

    def test_filters_apply(self, database: Database, merchant: Merchant) -> None:
        wanted, _ = add_orders(database, merchant, "A-1", "B-2")

        with database.reading() as db:
            [found] = list_whole_orders(
                db, merchant.id, limit=10, start=0, wanted=OrderFilter(None, "A-1")
            )

        assert found.order.id == wanted


def fill(db: Connection, merchant: Merchant, order: Order, images: int) -> None:
    """Add so many images."""
    new = [NewImage(sku="M-STI-4X6", url="https://shop.example/cat.jpg", copies=1)] * images
    add_images(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order, new)


class TestIndexes:
    @pytest.mark.parametrize(
        ("wanted", "index"),
        [
            ({"status": _S.SUBMITTED}, "ix_orders_merchant_id_status_ordinal"),
            ({"merchant_order_id": "A-1"}, "ix_orders_reference"),
            ({"merchant_order_id": "A-1", "status": _S.SUBMITTED}, "ix_orders_reference"),
        ],
    )
    def test_a_filter_reads_its_index_and_sorts_nothing(
        self, sqlite_database: Database, wanted: dict[str, Any], index: str
    ) -> None:
        statements: list[str] = []
        with sqlite_database.writing() as db:
            merchant = a_merchant(db)
            an_order(db, merchant)
        with sqlite_database.reading() as db:
            driver: Any = db.connection.dbapi_connection
            driver.set_trace_callback(statements.append)
            list_orders(db, merchant.id, limit=10, start=5, wanted=OrderFilter(**wanted))
            driver.set_trace_callback(None)
            plan = [row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {statements[-1]}")]

        assert any("listed USING" in line and index in line for line in plan), plan
        assert not any("SCAN" in line for line in plan if "orders" in line), plan
        assert not any("listed" in line and "B-TREE" in line for line in plan), plan

    @pytest.mark.parametrize(
        ("condition", "index"),
        [
            ("status = 'Submitted'", "ix_orders_merchant_id_status_ordinal"),
            ("merchant_order_id = 'A-1'", "ix_orders_reference"),
        ],
    )
    def test_postgresql_finds_a_page_in_the_same_indexes(
        self, postgresql_database: Database, condition: str, index: str
    ) -> None:
        with postgresql_database.writing() as db:
            # There are too few rows for it to be worth while by itself.
            db.execute(text("SET LOCAL enable_seqscan = off"))
            db.execute(text("SET LOCAL enable_bitmapscan = off"))
            db.execute(text("SET LOCAL enable_sort = off"))
            rows = db.execute(
                text(
                    "EXPLAIN SELECT ordinal FROM orders WHERE merchant_id = 1 AND "
                    f"ordinal <= 1000 AND {condition} ORDER BY ordinal DESC LIMIT 10 OFFSET 5"
                )
            )
            plan = "\n".join(row[0] for row in rows)

        assert index in plan
        assert "Sort" not in plan
