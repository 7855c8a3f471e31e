"""What is known of a person can be taken away, in one archive."""

import json
import zipfile
from io import BytesIO

import pytest

from printworks.actions.privacy import exporting
from printworks.actions.privacy.exporting import MOST_ORDERS, export_orders, write_archive
from printworks.errors import BadInput, NotFound
from printworks.store.orders.orders import Order
from tests.imaging.pictures import drawn_apart
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, Shop, a_jpeg
from tests.worker.test_erasing import CANARY, complain, erase, operating, order_one

LARGE = drawn_apart(lambda: a_jpeg(1600, 1200))


def export(shop: Shop, *orders: Order) -> zipfile.ZipFile:
    with operating(shop) as system:
        collected = export_orders(system, [order.id for order in orders])
    written = b"".join(write_archive(shop.resources.files, collected))
    archive = zipfile.ZipFile(BytesIO(written))
    assert archive.testzip() is None
    return archive


def test_it_has_a_document_and_every_picture(shop: Shop) -> None:
    order, other = order_one(shop), order_one(shop, content=LARGE)
    issue = complain(shop, order)
    shop.drain()

    archive = export(shop, order, other, order)

    person = json.loads(archive.read("person.json"))
    first, second = person["orders"]
    assert (first["order"], second["order"]) == (order.id, other.id)
    assert first["recipient"]["email"] == f"mary@{CANARY}.example"
    assert first["recipient"]["destination_country"] == "GB"
    [image] = first["images"]
    assert CANARY in image["url"]
    [told] = first["issues"]
    assert (told["id"], told["detail"]) == (issue, f"{CANARY} is not pleased")
    assert [remark["comment"] for remark in told["remarks"]] == [None, f"Dear {CANARY}"]
    assert len(first["shipments"]) == 1
    assert set(person["files"]) == set(archive.namelist()) - {"person.json"}
    [again] = second["images"]
    assert archive.read(f"order-{order.id}/image-{image['id']}.jpeg") == A_PICTURE
    assert archive.read(f"order-{other.id}/image-{again['id']}.jpeg") == LARGE
    assert archive.read(f"order-{order.id}/image-{image['id']}-preview.jpg")[:2] == b"\xff\xd8"
    assert f"order-{order.id}/packing-slip" in archive.namelist()
    assert [name for name in archive.namelist() if f"issue-{issue}-photo-" in name]


def test_a_file_that_is_missing_and_one_that_does_not_fit_are_named(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = order_one(shop), order_one(shop, content=LARGE)
    preview = next(key for key in shop.list_files("proofs") if key.endswith("preview.jpg"))
    shop.resources.files.delete(preview)
    monkeypatch.setattr(exporting, "MOST_BYTES", len(A_PICTURE) + 100)

    archive = export(shop, small, large)

    said = archive.read("left-out.txt").decode().splitlines()
    assert any("it is no longer stored" in line for line in said)
    assert any(line.endswith("the archive is full; export fewer orders at once") for line in said)
    pictures = [name for name in archive.namelist() if name.endswith(".jpeg")]
    assert [archive.read(name) for name in pictures] == [A_PICTURE]


def test_what_was_erased_is_not_in_it(shop: Shop) -> None:
    order = order_one(shop)
    shop.pass_time(hours=2)
    erase(shop, order)
    shop.drain()

    archive = export(shop, order)

    assert archive.namelist() == ["person.json"]
    assert CANARY not in archive.read("person.json").decode()


def test_an_image_that_never_came_has_no_file(shop: Shop) -> None:
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/page.html", holds(b"<html>no picture</html>")))
    shop.drain()

    assert export(shop, order).namelist() == ["person.json"]


def test_it_is_refused_for_no_order_for_too_many_and_for_nobodys(shop: Shop) -> None:
    for orders, refusal in (
        ([], BadInput),
        (range(1, MOST_ORDERS + 2), BadInput),
        ([99], NotFound),
    ):
        with pytest.raises(refusal), operating(shop) as system:
            export_orders(system, list(orders))
