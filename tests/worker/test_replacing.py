"""Another picture for an order: while it is open, or when the first one keeps it from being printed."""

from pathlib import Path

import pytest

from printworks.actions.images.replacing import (
    begin_replacing,
    replace_by_upload,
    replace_by_url,
)
from printworks.actions.images.uploads import Upload, drop_upload, validate_upload
from printworks.errors import NotFound, WrongState
from printworks.rules.events import ImageRemoved, ImagesAdded
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.images.images import list_images
from printworks.store.orders.orders import Order
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE, Shop
from tests.worker.test_erasing import operating


def order_with(shop: Shop, content: bytes, *, is_submitted: bool) -> tuple[Order, int]:
    order = shop.add_order()
    url = shop.host.at("/first.jpg", holds(content))
    [image] = shop.add_images(order, url, copies=3)
    if is_submitted:
        shop.submit(order)
    shop.drain()
    return order, image


def replace(shop: Shop, order: Order, image: int, url: str) -> int:
    with operating(shop) as system:
        return replace_by_url(*system.lock_order(order.id), image, url)


def begin(shop: Shop, order: Order, image: int) -> Upload:
    with operating(shop) as system:
        return begin_replacing(*system.lock_order(order.id), image)


def upload_another(
    shop: Shop, order: Order, image: int, folder: Path, content: bytes = ANOTHER_PICTURE
) -> int:
    upload = begin(shop, order, image)
    source = folder / "sent"
    source.write_bytes(content)
    resources = shop.resources
    result = validate_upload(resources.processor, resources.files, upload, source, folder)
    with operating(shop) as system:
        work, _ = system.lock_order(order.id)
        return replace_by_upload(work, order.id, image, (upload, result))


@pytest.mark.parametrize("way", ["url", "file"])
def test_in_an_open_order_it_is_another_image_of_the_same_print(
    shop: Shop, tmp_path: Path, way: str
) -> None:
    order, first = order_with(shop, NOT_A_PICTURE, is_submitted=False)
    price = shop.order(order).price

    if way == "url":
        new = replace(shop, order, first, shop.host.at("/new.jpg", holds(ANOTHER_PICTURE)))
    else:
        new = upload_another(shop, order, first, tmp_path)
    shop.drain()

    image = shop.image(new)
    with shop.database.reading() as db:
        assert [one.id for one in list_images(db, order.id)] == [new] != [first]
    assert (image.status, image.copies, image.expected_md5) == (ImageStatus.OK, 3, None)
    assert (shop.order(order).price, shop.order(order).image_count) == (price, 1)
    events = shop.events(order)
    assert ImageRemoved(first) in events
    assert ImagesAdded([new]) in events


@pytest.mark.parametrize("way", ["url", "file"])
def test_an_order_that_was_stuck_is_printed(shop: Shop, tmp_path: Path, way: str) -> None:
    order, image = order_with(shop, NOT_A_PICTURE, is_submitted=True)
    assert shop.image(image).status is ImageStatus.INVALID
    assert shop.order(order).reasons is not None

    if way == "url":
        url = shop.host.at("/new.jpg", holds(ANOTHER_PICTURE))
        assert replace(shop, order, image, url) == image
        assert shop.order(order).reasons is None
    else:
        assert upload_another(shop, order, image, tmp_path) == image
    shop.drain()

    assert shop.image(image).status is ImageStatus.OK
    assert shop.image(image).manifest is not None
    shop.pass_time(hours=2)
    assert shop.order(order).status is OrderStatus.COMPLETE


@pytest.mark.parametrize("way", ["url", "file"])
def test_the_proofs_of_the_other_picture_have_another_address(
    shop: Shop, tmp_path: Path, way: str
) -> None:
    order, image = order_with(shop, NOT_A_PICTURE, is_submitted=True)

    if way == "url":
        replace(shop, order, image, shop.host.at("/new.jpg", holds(ANOTHER_PICTURE)))
    else:
        upload_another(shop, order, image, tmp_path)
    shop.drain()

    replaced = shop.image(image)
    assert (replaced.edition, replaced.has_proofs) == (1, True)
    assert shop.jobs(JobKind.RENDER_PROOFS) == []


@pytest.mark.parametrize("way", ["url", "file"])
def test_a_picture_that_was_lost_is_replaced_by_the_same_file(
    shop: Shop, tmp_path: Path, way: str
) -> None:
    order, image = order_with(shop, A_PICTURE, is_submitted=False)
    lost = shop.picture(A_PICTURE)
    assert lost is not None
    shop.resources.files.delete(str(lost.original))
    shop.submit(order)
    shop.drain()
    failed = shop.image(image)
    assert failed.error_message == "The picture was lost; replace it."

    if way == "url":
        replace(shop, order, image, str(failed.url))
    else:
        upload_another(shop, order, image, tmp_path, A_PICTURE)
    shop.drain()

    assert shop.image(image).manifest is not None
    shop.pass_time(hours=2)
    assert shop.order(order).status is OrderStatus.COMPLETE


def test_what_is_printed_or_ended_stays_as_it_is(shop: Shop) -> None:
    order, image = order_with(shop, A_PICTURE, is_submitted=True)
    before = shop.image(image)
    with pytest.raises(WrongState, match="only a picture that could not be fetched"):
        replace(shop, order, image, "https://shop.example/a.jpg")

    shop.pass_time(hours=2)

    with pytest.raises(WrongState, match="cannot be replaced in an order that is Complete"):
        begin(shop, order, image)
    with pytest.raises(NotFound):
        replace(shop, order, 99, "https://shop.example/a.jpg")
    assert shop.image(image).url == before.url


def test_a_file_that_cannot_be_used_makes_room_for_the_next_at_once(
    shop: Shop, tmp_path: Path
) -> None:
    order, image = order_with(shop, NOT_A_PICTURE, is_submitted=True)
    refused = begin(shop, order, image)
    with pytest.raises(WrongState, match="already sending"):
        begin(shop, order, image)

    with operating(shop) as system:
        drop_upload(system.lock_order(order.id)[0], refused)

    assert upload_another(shop, order, image, tmp_path) == image
    shop.drain()
    shop.pass_time(hours=2)
    assert shop.order(order).status is OrderStatus.COMPLETE
