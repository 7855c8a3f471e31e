"""An open order keeps its price for a while; nothing is charged that was not shown."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from printworks.actions.orders.plans import get_planned_order, look_at_order, look_at_orders
from printworks.actions.orders.renewing import end_quotes
from printworks.actions.submission.submit import await_payment, prepare_submission, submit_order
from printworks.actions.work import Work
from printworks.errors import WrongState
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.price_lists import PriceBook
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.ledger import read_books
from printworks.store.orders.orders import Order, get_order_to_change, update_order
from printworks.store.orders.shipments import WholeOrder, get_whole_order
from tests.actions.complaints import a_draft
from tests.actions.price_lists import a_list_of, an_owner, read_book
from tests.actions.test_ledger import CARDS, CATALOGUE
from tests.factories import NO_LISTS, NOON, a_merchant, a_work
from tests.sellers import sell

DAY = timedelta(days=1)
LATER = NOON + 2 * DAY


class Scene:
    """A draft that was quoted by the catalogue, and a list that halves its price."""

    def __init__(self, database: Database, **values: Any) -> None:
        self.database = database
        with database.writing() as db:
            self.merchant: Merchant = a_merchant(db)
            self.draft = a_draft(db, self.merchant, **values)
            a_list_of(an_owner(db), self.merchant, percent_off=5000)
            self.book = read_book(db)

    def work(self, db: Any, now: datetime = LATER, book: PriceBook | None = None) -> Work:
        return a_work(db, self.merchant, now=now, catalogue=CATALOGUE, price_book=book or self.book)

    def look(self, now: datetime = LATER, book: PriceBook | None = None) -> WholeOrder:
        with self.database.reading() as db:
            return look_at_order(self.work(db, now, book), self.database, self.draft.id)

    def submit(self, now: datetime = LATER, book: PriceBook | None = None) -> Order:
        with self.database.reading() as db:
            ready = prepare_submission(self.work(db, now, book), self.draft.id)
        with self.database.writing() as db:
            order = get_order_to_change(db, self.merchant.id, self.draft.id)
            submitted = submit_order(self.work(db, now, book), order, ready=ready)
        assert isinstance(submitted, Order)
        return submitted

    def end(self, **wanted: Any) -> list[int]:
        with self.database.writing() as db:
            return end_quotes(an_owner(db), most=500, **wanted)

    def read(self) -> WholeOrder:
        with self.database.reading() as db:
            return get_whole_order(db, self.merchant.id, self.draft.id)

    @property
    def owed(self) -> int:
        with self.database.reading() as db:
            return read_books(db, self.merchant.id).balance


def test_a_quote_is_kept_until_it_ends_and_then_calculated_again(database: Database) -> None:
    scene = Scene(database)
    assert scene.draft.quote_expires_at == LATER
    kept = scene.look(LATER - timedelta(seconds=1))
    assert kept.order.price == scene.draft.price

    renewed = scene.look()

    images = scene.draft.price - scene.draft.shipping_price
    assert renewed.order.price == scene.draft.shipping_price + images // 2
    assert renewed.order.quote_expires_at == LATER + 2 * DAY
    assert {image.price * 2 for image in renewed.images} == {kept.images[0].price}
    assert not renewed.order.needs_plan
    stored = scene.read()
    assert (stored.order, stored.images) == (renewed.order, renewed.images)
    assert scene.look().order == renewed.order


def test_an_operator_who_looks_changes_no_price(database: Database) -> None:
    scene = Scene(database)
    with database.reading() as db:
        seen = get_planned_order(scene.work(db), database, scene.draft.id)

    assert seen.order.price == scene.draft.price
    with pytest.raises(WrongState):
        scene.submit()


def test_an_order_that_costs_the_same_is_submitted_after_its_quote_has_ended(
    database: Database,
) -> None:
    scene = Scene(database)

    submitted = scene.submit(book=NO_LISTS)

    assert submitted.status is OrderStatus.SUBMITTED
    assert scene.owed == submitted.price == scene.draft.price


def test_another_price_is_refused_until_it_was_shown(database: Database) -> None:
    scene = Scene(database)
    quoted = f"it was {scene.draft.price / 100:,.2f} GBP, and is "
    with pytest.raises(WrongState, match=quoted):
        scene.submit()
    before = scene.read().order
    assert (before.price, before.status) == (scene.draft.price, OrderStatus.NOT_YET_SUBMITTED)

    shown = scene.look().order
    submitted = scene.submit()

    assert scene.owed == submitted.price == shown.price < scene.draft.price


def test_a_tax_that_is_another_after_the_quote_has_ended_is_refused_until_it_was_shown(
    database: Database,
) -> None:
    scene = Scene(database)
    sell(database)
    total = round(scene.draft.price * 1.2)
    said = f"it was {scene.draft.price / 100:,.2f} GBP, and is {total / 100:,.2f} GBP now"
    with pytest.raises(WrongState, match=said):
        scene.submit(book=NO_LISTS)

    shown = scene.look(book=NO_LISTS).order
    submitted = scene.submit(book=NO_LISTS)

    assert scene.owed == submitted.total == shown.total == total


def test_a_recipient_is_not_asked_for_a_price_that_was_not_shown(database: Database) -> None:
    scene = Scene(database, payment=Payment.INVOICE_RECIPIENT)
    with database.writing() as db:
        work = a_work(
            db, scene.merchant, now=LATER, catalogue=CATALOGUE, price_book=scene.book, cards=CARDS
        )
        order = get_order_to_change(db, scene.merchant.id, scene.draft.id)
        with pytest.raises(WrongState, match="The quote of this order has ended"):
            await_payment(work, order)
    shown = scene.look().order
    with database.writing() as db:
        work = a_work(
            db, scene.merchant, now=LATER, catalogue=CATALOGUE, price_book=scene.book, cards=CARDS
        )
        order = get_order_to_change(db, scene.merchant.id, scene.draft.id)
        waiting = await_payment(work, order)
    # It keeps the price while the recipient pays.
    assert scene.look(LATER + 9 * DAY, NO_LISTS).order.price == waiting.price == shown.price


def test_an_order_that_changes_meanwhile_is_shown_as_it_was_read(database: Database) -> None:
    scene = Scene(database)
    with database.reading() as db:
        read = get_whole_order(db, scene.merchant.id, scene.draft.id)
    with database.writing() as db:
        order = get_order_to_change(db, scene.merchant.id, scene.draft.id)
        update_order(db, order, {"merchant_order_id": "another"})

    with database.reading() as db:
        [shown] = look_at_orders(scene.work(db), database, [read])

    assert shown.order.price == scene.draft.price
    assert scene.look().order.price < scene.draft.price


def test_an_operator_ends_a_quote_that_is_wrong(database: Database) -> None:
    scene, other = Scene(database), Scene(database)
    assert scene.end(order_id=2**70) == []
    assert scene.end(merchant_id=scene.merchant.id) == [scene.draft.id]
    assert scene.end(merchant_id=scene.merchant.id) == []
    assert scene.end() == [other.draft.id]
    with database.reading() as db:
        audited = [one.subject for one in list_audit(db, limit=9) if one.action == "refresh-quotes"]
    assert audited == ["1 orders", "1 orders"]

    # Nothing is charged at the old price or at one that nobody has seen.
    with pytest.raises(WrongState, match="The quote of this order has ended"):
        scene.submit(NOON)
    shown = scene.look(NOON).order

    assert scene.submit(NOON).price == shown.price < scene.draft.price
    assert scene.end(order_id=scene.draft.id) == []


@pytest.mark.parametrize("racer", ["end", "look"])
def test_what_is_submitted_at_the_same_moment_is_charged_as_it_was_shown(
    database: Database, racer: str
) -> None:
    scene = Scene(database)
    now = NOON if racer == "end" else LATER
    racing: dict[str, Callable[[], object]] = {
        "end": lambda: scene.end(order_id=scene.draft.id),
        "look": lambda: scene.look(now),
    }
    start = threading.Barrier(2)

    def submit() -> int | None:
        start.wait()
        try:
            return scene.submit(now).price
        except WrongState:
            return None

    def race() -> None:
        start.wait()
        racing[racer]()

    with ThreadPoolExecutor(2) as threads:
        submitting, other = threads.submit(submit), threads.submit(race)
        charged = submitting.result()
        other.result()

    found = scene.read().order
    assert scene.owed == (charged or 0)
    if charged is None:
        assert found.status is OrderStatus.NOT_YET_SUBMITTED
    else:
        assert (found.status, found.price) == (OrderStatus.SUBMITTED, charged)
        # By the list only if somebody has looked.
        assert charged == scene.draft.price or racer == "look"
