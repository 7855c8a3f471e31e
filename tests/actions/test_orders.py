"""An order moves along the table, whatever is tried and by however many at once."""

import threading
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import Connection

from printworks.actions.images.packing_slips import record_packing_slip_status
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.orders import cancel_order, change_order
from printworks.catalogue.opening import open_catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.events import OrderChanged, OrderCreated, OrderMoved
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import MOVES, OrderStatus
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.orders.events import list_events
from printworks.store.orders.orders import Order, get_order
from printworks.store.views.console.jobs import JobFilter, get_job, list_jobs
from tests.factories import NOON, a_merchant, a_work, a_work_of, an_order

_S = OrderStatus
CATALOGUE = open_catalogue(None)


@pytest.fixture
def order(database: Database) -> Order:
    with database.writing() as db:
        return an_order(db, a_merchant(db))


def merchant_of(db: Connection, order: Order) -> Merchant:
    return get_merchant(db, order.merchant_id)


def read(database: Database, order: Order) -> Order:
    with database.reading() as db:
        return get_order(db, order.merchant_id, order.id)


def events(database: Database, order: Order) -> list[Any]:
    with database.reading() as db:
        return list_events(db, order.id)


def test_every_change_is_recorded(database: Database, order: Order) -> None:
    with database.writing() as db:
        changed = change_order(
            a_work(db, merchant_of(db, order), now=NOON, catalogue=CATALOGUE),
            order,
            {"recipient_name": "Tom Fox", "address1": "x"},
        )
        cancel_order(a_work(db, merchant_of(db, changed), now=NOON, catalogue=CATALOGUE), changed)

    assert events(database, order) == [
        OrderCreated(_S.NOT_YET_SUBMITTED, None),
        OrderChanged(["address1", "recipient_name"]),
        OrderMoved(_S.NOT_YET_SUBMITTED, _S.CANCELLED, None),
    ]


def test_a_change_that_changes_nothing_leaves_no_trace(database: Database, order: Order) -> None:
    later = NOON + timedelta(hours=1)
    with database.writing() as db:
        change_order(
            a_work(db, merchant_of(db, order), now=later, catalogue=CATALOGUE),
            order,
            {"recipient_name": order.recipient_name},
        )

    assert read(database, order) == order
    assert len(events(database, order)) == 1


def test_the_file_of_a_packing_slip_goes_when_another_takes_its_place(database: Database) -> None:
    old, new = "https://shop.example/old.png", "https://shop.example/new.png"
    with database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant, packing_slip_url=old)
        slip = find_packing_slip(db, order.id)
        assert slip is not None
        work = a_work(db, merchant, catalogue=CATALOGUE)
        received = {"status": ImageStatus.OK, "file": "slips/1.png"}
        record_packing_slip_status(work, slip, received)

        change_order(work, order, {"packing_slip_url": new})

        [removal] = list_jobs(db, JobFilter(kind=JobKind.REMOVE_FILES), limit=9)
        assert get_job(db, removal.id).args == {"files": ["slips/1.png"]}
        wanted = find_packing_slip(db, order.id)
        assert wanted is not None
        assert (wanted.url, wanted.file) == (new, None)


def test_a_lost_race_leaves_no_trace(database: Database, order: Order) -> None:
    with database.writing() as db:
        move_order(a_work_of(db, order, now=NOON), order, _S.SUBMITTED)

    with pytest.raises(WrongState, match="has just changed"), database.writing() as db:
        move_order(a_work_of(db, order, now=NOON), order, _S.CANCELLED)
    with pytest.raises(WrongState, match="has just changed"), database.writing() as db:
        change_order(
            a_work(db, merchant_of(db, order), now=NOON, catalogue=CATALOGUE),
            order,
            {"address1": "x"},
        )

    assert read(database, order).status is _S.SUBMITTED
    assert len(events(database, order)) == 2


def test_ordinals_have_no_gaps_even_after_a_refusal(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        an_order(db, merchant)
    with pytest.raises(BadInput), database.writing() as db:
        refuse_after_all(an_order(db, merchant))
    with database.writing() as db:
        an_order(db, merchant)

    with database.reading() as db:
        ordinals = db.exec_driver_sql("SELECT ordinal FROM orders ORDER BY id").scalars().all()
        total = db.exec_driver_sql("SELECT order_count FROM merchants").scalar_one()
    assert ordinals == [1, 2]
    assert total == 2


def refuse_after_all(order: Order) -> None:
    message = f"No order {order.id} after all."
    raise BadInput(message)


def at_once(count: int, work: Callable[[], None]) -> None:
    start = threading.Barrier(count)

    def wait_and_work() -> None:
        start.wait()
        work()

    threads = [threading.Thread(target=wait_and_work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check_history(database: Database, order: Order) -> None:
    """Fail unless the events tell an unbroken way along the table to where the order is."""
    moves = [event for event in events(database, order) if isinstance(event, OrderMoved)]
    way = [_S.NOT_YET_SUBMITTED, *(move.status for move in moves)]
    assert all(then in MOVES[now] for now, then in pairwise(way))
    assert [move.was for move in moves] == way[:-1]
    assert read(database, order).status is way[-1]


def test_of_eight_who_submit_at_once_one_succeeds(database: Database, order: Order) -> None:
    outcomes: list[str] = []

    def submit() -> None:
        try:
            with database.writing() as db:
                found = get_order(db, order.merchant_id, order.id)
                move_order(a_work_of(db, found, now=NOON), found, _S.SUBMITTED)
            outcomes.append("moved")
        except WrongState:
            outcomes.append("refused")

    at_once(8, submit)

    assert sorted(outcomes) == ["moved"] + ["refused"] * 7
    check_history(database, order)


def test_eight_who_try_every_move_at_once_never_break_the_table(
    database: Database, order: Order
) -> None:
    def try_everything() -> None:
        for wanted in (_S.AWAITING_PAYMENT, _S.NOT_YET_SUBMITTED, _S.SUBMITTED, *_S):
            try:
                with database.writing() as db:
                    found = get_order(db, order.merchant_id, order.id)
                    move_order(a_work_of(db, found, now=NOON), found, wanted)
            except WrongState:
                continue

    at_once(8, try_everything)

    check_history(database, order)
    assert not MOVES[read(database, order).status] - {_S.CANCELLED, _S.COMPLETE}


def test_eight_who_create_at_once_get_one_place_each(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)

    def create() -> None:
        for _ in range(5):
            with database.writing() as db:
                an_order(db, merchant)

    at_once(8, create)

    with database.reading() as db:
        ordinals = db.exec_driver_sql("SELECT ordinal FROM orders").scalars().all()
    assert sorted(ordinals) == list(range(1, 41))


class Life(RuleBasedStateMachine):
    """An order on which anything is tried; the model is the table."""

    database: ClassVar[Database]

    def __init__(self) -> None:
        super().__init__()
        with self.database.writing() as db:
            self.order = an_order(db, a_merchant(db))
        self.expected = _S.NOT_YET_SUBMITTED
        self.stale = self.order

    @rule(wanted=st.sampled_from(OrderStatus), from_stale=st.booleans())
    def move(self, wanted: OrderStatus, from_stale: bool) -> None:
        """Try to move the order, perhaps knowing only an old state of it."""
        known = self.stale if from_stale else read(self.database, self.order)
        possible = known.status is self.expected and wanted in MOVES[self.expected]
        try:
            with self.database.writing() as db:
                move_order(a_work_of(db, known, now=NOON), known, wanted)
        except WrongState:
            assert not possible
        else:
            assert possible
            self.expected = wanted

    @rule()
    def remember(self) -> None:
        """Read the order, to act on it later."""
        self.stale = read(self.database, self.order)

    @rule(name=st.text("abc", max_size=3))
    def change(self, name: str) -> None:
        """Try to change the order."""
        found = read(self.database, self.order)
        try:
            with self.database.writing() as db:
                change_order(
                    a_work(db, merchant_of(db, found), now=NOON, catalogue=CATALOGUE),
                    found,
                    {"recipient_name": name},
                )
        except WrongState:
            assert self.expected is not _S.NOT_YET_SUBMITTED
        else:
            assert self.expected is _S.NOT_YET_SUBMITTED

    @invariant()
    def the_order_is_where_the_table_leads(self) -> None:
        """Hold the order and its history against the model."""
        assert read(self.database, self.order).status is self.expected
        check_history(self.database, self.order)


@pytest.mark.slow
def test_random_histories_agree_with_the_table(database: Database) -> None:
    life = type("Life", (Life,), {"database": database})

    run_state_machine_as_test(
        life,
        settings=settings(
            max_examples=40,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
