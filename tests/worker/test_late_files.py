"""A job that was under way when a recipient was erased leaves nothing behind when it ends."""

from pathlib import Path

import msgspec
import pytest

from printworks.actions.images.images import record_image_status, record_print
from printworks.actions.images.replacing import replace_by_url
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.images.pictures import print_key, proof_keys
from printworks.store.orders.orders import Order
from tests.factories import a_work
from tests.worker.conftest import OpenShop
from tests.worker.hosts import answers, holds
from tests.worker.shops import A_PICTURE, Shop
from tests.worker.test_cancelled_orders import cancel
from tests.worker.test_erasing import erase, operating

SHOP_HOURLY = HOURLY

WITHOUT_PRINTS = [kind for kind in JobKind if kind is not JobKind.RENDER_IMAGE]


def store_late(shop: Shop, folder: Path, *keys: str) -> None:
    """Store files as a job does that knows nothing of an erasure."""
    late = folder / "late.jpg"
    late.write_bytes(A_PICTURE)
    for key in keys:
        shop.resources.files.put(key, late)


def submit_one(shop: Shop) -> tuple[Order, int]:
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.submit(order)
    shop.drain()
    return order, image


@pytest.fixture
def slow_printer(a_shop: OpenShop) -> Shop:
    """A shop whose print files are not rendered yet."""
    return a_shop(kinds=WITHOUT_PRINTS)


def test_a_print_file_that_is_rendered_afterwards_is_removed(
    slow_printer: Shop, tmp_path: Path
) -> None:
    shop = slow_printer
    order, image = submit_one(shop)
    before = shop.image(image)
    shop.move(order, OrderStatus.CANCELLED)
    erase(shop, order)
    shop.drain()
    assert shop.list_files() == []

    store_late(shop, tmp_path, print_key(image))
    with shop.database.writing() as db:
        assert not record_print(a_work(db, shop.merchant, now=shop.clock()), before, {}, "")
    shop.drain()

    assert shop.list_files() == []
    assert shop.image(image).manifest is None


def test_a_print_file_of_an_attempt_that_was_killed_is_removed(shop: Shop, tmp_path: Path) -> None:
    order, image = submit_one(shop)
    shop.pass_time(hours=2)
    erase(shop, order)
    shop.drain()
    store_late(shop, tmp_path, print_key(image))

    shop.enqueue_again(JobKind.RENDER_IMAGE, {"image": image})
    shop.drain()

    assert shop.list_files() == []


def test_a_print_file_that_nobody_knows_of_yet_is_erased(
    slow_printer: Shop, tmp_path: Path
) -> None:
    shop = slow_printer
    order, image = submit_one(shop)
    store_late(shop, tmp_path, print_key(image))
    shop.move(order, OrderStatus.CANCELLED)

    erase(shop, order)
    shop.drain()

    assert shop.list_files() == []


def test_a_picture_that_comes_afterwards_is_not_kept(shop: Shop) -> None:
    gate = shop.host.gate()
    order = shop.add_order()
    url = shop.host.at("/cat.jpg", gate.before(holds(A_PICTURE, etag='"1"')))
    shop.add_images(order, url)

    with shop.draining():
        gate.wait()
        cancel(shop, order)
        erase(shop, order)
        gate.open()
    shop.drain()

    assert (shop.list_files(), shop.count_pictures()) == ([], 0)
    assert shop._current(None).file_bytes == 0


def test_a_picture_that_comes_afterwards_stays_if_another_order_has_it(shop: Shop) -> None:
    other, image = submit_one(shop)
    gate = shop.host.gate()
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/same.jpg", gate.before(holds(A_PICTURE))))

    with shop.draining():
        gate.wait()
        cancel(shop, order)
        gate.open()
    shop.drain()

    assert shop.count_pictures() == 1
    assert shop.image(image).manifest is not None
    assert shop.order(other).status is OrderStatus.SUBMITTED


@pytest.mark.parametrize("way", ["erased", "removed"])
def test_proofs_of_an_attempt_that_was_killed_are_removed(
    shop: Shop, tmp_path: Path, way: str
) -> None:
    order, image = submit_one(shop)
    shop.pass_time(hours=2)
    erase(shop, order)
    shop.drain()
    number = image if way == "erased" else image + 1000
    store_late(shop, tmp_path, *proof_keys(number))

    shop.enqueue_again(JobKind.RENDER_PROOFS, {"image": number})
    shop.drain()

    assert shop.list_files() == []


def test_proofs_of_a_picture_that_was_replaced_are_erased(slow_printer: Shop) -> None:
    shop = slow_printer
    order, image = submit_one(shop)
    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
        record_image_status(work, shop.image(image), ImageStatus.INVALID, error_message="Torn.")
    with operating(shop) as system:
        url = shop.host.at("/gone.jpg", answers("404 Not Found"))
        replace_by_url(*system.lock_order(order.id), image, url)
    assert shop.list_files("proofs") != []
    shop.move(order, OrderStatus.CANCELLED)

    erase(shop, order)
    shop.drain()

    assert shop.list_files("proofs") == []


def test_a_print_file_of_an_earlier_picture_is_not_recorded(slow_printer: Shop) -> None:
    shop = slow_printer
    _, image = submit_one(shop)
    before = shop.image(image)
    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
        earlier = msgspec.structs.replace(before, picture_id=(before.picture_id or 0) + 1)
        assert not record_print(work, earlier, {}, "")

    assert shop.image(image).manifest is None


def test_a_print_file_of_a_picture_that_failed_meanwhile_is_not_recorded(
    slow_printer: Shop,
) -> None:
    shop = slow_printer
    _, image = submit_one(shop)
    before = shop.image(image)
    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
        record_image_status(work, before, ImageStatus.INVALID, error_message="Torn.")
        assert not record_print(work, before, {}, "")

    assert shop.image(image).manifest is None
    assert shop.image(image).picture_id == before.picture_id
