"""The same order again: with the pictures that are stored, or fetched again, or without them."""

import pytest
from sqlalchemy import update

from printworks.actions.orders.again import (
    AgainPlan,
    copy_proofs_again,
    list_again,
    order_again,
    plan_again,
)
from printworks.errors import BadInput, ServiceUnavailable, WrongState
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.mockups import Mockup
from printworks.store.images.images import Image, list_images
from printworks.store.orders.orders import Order
from printworks.store.tables import images
from tests.worker.conftest import OpenShop
from tests.worker.hosts import holds
from tests.worker.lots import work_as_mary
from tests.worker.shops import A_PICTURE, Shop
from tests.worker.test_editing import edit

SHOP_HOURLY = HOURLY


@pytest.fixture
def order(shop: Shop) -> Order:
    """An order whose picture has come."""
    order = shop.add_order(merchant_order_id="A-1")
    shop.add_images(order, shop.host.at("/a.jpg", holds(A_PICTURE)), copies=3)
    shop.drain()
    return shop.order(order)


def plan(shop: Shop, order: Order) -> AgainPlan:
    with shop.database.writing() as db:
        return plan_again(work_as_mary(db, shop.merchant), order.id)


def create(shop: Shop, order: Order, planned: AgainPlan) -> tuple[Order, list[Image]]:
    with shop.database.writing() as db:
        created = order_again(work_as_mary(db, shop.merchant), order.id, planned)
    with shop.database.reading() as db:
        return shop.order(created), list_images(db, created.id)


def forget(shop: Shop, **values: object) -> None:
    with shop.database.writing() as db:
        db.execute(update(images).values(**values))


def test_stored_pictures_are_shared_and_their_proofs_copied(shop: Shop, order: Order) -> None:
    planned = plan(shop, order)
    copy_proofs_again(shop.resources.files, planned)
    created, [image] = create(shop, order, planned)
    with shop.database.reading() as db:
        [original] = list_images(db, order.id)

    assert (created.merchant_order_id, created.price) == ("A-1", order.price)
    assert (image.picture_id, image.copies) == (original.picture_id, 3)
    assert image.status is ImageStatus.OK
    assert shop.count_pictures() == 1
    assert f"proofs/{image.id}/preview.jpg" in shop.list_files("proofs")
    # What would have removed the copies is gone.
    shop.pass_time(hours=2)
    assert f"proofs/{image.id}/preview.jpg" in shop.list_files("proofs")


def test_the_copies_are_drawn_too(a_shop: OpenShop) -> None:
    shop = a_shop(mockups="true")
    order = shop.add_order()
    [first] = shop.add_images(order, shop.host.at("/a.jpg", holds(A_PICTURE)))
    shop.drain()
    planned = plan(shop, order)
    copy_proofs_again(shop.resources.files, planned)

    with shop.database.writing() as db:
        order_again(shop.resources.services.work(db, shop.merchant), order.id, planned)
    shop.drain()

    [copy] = planned.ids
    assert shop.image(copy).mockup is shop.image(first).mockup is Mockup.PRINT


def test_images_that_are_changed_meanwhile_are_not_ordered_again(shop: Shop, order: Order) -> None:
    planned = plan(shop, order)
    copy_proofs_again(shop.resources.files, planned)
    with shop.database.reading() as db:
        [image] = list_images(db, order.id)
    edit(shop, order, image.id, placement={"x": 0.0, "y": 0.0, "zoom": 2.0})

    with pytest.raises(WrongState, match="were changed just now"):
        create(shop, order, planned)


def test_a_picture_that_was_removed_is_fetched_again(shop: Shop, order: Order) -> None:
    forget(shop, picture_id=None)
    _, [image] = create(shop, order, plan(shop, order))
    assert image.status is ImageStatus.NOT_YET_DOWNLOADED
    shop.drain()
    assert shop.image(image.id).status is ImageStatus.OK


def test_what_cannot_be_ordered_again_says_why(shop: Shop, order: Order) -> None:
    forget(shop, sku="GONE")
    with shop.database.writing() as db:
        work = work_as_mary(db, shop.merchant)
        assert [item.why_not for item in list_again(work, order.id)] == ["SKU not in catalogue"]
        with pytest.raises(BadInput, match="Nothing of this order"):
            plan_again(work, order.id)
    forget(shop, picture_id=None, url=None)
    with shop.database.writing() as db:
        [item] = list_again(work_as_mary(db, shop.merchant), order.id)
    assert item.why_not.startswith("The picture is no longer stored")


def test_copies_that_came_to_nothing_are_removed(shop: Shop, order: Order) -> None:
    planned = plan(shop, order)
    copy_proofs_again(shop.resources.files, planned)
    shop.pass_time(hours=2)
    assert not any(str(planned.ids[0]) in key for key in shop.list_files("proofs"))
    with pytest.raises(ServiceUnavailable, match="took too long"):
        create(shop, order, planned)
    assert len(shop.jobs(JobKind.REMOVE_FILES)) == 1


def test_a_proof_or_picture_that_goes_meanwhile_refuses_it(shop: Shop, order: Order) -> None:
    planned = plan(shop, order)
    for key in shop.list_files("proofs"):
        shop.resources.files.delete(key)
    with pytest.raises(WrongState, match="no longer stored"):
        copy_proofs_again(shop.resources.files, planned)
    gone = [image for image, _ in planned.stored]
    with shop.database.writing() as db:
        db.execute(update(images).values(picture_id=None))
        db.exec_driver_sql("DELETE FROM downloads")
        db.exec_driver_sql("DELETE FROM merchant_files")
        db.exec_driver_sql("DELETE FROM pictures")
    assert gone
    with pytest.raises(ServiceUnavailable, match="just removed"):
        create(shop, order, planned)
