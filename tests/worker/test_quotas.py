"""Files are counted for each merchant that sends them, and wait while there is no room."""

import pytest
from sqlalchemy import Connection, select

from printworks.rules.images import ImageStatus
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.accounts.quotas import count_file
from printworks.store.images.pictures import NewPicture, store_picture
from printworks.store.tables import merchant_files
from tests.factories import NOON
from tests.worker.conftest import OpenShop
from tests.worker.hosts import holds
from tests.worker.queues import add_merchant
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE, Shop

SHOP_HOURLY = HOURLY

NO_ROOM = (
    "The file has not been downloaded yet, because there is no room for more files at the moment. "
    "It is tried again every minute."
)


def add_pictures(shop: Shop, *contents: bytes, merchant: Merchant | None = None) -> list[int]:
    """Let an order of each content arrive; return the images."""
    images = []
    for number, content in enumerate(contents):
        order = shop.add_order(merchant)
        images += shop.add_images(order, shop.host.at(f"/{number}.jpg", holds(content)))
        shop.drain()
    return images


def bytes_of(shop: Shop, merchant: Merchant | None = None) -> int:
    with shop.database.reading() as db:
        return get_merchant(db, (merchant or shop.merchant).id).file_bytes


def test_each_content_counts_once_for_each_merchant(shop: Shop) -> None:
    bob = add_merchant(shop.database, "Bob")

    add_pictures(shop, A_PICTURE, A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE)
    add_pictures(shop, A_PICTURE, merchant=bob)

    assert bytes_of(shop) == len(A_PICTURE) + len(ANOTHER_PICTURE)
    assert bytes_of(shop, bob) == len(A_PICTURE)


def test_what_is_deleted_no_longer_counts(shop: Shop) -> None:
    bob = add_merchant(shop.database, "Bob")
    for merchant in (shop.merchant, bob):
        order = shop.add_order(merchant)
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()
        shop.move(order, OrderStatus.CANCELLED)

    shop.pass_time(days=90, hours=1)

    assert (bytes_of(shop), bytes_of(shop, bob)) == (0, 0)
    with shop.database.reading() as db:
        assert db.execute(select(merchant_files.c.size)).all() == []


def test_a_download_waits_while_the_disk_is_full_and_says_so_once(
    a_shop: OpenShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = a_shop()
    with monkeypatch.context() as crowded:
        crowded.setattr("printworks.actions.services.disk_usage", lambda _: Disk(free=10**8))
        [image] = shop.add_images(shop.add_order(), shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()
        waiting = shop.image(image)
        job = shop.job(JobKind.FETCH_IMAGE)
        shop.pass_time(minutes=1)

        assert (waiting.status, waiting.error_message) == (ImageStatus.NOT_YET_DOWNLOADED, NO_ROOM)
        assert (job.state, job.attempts) == ("scheduled", 0)
        assert shop.image(image) == waiting
    shop.pass_time(minutes=1)

    assert (shop.image(image).status, shop.image(image).error_message) == (ImageStatus.OK, None)
    assert len(shop.host.asked) == 1


class Disk:
    """What a disk says of itself."""

    def __init__(self, *, free: int) -> None:
        self.free = free


def test_a_packing_slip_waits_too(a_shop: OpenShop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = a_shop()
    with monkeypatch.context() as crowded:
        crowded.setattr("printworks.actions.services.disk_usage", lambda _: Disk(free=10**8))
        order = shop.add_order(packing_slip_url=shop.host.at("/slip.jpg", holds(A_PICTURE)))
        shop.drain()
        slip = shop.slip(order)
        assert slip is not None
        assert slip.status is ImageStatus.NOT_YET_DOWNLOADED
    shop.pass_time(minutes=1)

    slip = shop.slip(order)
    assert slip is not None
    assert slip.status is ImageStatus.OK


def test_a_download_waits_while_the_quota_of_its_merchant_is_full(a_shop: OpenShop) -> None:
    shop = a_shop(merchant_files="1")
    bob = add_merchant(shop.database, "Bob")
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    [late] = shop.add_images(order, shop.host.at("/dog.jpg", holds(ANOTHER_PICTURE)))
    with shop.database.writing() as db:
        count_file(db, shop.merchant.id, a_picture(db), size=1)

    shop.drain()
    [of_bob] = add_pictures(shop, A_PICTURE, merchant=bob)

    message = shop.image(image).error_message or ""
    assert "The files of this account take 0.0 GB and may take 0.0 GB." in message
    assert shop.image(late).status is ImageStatus.NOT_YET_DOWNLOADED
    assert shop.image(of_bob).status is ImageStatus.OK


def a_picture(db: Connection) -> int:
    """Store something that was received."""
    return store_picture(db, NewPicture(sha256="0" * 64, md5="0", size=1), now=NOON).id
