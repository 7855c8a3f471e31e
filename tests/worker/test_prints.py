"""Print files: drawn once an order is submitted, and again to the last byte whenever asked."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pyvips

from printworks.errors import WrongState
from printworks.imaging.manifest import Manifest
from printworks.imaging.processor import Rendered
from printworks.rules.events import ImageRendered
from printworks.rules.images import DOWNLOAD_WAITS, ImageStatus
from printworks.rules.jobs import POLICIES, JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import write_reasons
from printworks.rules.sizing import Box, CropPosition
from printworks.store.catalogue.watch import CatalogueWatch
from printworks.store.images.images import Image
from printworks.store.images.pictures import print_key, proof_key
from printworks.store.orders.orders import Order
from tests.imaging.pictures import corners
from tests.worker.hosts import answers, holds
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE, Shop

_S = ImageStatus


def submit_with(shop: Shop, *urls: str, **values: Any) -> tuple[Order, list[int]]:
    """Submit an order whose images have not been fetched yet."""
    order = shop.add_order()
    ids = shop.add_images(order, *urls, **values)
    shop.submit(order)
    return order, ids


def manifest_of(image: Image) -> Manifest:
    """Return how the print file of an image was made."""
    assert image.manifest is not None
    return msgspec.convert(image.manifest, Manifest)


def test_before_submission_nothing_is_drawn_for_print(shop: Shop) -> None:
    [image] = shop.add_images(shop.add_order(), shop.host.at("/cat.jpg", holds(A_PICTURE)))

    shop.drain()

    assert shop.image(image).manifest is None
    assert shop.list_files("prints") == []


def test_a_product_of_a_catalogue_that_was_published_just_now_is_drawn(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    shop.submit(order)
    older = msgspec.structs.replace(shop.resources.catalogue, products=(), _by_sku={})
    monkeypatch.setattr(CatalogueWatch, "current", older)

    shop.drain()

    assert shop.image(image).status is ImageStatus.OK
    assert shop.image(image).manifest is not None


def test_an_image_that_is_there_is_drawn_when_its_order_is_submitted(shop: Shop) -> None:
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()

    shop.submit(order)
    shop.drain()

    manifest = manifest_of(shop.image(image))
    drawn = shop.resources.files.read(print_key(image))
    assert hashlib.sha256(drawn).hexdigest() == manifest.output_sha256
    assert manifest.source_sha256 == hashlib.sha256(A_PICTURE).hexdigest()
    assert manifest.plan.dpi == 150
    assert shop.events(order)[-1] == ImageRendered(image, manifest.output_sha256)


def test_the_manifest_draws_the_same_bytes_again(shop: Shop, tmp_path: Path) -> None:
    _, [image] = submit_with(shop, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    manifest = manifest_of(shop.image(image))
    [original] = shop.list_files("originals")

    with shop.resources.files.local(original) as source:
        again = shop.resources.processor.render(source, manifest.plan, tmp_path)

    assert isinstance(again, Rendered)
    assert again.manifest == manifest


def test_the_print_file_is_cropped_where_the_merchant_wanted_it(shop: Shop) -> None:
    placement = {"x": 1.0, "y": 0.0, "zoom": 2.0}
    url = shop.host.at("/cat.jpg", holds(A_PICTURE))
    order, [image, other] = submit_with(shop, url, url, placement=placement)
    shop.drain()

    # The second one knows the picture already.
    for each in (image, other):
        plan = manifest_of(shop.image(each)).plan
        assert plan.position == CropPosition(**placement)
        assert plan.box == Box(300, 0, 300, 450)
        assert plan.dpi == 75
        proof = pyvips.Image.new_from_buffer(
            shop.resources.files.read(proof_key(each, "preview")), ""
        )
        # The upper right of the picture is green.
        assert all(green > max(red, blue) + 40 for red, green, blue in corners(proof))
    assert shop.order(order).status is OrderStatus.SUBMITTED


def test_an_image_that_arrives_after_submission_is_drawn_then(shop: Shop) -> None:
    url = shop.host.at("/cat.jpg", answers("404 Not Found"), holds(A_PICTURE))
    order, [image] = submit_with(shop, url)
    shop.drain()
    assert shop.jobs(JobKind.RENDER_IMAGE) == []

    shop.pass_time(seconds=10)

    assert shop.image(image).manifest is not None
    assert shop.list_files("prints") == [print_key(image)]
    assert write_reasons(shop.order(order).reasons) is None


def test_an_order_submitted_while_its_image_arrives_gets_one_print_file(shop: Shop) -> None:
    gate = shop.host.gate()
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", gate.before(holds(A_PICTURE))))

    with shop.draining():
        gate.wait()
        shop.submit(order)
        gate.open()

    assert len(shop.jobs(JobKind.RENDER_IMAGE)) == 1
    assert shop.image(image).manifest is not None


def test_an_image_that_is_never_found_is_told_on_the_order(shop: Shop) -> None:
    order, [image] = submit_with(shop, shop.host.at("/cat.jpg", answers("404 Not Found")))
    shop.drain()
    assert write_reasons(shop.order(order).reasons) is None

    for wait in DOWNLOAD_WAITS:
        shop.pass_time(seconds=wait.total_seconds())

    stuck = shop.order(order)
    assert stuck.status is OrderStatus.SUBMITTED
    assert write_reasons(stuck.reasons) == (
        f"Image {image} cannot be printed. There is nothing at the address."
    )


def test_an_image_that_is_no_picture_is_told_on_the_order_and_the_others_are_drawn(
    shop: Shop,
) -> None:
    order, [fine, wrong] = submit_with(
        shop,
        shop.host.at("/cat.jpg", holds(A_PICTURE)),
        shop.host.at("/page.html", holds(NOT_A_PICTURE)),
    )

    shop.drain()

    stuck = shop.order(order)
    assert stuck.status is OrderStatus.SUBMITTED
    assert (write_reasons(stuck.reasons) or "").startswith(f"Image {wrong} cannot be printed. ")
    assert shop.list_files("prints") == [print_key(fine)]


def test_before_submission_a_bad_image_is_told_on_itself_alone(shop: Shop) -> None:
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/page.html", holds(NOT_A_PICTURE)))

    shop.drain()

    assert write_reasons(shop.order(order).reasons) is None
    with pytest.raises(WrongState, match="InvalidImageFile"):
        shop.submit(order)


def test_drawing_again_changes_nothing(shop: Shop) -> None:
    order, [image] = submit_with(shop, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    before = shop.image(image), shop.events(order), shop.resources.files.read(print_key(image))

    shop.enqueue_again(JobKind.RENDER_IMAGE, {"image": image})
    shop.enqueue_again(JobKind.RENDER_IMAGE, {"image": image})
    shop.drain()

    assert before == (
        shop.image(image),
        shop.events(order),
        shop.resources.files.read(print_key(image)),
    )


def test_drawing_twice_at_the_same_moment_counts_once(shop: Shop) -> None:
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    shop.submit(order)
    for _ in range(POLICIES[JobKind.RENDER_IMAGE].in_flight - 1):
        shop.enqueue_again(JobKind.RENDER_IMAGE, {"image": image})

    shop.drain()

    rendered = [event for event in shop.events(order) if isinstance(event, ImageRendered)]
    assert rendered == [ImageRendered(image, manifest_of(shop.image(image)).output_sha256)]


def test_on_a_mug_a_picture_is_never_turned(shop: Shop) -> None:
    url = shop.host.at("/cat.jpg", holds(A_PICTURE))
    _, [mug] = submit_with(shop, url, sku="MUG-10OZ-WHITE")
    shop.drain()

    plan = manifest_of(shop.image(mug)).plan
    # The picture stands upright, and the mug is wide.
    assert (plan.is_turned, plan.canvas.width > plan.canvas.height) == (False, True)
