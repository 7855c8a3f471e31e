"""Lists of orders: newest first, some or all of them, and never by reading the others."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from printworks.actions.images.images import add_images
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.orders import create_order
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import QualityLevel
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.engine.rows import ROWS_AT_ONCE
from printworks.store.images.images import NewImage
from printworks.store.orders import filters
from printworks.store.orders import orders as store
from printworks.store.orders.filters import (
    EVERY_ORDER,
    OrderFilter,
    count_filtered_orders,
    list_filtered_orders,
)
from printworks.store.orders.orders import Order, get_order
from printworks.store.orders.pages import list_orders, list_sized_orders
from printworks.store.orders.shipments import get_whole_order
from printworks.store.orders.whole_orders import complete_orders, list_some_orders
from tests.factories import (
    NOON,
    a_merchant,
    a_new_order,
    a_work,
    a_work_of,
    an_order,
    plan_shipments,
)
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

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
    limit, start = wanted.pop("limit", 100), wanted.pop("start", 0)
    with database.reading() as db:
        if not wanted:
            page = list_orders(db, merchant.id, limit=limit, start=start).orders
        else:
            fits = OrderFilter(**wanted)
            page = list_filtered_orders(db, merchant.id, fits, limit=limit, start=start)
            count = count_filtered_orders(db, merchant.id, fits, limit=limit, start=start)
            every = list_filtered_orders(db, merchant.id, fits, limit=1000, start=0)
            assert count == len(every)
    return [order.id for order in page]


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

    def test_no_more_are_counted_than_a_program_needs_to_go_on(
        self, database: Database, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(filters, "COUNTED_AHEAD", 2)
        add_orders(database, merchant, *[None] * 6)
        fits = OrderFilter(_S.NOT_YET_SUBMITTED)

        with database.reading() as db:
            counts = [
                count_filtered_orders(db, merchant.id, fits, limit=1, start=start)
                for start in range(8)
            ]

        assert counts == [3, 4, 5, 6, 6, 6, 6, 6]


class TestDays:
    @pytest.fixture
    def made(self, database: Database, merchant: Merchant) -> list[int]:
        """Orders of five days, the last two of which were numbered the wrong way round."""
        made = []
        with database.writing() as db:
            for minutes in (0, 1440, 2880, 4325, 4320):
                at = NOON + timedelta(minutes=minutes)
                work = a_work(db, merchant, now=at)
                made.append(create_order(work, a_new_order(merchant_order_id="A-1")).id)
        move(database, made[::2], _S.CANCELLED)
        return made

    @pytest.mark.parametrize("also", [{}, {"merchant_order_id": "A-1"}])
    def test_only_orders_of_these_days_are_listed(
        self, database: Database, merchant: Merchant, made: list[int], also: dict[str, Any]
    ) -> None:
        day, end = timedelta(days=1), NOON + timedelta(minutes=4322)
        first, second, third, fifth, fourth = made

        def found(**wanted: Any) -> list[int]:
            return ids(database, merchant, **wanted, **also)

        assert found(created_from=NOON) == [fourth, fifth, third, second, first]
        assert found(created_from=NOON + day) == [fourth, fifth, third, second]
        assert found(created_before=NOON + day) == [first]
        assert found(created_from=NOON + day, created_before=end) == [fourth, third, second]
        assert found(created_from=end) == [fifth]
        assert found(created_from=NOON, limit=2, start=2) == [third, second]
        assert found(created_from=NOON + 9 * day) == []
        assert found(created_before=NOON - 9 * day) == []

    def test_all_filters_must_fit(
        self, database: Database, merchant: Merchant, made: list[int]
    ) -> None:
        wanted = {"created_from": NOON + timedelta(days=1), "status": _S.CANCELLED}

        assert ids(database, merchant, **wanted) == [made[4], made[2]]
        assert ids(database, merchant, **wanted, start=1) == [made[2]]
        assert ids(database, merchant, **wanted, merchant_order_id="A-1") == [made[4], made[2]]
        assert ids(database, merchant, **wanted, merchant_order_id="B-2") == []

    def test_the_beginning_and_the_end_of_time_will_do(
        self, database: Database, merchant: Merchant, made: list[int]
    ) -> None:
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

        assert len(ids(database, merchant, created_from=first, created_before=last)) == len(made)
        assert ids(database, merchant, created_from=last, status=_S.CANCELLED) == []


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
    assert ids(database, merchant) == []
    with database.reading() as db:
        assert list_sized_orders(db, merchant.id, newest=1) == []


def test_all_orders_can_be_walked_a_bounded_number_at_a_time(
    database: Database, merchant: Merchant
) -> None:
    made = add_orders(database, merchant, *[None] * (ROWS_AT_ONCE + 2))
    with database.writing() as db:
        fill(db, merchant, get_order(db, merchant.id, made[-1]), 3)

    with database.reading() as db:
        first = list_sized_orders(db, merchant.id, newest=len(made))
        rest = list_sized_orders(db, merchant.id, newest=len(made) - ROWS_AT_ONCE)

    assert [order.id for order in [*first, *rest]] == made[::-1]
    assert [order.images for order in [*first, *rest]] == [3, *[0] * (len(made) - 1)]
    for limit, start in ((1, 0), (250, 1), (10, ROWS_AT_ONCE), (10, ROWS_AT_ONCE + 3), (0, 0)):
        assert ids(database, merchant, limit=limit, start=start) == made[::-1][start:][:limit]


class TestWholeOrders:
    def test_they_are_what_each_of_them_is_alone(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            for images in (2, 0, 1):
                fill(db, merchant, an_order(db, merchant), images)

        with database.reading() as db:
            some = list_some_orders(db, merchant.id, EVERY_ORDER, limit=9, start=0)
            listed = complete_orders(db, some)
            page = complete_orders(
                db, list_some_orders(db, merchant.id, EVERY_ORDER, limit=2, start=1)
            )
            alone = [get_whole_order(db, merchant.id, each.order.id) for each in listed]

        assert listed == alone
        assert page == listed[1:3]
        assert [len(each.images) for each in listed] == [1, 0, 2]
        assert [len(each.shipments) for each in listed] == [1, 0, 1]

    def test_filters_apply(self, database: Database, merchant: Merchant) -> None:
        wanted, _ = add_orders(database, merchant, "A-1", "B-2")

        with database.reading() as db:
            [found] = list_some_orders(db, merchant.id, OrderFilter(None, "A-1"), limit=10, start=0)

        assert found.id == wanted


def fill(db: Connection, merchant: Merchant, order: Order, images: int) -> None:
    """Add so many images."""
    new = [NewImage(sku="M-STI-4X6", url="https://shop.example/cat.jpg", copies=1)] * images
    work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)
    add_images(work, order, new)
    plan_shipments(work, order.id)


BY_DAY, BY_STATUS = (
    "ix_orders_merchant_id_created_at_ordinal",
    "ix_orders_merchant_id_status_ordinal",
)
PLANS = [
    ({"status": _S.SUBMITTED}, BY_STATUS),
    ({"status": _S.SUBMITTED, "created_from": NOON}, BY_STATUS),
    ({"status": _S.SUBMITTED, "created_before": NOON}, BY_STATUS),
    ({"created_from": NOON, "created_before": NOON}, BY_DAY),
    ({"merchant_order_id": "A-1"}, "ix_orders_reference"),
    ({"merchant_order_id": "A-1", "status": _S.SUBMITTED}, "ix_orders_reference"),
    (
        {"merchant_order_id": "A-1", "status": _S.SUBMITTED, "created_from": NOON},
        "ix_orders_reference",
    ),
]


class TestIndexes:
    @pytest.mark.parametrize(("wanted", "index"), PLANS)
    def test_a_filter_reads_its_index_and_sorts_nothing(
        self, sqlite_database: Database, wanted: dict[str, Any], index: str
    ) -> None:
        with sqlite_database.writing() as db:
            merchant = a_merchant(db)
            an_order(db, merchant)

        plans = explain_on_sqlite(sqlite_database, lambda db: ask(db, merchant, **wanted))

        for plan in [plan for statement, plan in plans.items() if "listed" in statement]:
            assert any("listed USING" in line and index in line for line in plan), plan
            assert not any("SCAN" in line for line in plan if "orders" in line), plan
            assert not any("listed" in line and "B-TREE" in line for line in plan), plan

    @pytest.mark.parametrize(("wanted", "index"), PLANS)
    def test_postgresql_finds_a_page_in_the_same_indexes(
        self, postgresql_database: Database, wanted: dict[str, Any], index: str
    ) -> None:
        with postgresql_database.writing() as db:
            merchant = a_merchant(db)
            an_order(db, merchant)

        plans = explain_on_postgresql(postgresql_database, lambda db: ask(db, merchant, **wanted))

        filtered = [plan for statement, plan in plans.items() if "listed" in statement]
        assert len(filtered) == 2
        for plan in filtered:
            assert index in plan, plan


def ask(db: Connection, merchant: Merchant, **wanted: Any) -> None:
    """List and count orders."""
    fits = OrderFilter(**wanted)
    list_filtered_orders(db, merchant.id, fits, limit=10, start=5)
    count_filtered_orders(db, merchant.id, fits, limit=10, start=5)
