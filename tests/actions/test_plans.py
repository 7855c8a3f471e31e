"""Shipments are planned when somebody looks, once, and never from an old version."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from printworks.actions.images.images import (
    CheckedImages,
    add_batch,
    add_images,
    check_batch,
)
from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.plans import get_planned_order, plan_orders
from printworks.actions.submission.submit import prepare_submission, submit_order
from printworks.catalogue.opening import open_catalogue
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage, list_images
from printworks.store.orders.orders import Order, get_order, get_order_to_change
from printworks.store.orders.pages import list_orders
from printworks.store.orders.shipments import (
    WholeOrder,
    get_whole_order,
    list_every_shipment,
    list_shipments,
)
from printworks.store.orders.whole_orders import complete_orders
from tests.actions.price_lists import a_list_of, an_owner, read_book
from tests.factories import a_merchant, a_work, an_order

CATALOGUE: Final = open_catalogue(None)
PRINT: Final = "GLOBAL-PHO-4X6-PRO"
MUG: Final = "MUG-10OZ-WHITE"
A_MUG: Final = NewImage(sku=MUG, url="https://shop.example/cat.jpg", copies=1)
ADDRESS: Final = {"address1": "1 High Street", "town_or_city": "York", "postal_code": "YO1 1AA"}


def an_open_order(database: Database, *skus: str) -> tuple[Merchant, Order]:
    """Add an order with these products."""
    with database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant, **ADDRESS)
    add(database, merchant, order.id, *skus)
    return merchant, order


def add(database: Database, merchant: Merchant, order_id: int, *skus: str) -> None:
    """Add images to an order."""
    new = [NewImage(sku=sku, url="https://shop.example/cat.jpg", copies=1) for sku in skus]
    with database.writing() as db:
        order = get_order_to_change(db, merchant.id, order_id)
        add_images(a_work(db, merchant, catalogue=CATALOGUE), order, new)


def look(database: Database, merchant: Merchant, order_id: int) -> WholeOrder:
    """Read an order as every page and program does."""
    with database.reading() as db:
        work = a_work(db, merchant, catalogue=CATALOGUE)
        return get_planned_order(work, database, order_id)


def read(database: Database, merchant: Merchant, order_id: int) -> WholeOrder:
    """Read an order as it is stored."""
    with database.reading() as db:
        return get_whole_order(db, merchant.id, order_id)


def without_ids(whole: WholeOrder) -> list[Any]:
    """Return what a plan says."""
    return [(one.lab, one.service, one.image_ids, one.latest_arrival) for one in whole.shipments]


def test_adding_an_image_prices_the_order_and_plans_nothing(database: Database) -> None:
    merchant, order = an_open_order(database, PRINT, MUG)

    stored, images, shipments = read(database, merchant, order.id)

    assert stored.price == sum(image.price for image in images) + stored.shipping_price
    assert stored.shipping_price > 0
    assert stored.needs_plan
    assert shipments == []


def test_the_first_look_stores_the_plan_and_the_next_one_reads_it(database: Database) -> None:
    merchant, order = an_open_order(database, PRINT, MUG)

    first = look(database, merchant, order.id)

    assert len(first.shipments) == 2
    assert first == read(database, merchant, order.id)
    assert first == look(database, merchant, order.id)
    assert not first.order.needs_plan


def test_another_image_is_in_the_plan_of_the_next_look(database: Database) -> None:
    merchant, order = an_open_order(database, PRINT)
    before = look(database, merchant, order.id)
    add(database, merchant, order.id, PRINT)

    after = look(database, merchant, order.id)

    [shipment] = after.shipments
    assert shipment.image_ids == [image.id for image in after.images]
    assert after.order.version > before.order.version
    assert after == read(database, merchant, order.id)


def test_a_plan_of_an_old_version_is_shown_and_not_stored(database: Database) -> None:
    merchant, order = an_open_order(database, PRINT)
    old = read(database, merchant, order.id)
    add(database, merchant, order.id, MUG)
    current = read(database, merchant, order.id)

    with database.reading() as db:
        [shown] = plan_orders(a_work(db, merchant, catalogue=CATALOGUE), database, [old])

    assert [one.image_ids for one in shown.shipments] == [[image.id for image in old.images]]
    assert shown.order == old.order
    assert read(database, merchant, order.id) == current
    assert len(look(database, merchant, order.id).shipments) == 2


def test_who_looks_at_the_same_time_sees_the_same(database: Database) -> None:
    merchant, order = an_open_order(database, PRINT, MUG)
    seen = read(database, merchant, order.id)
    first = look(database, merchant, order.id)

    with database.reading() as db:
        [second] = plan_orders(a_work(db, merchant, catalogue=CATALOGUE), database, [seen])

    assert without_ids(first) == without_ids(second)
    assert read(database, merchant, order.id) == first


def test_a_list_plans_what_needs_it_and_nothing_else(database: Database) -> None:
    merchant, planned = an_open_order(database, PRINT)
    look(database, merchant, planned.id)
    with database.writing() as db:
        empty, *waiting = [an_order(db, merchant) for _ in range(4)]
    for one in waiting:
        add(database, merchant, one.id, PRINT)
    before = look(database, merchant, planned.id)

    def list_all() -> Sequence[WholeOrder]:
        with database.reading() as db:
            work = a_work(db, merchant, catalogue=CATALOGUE)
            page = list_orders(db, merchant.id, limit=9, start=0).orders
            return plan_orders(work, database, complete_orders(db, page))

    listed = list_all()

    assert [len(one.shipments) for one in listed] == [1, 1, 1, 0, 1]
    assert [one.order.id for one in listed][-2:] == [empty.id, planned.id]
    assert listed[-1] == before
    assert listed == list_all()


class TestSubmission:
    def test_it_takes_the_labs_that_were_chosen_before_its_transaction(
        self, database: Database
    ) -> None:
        merchant, order = an_open_order(database, PRINT, MUG)
        with database.reading() as db:
            ready = prepare_submission(a_work(db, merchant, catalogue=CATALOGUE), order.id)

        with database.writing() as db:
            work = a_work(db, merchant, catalogue=CATALOGUE)
            submit_order(work, get_order_to_change(db, merchant.id, order.id), ready=ready)
            shipments = list_shipments(db, order.id)

        assert ready is not None
        assert {one.state for one in shipments} == {LabState.OFFERED}
        assert len(shipments) == 2

    def test_it_chooses_again_if_the_order_has_changed_since(self, database: Database) -> None:
        merchant, order = an_open_order(database, PRINT)
        with database.reading() as db:
            ready = prepare_submission(a_work(db, merchant, catalogue=CATALOGUE), order.id)
        add(database, merchant, order.id, MUG)

        with database.writing() as db:
            work = a_work(db, merchant, catalogue=CATALOGUE)
            submit_order(work, get_order_to_change(db, merchant.id, order.id), ready=ready)
            shipments, images = list_shipments(db, order.id), list_images(db, order.id)
            charged = get_order(db, merchant.id, order.id)

        sent = [image for one in shipments for image in one.image_ids]
        assert sorted(sent) == [image.id for image in images]
        assert charged.price == sum(image.price for image in images) + charged.shipping_price

    def test_nothing_is_chosen_for_an_order_that_is_no_longer_open(
        self, database: Database
    ) -> None:
        merchant, order = an_open_order(database, PRINT)
        with database.writing() as db:
            work = a_work(db, merchant, catalogue=CATALOGUE)
            cancelled = cancel_order(work, get_order_to_change(db, merchant.id, order.id))
        with database.reading() as db:
            ready = prepare_submission(a_work(db, merchant, catalogue=CATALOGUE), order.id)
            kept = list_every_shipment(db, order.id)

        assert ready is None
        assert cancelled.status is OrderStatus.CANCELLED
        assert not cancelled.needs_plan
        assert kept == []


class TestBatch:
    """A batch is checked before its transaction, which takes it if nothing has changed since."""

    def check(self, database: Database, merchant: Merchant, order: Order) -> CheckedImages:
        with database.reading() as db:
            work = a_work(db, merchant, catalogue=CATALOGUE)
            return check_batch(work, get_order(db, merchant.id, order.id), lambda _, __: [A_MUG])

    def is_taken(
        self, database: Database, checked: CheckedImages, merchant: Merchant, **backing: Any
    ) -> bool:
        with database.reading() as db:
            work = a_work(db, merchant, **{"catalogue": CATALOGUE, **backing})
            [order] = list_orders(db, merchant.id, limit=9, start=0).orders
            return checked.is_for(work, order)

    def test_it_is_added_as_it_was_checked(self, database: Database) -> None:
        merchant, order = an_open_order(database, PRINT)
        checked = self.check(database, merchant, order)

        assert self.is_taken(database, checked, merchant)
        with database.writing() as db:
            work = a_work(db, merchant, catalogue=CATALOGUE)
            [mug] = add_batch(work, get_order_to_change(db, merchant.id, order.id), checked)
        whole = look(database, merchant, order.id)
        assert mug.price == [image.price for image in whole.images][-1] > 0

    def test_it_is_checked_again_for_another_version_of_the_order(self, database: Database) -> None:
        merchant, order = an_open_order(database, PRINT)
        checked = self.check(database, merchant, order)
        add(database, merchant, order.id, MUG)

        assert not self.is_taken(database, checked, merchant)

    def test_it_is_checked_again_by_another_catalogue_and_for_other_prices(
        self, database: Database
    ) -> None:
        merchant, order = an_open_order(database, PRINT)
        checked = self.check(database, merchant, order)
        other = msgspec.structs.replace(CATALOGUE)
        with database.writing() as db:
            a_list_of(an_owner(db), merchant, percent_off=5000)
            book = read_book(db)

        assert not self.is_taken(database, checked, merchant, catalogue=other)
        assert not self.is_taken(database, checked, merchant, price_book=book)
