"""Pictures are forgotten some time after their orders have ended, and not a day before."""

from typing import Any

import pytest
from sqlalchemy import update
from structlog.typing import EventDict

from printworks.rules.images import ImageStatus
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.images.pictures import print_key, proof_key, purge_pictures
from printworks.store.orders.orders import Order
from printworks.store.tables import images
from printworks.worker.sweeps import FILES_AT_ONCE
from tests.worker.hosts import holds
from tests.worker.queues import add_merchant
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE, Shop

pytestmark = pytest.mark.slow

SHOP_HOURLY = HOURLY

DAYS = 90


def order_one(shop: Shop, content: bytes = A_PICTURE, **values: Any) -> tuple[Order, int]:
    """Submit an order with one image of this content and let it be drawn."""
    order = shop.add_order(**values)
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(content, etag='"one"')))
    shop.submit(order)
    shop.drain()
    return order, image


@pytest.mark.parametrize("end", [OrderStatus.COMPLETE, OrderStatus.CANCELLED])
def test_the_files_go_after_ninety_days_and_what_is_shown_stays(
    shop: Shop, end: OrderStatus, logged: list[EventDict]
) -> None:
    order, image = order_one(shop)
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    shop.move(order, end)
    before = shop.image(image)

    shop.pass_time(days=DAYS)
    assert shop.picture(A_PICTURE) == picture
    shop.pass_time(hours=1)

    after = shop.image(image)
    assert shop.picture(A_PICTURE) is None
    assert shop.list_files() == [proof_key(image, "preview"), proof_key(image, "thumbnail")]
    assert after.picture_id is None
    assert (after.status, after.md5, after.pixels) == (before.status, before.md5, before.pixels)
    assert after.manifest == before.manifest
    removed = [line["file"] for line in logged if line["event"] == "file removed"]
    assert sorted(removed) == sorted([str(picture.original), print_key(image)])
    assert [line["sha256"] for line in logged if line["event"] == "picture deleted"] == [
        picture.sha256
    ]


def test_the_pictures_of_an_open_order_stay(shop: Shop) -> None:
    # A lab that never answers keeps it open.
    submitted, _ = order_one(shop, merchant_order_id="sandbox:silent")
    kept = shop.list_files()

    shop.pass_time(days=10 * DAYS)

    assert shop.order(submitted).status is OrderStatus.SUBMITTED
    assert shop.list_files() == kept


def test_the_pictures_of_a_draft_stay_until_some_time_after_it_was_cancelled(shop: Shop) -> None:
    draft = shop.add_order()
    [image] = shop.add_images(draft, shop.host.at("/dog.jpg", holds(ANOTHER_PICTURE)))
    shop.drain()

    shop.pass_time(days=DAYS)
    assert shop.order(draft).status is OrderStatus.NOT_YET_SUBMITTED
    shop.pass_time(hours=1)
    assert shop.order(draft).status is OrderStatus.CANCELLED
    assert shop.image(image).picture_id is not None

    shop.pass_time(days=DAYS, hours=1)
    assert shop.picture(ANOTHER_PICTURE) is None
    assert shop.list_files("originals") == []


def test_a_picture_that_an_open_order_of_another_merchant_needs_stays(shop: Shop) -> None:
    ended, image = order_one(shop)
    bob = add_merchant(shop.database, "Bob")
    _, theirs = order_one(shop, merchant=bob)
    kept = set(shop.list_files())
    shop.move(ended, OrderStatus.COMPLETE)

    shop.pass_time(days=10 * DAYS)

    picture = shop.picture(A_PICTURE)
    assert picture is not None
    assert shop.image(theirs).picture_id == picture.id
    # The print file is of the order that ended.
    assert kept - set(shop.list_files()) == {print_key(image)}
    assert shop.image(image).picture_id is None


def test_the_print_files_of_a_large_order_are_removed_in_several_jobs(shop: Shop) -> None:
    ended, image = order_one(shop)
    printed = shop.image(image)
    copies = [shop.host.at("/cat.jpg", holds(A_PICTURE))] * (FILES_AT_ONCE + 1)
    shop.move(ended, OrderStatus.COMPLETE)
    large = shop.add_order()
    shop.add_images(large, *copies)
    shop.move(large, OrderStatus.CANCELLED)
    with shop.database.writing() as db:
        facts = {"picture_id": printed.picture_id, "manifest": printed.manifest}
        db.execute(update(images).where(images.c.order_id == large.id).values(facts))

    shop.pass_time(days=DAYS, hours=1)

    assert shop.list_files("prints") == []
    removed = [len(job.args["files"]) for job in shop.jobs(JobKind.REMOVE_FILES)]
    assert sum(removed) > FILES_AT_ONCE
    assert max(removed) == FILES_AT_ONCE


def test_a_picture_that_comes_back_is_received_anew(shop: Shop) -> None:
    ended, _ = order_one(shop)
    shop.move(ended, OrderStatus.COMPLETE)
    shop.pass_time(days=DAYS, hours=1)

    _, image = order_one(shop)

    picture = shop.picture(A_PICTURE)
    assert picture is not None
    assert shop.image(image).status is ImageStatus.OK
    assert shop.list_files("originals") == [picture.original]
    # What the address held is forgotten too: it cannot be asked whether that is still so.
    assert [asked.headers.get("if-none-match") for asked in shop.host.asked] == [None, None]


@pytest.mark.parametrize("are_removed", [False, True])
def test_a_picture_that_is_forgotten_while_it_is_asked_for_news_is_received_anew(
    shop: Shop, are_removed: bool
) -> None:
    ended, _ = order_one(shop)
    shop.move(ended, OrderStatus.COMPLETE)
    shop.pass_time(days=DAYS)
    shop.clock.advance(minutes=1)
    gate = shop.host.gate()
    same = holds(A_PICTURE, etag='"one"')
    url = shop.host.at("/cat.jpg", gate.before(same), same)
    [image] = shop.add_images(shop.add_order(), url)

    with shop.draining():
        gate.wait()
        forget_all(shop, are_removed=are_removed)
        gate.open()
    shop.pass_time(minutes=1)

    asked = [asked.headers.get("if-none-match") for asked in shop.host.asked]
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    assert asked == [None, '"one"', None]
    assert shop.image(image).status is ImageStatus.OK
    assert picture.original in shop.list_files("originals")
    assert shop.list_files("proxies") == []


def test_a_refusal_is_forgotten_without_a_file_to_remove(shop: Shop) -> None:
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/page.html", holds(NOT_A_PICTURE)))
    shop.drain()
    shop.move(order, OrderStatus.CANCELLED)

    shop.pass_time(days=DAYS, hours=1)

    assert shop.count_pictures() == 0
    assert shop.jobs(JobKind.REMOVE_FILES) == []


def test_how_long_is_a_setting(a_shop: Any) -> None:
    shop: Shop = a_shop(keep_originals="2h")
    order, _ = order_one(shop)
    shop.move(order, OrderStatus.COMPLETE)

    shop.pass_time(hours=3)

    assert shop.list_files("originals") == []


def forget_all(shop: Shop, *, are_removed: bool) -> None:
    """Forget every picture that is old enough, and perhaps remove its files at once."""
    before = shop.clock() - shop.settings.keep_originals
    with shop.database.writing() as db:
        [forgotten] = purge_pictures(db, before=before, limit=10)
    for key in forgotten.files if are_removed else ():
        shop.resources.files.delete(key)
