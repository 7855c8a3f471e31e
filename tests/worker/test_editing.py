"""An image that is there already: printed otherwise, and proofed again."""

from pathlib import Path
from typing import Any

import pytest
import pyvips

from printworks.actions.images.editing import edit_image, record_proofs, refuse_edition
from printworks.actions.images.images import record_image_status
from printworks.actions.images.proxies import ProxyPlan, keep_proxy, plan_proxy, render_proxy
from printworks.errors import BadInput, NotFound, NotSold, WrongState
from printworks.rules.events import ImageChanged
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.sizing import Sizing
from printworks.store.images.images import Image, delete_image
from printworks.store.images.pictures import Picture, forget_original, proof_key
from printworks.store.orders.orders import Order, get_order_to_change
from tests.factories import a_work
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, MAGNET, NOT_A_PICTURE, STICKER, Shop

HOODIE = "WEAR-HOODIE"


def an_image(shop: Shop, content: bytes = A_PICTURE, **values: Any) -> tuple[Order, int]:
    """Add an image whose picture is there."""
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(content)), **values)
    shop.drain()
    return order, image


def edit(shop: Shop, order: Order, image: int, **changes: Any) -> Image:
    """Change an image, as its merchant does."""
    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
        current = get_order_to_change(db, shop.merchant.id, order.id)
        return edit_image(work, current, image, changes)


def size_of_proof(shop: Shop, image: int) -> tuple[int, int]:
    proof = pyvips.Image.new_from_buffer(shop.resources.files.read(proof_key(image, "preview")), "")
    return proof.width, proof.height


def test_another_product_has_another_price_and_another_proof(shop: Shop) -> None:
    order, image = an_image(shop)
    before = shop.order(order)
    assert size_of_proof(shop, image) == (600, 900)

    edited = edit(shop, order, image, sku=MAGNET.lower(), copies=3)

    assert (edited.sku, edited.copies, edited.edition) == (MAGNET, 3, 1)
    assert not edited.has_proofs
    after = shop.order(order)
    assert after.price != before.price
    assert after.price - after.shipping_price == 3 * edited.price
    assert after.needs_plan
    assert after.version > before.version
    assert shop.events(order)[-1] == ImageChanged(image, ["copies", "sku"])
    shop.drain()
    assert shop.image(image).has_proofs
    assert size_of_proof(shop, image) != (600, 900)


def test_another_crop_is_seen_in_the_proof(shop: Shop) -> None:
    order, image = an_image(shop)

    edit(shop, order, image, placement={"x": 0.0, "y": 0.0, "zoom": 2.0})
    shop.drain()

    assert size_of_proof(shop, image) == (300, 450)
    edit(shop, order, image, placement=None)
    shop.drain()
    assert (size_of_proof(shop, image), shop.image(image).edition) == ((600, 900), 2)


def test_what_no_proof_shows_renders_none(shop: Shop) -> None:
    order, image = an_image(shop)

    edited = edit(shop, order, image, copies=7)

    assert (edited.edition, edited.has_proofs) == (0, True)
    assert shop.jobs(JobKind.RENDER_PROOFS) == []


def test_the_same_change_twice_happens_once(shop: Shop) -> None:
    order, image = an_image(shop)
    edit(shop, order, image, sizing=Sizing.SHRINK_TO_FIT)
    events, version = shop.events(order), shop.order(order).version

    again = edit(shop, order, image, sizing=Sizing.SHRINK_TO_FIT)

    assert again == shop.image(image)
    assert (shop.events(order), shop.order(order).version) == (events, version)
    assert len(shop.jobs(JobKind.RENDER_PROOFS)) == 1


def test_attributes_that_are_not_named_stay_where_they_are_offered(shop: Shop) -> None:
    order, image = an_image(shop, sku=HOODIE, attributes={"size": "M", "colour": "navy"})

    assert edit(shop, order, image, attributes={"Size": "L"}).attributes == {
        "size": "L",
        "colour": "navy",
    }
    assert "size" not in edit(shop, order, image, sku=STICKER).attributes
    with pytest.raises(BadInput, match=r"attributes\.colour` is required"):
        edit(shop, order, image, sku=HOODIE)


@pytest.mark.parametrize(
    ("changes", "refusal", "message"),
    [
        ({"sku": "NOT-A-SKU"}, BadInput, "SKU not in catalogue"),
        ({"placement": {"x": 2.0}}, BadInput, "`placement.x` must be a number from 0 to 1"),
        ({"attributes": {"mood": "blue"}}, BadInput, "Invalid attribute name mood"),
    ],
)
def test_a_wrong_change_changes_nothing(
    shop: Shop, changes: Any, refusal: type[Exception], message: str
) -> None:
    order, image = an_image(shop)
    before = shop.image(image), shop.order(order)

    with pytest.raises(refusal, match=message):
        edit(shop, order, image, **changes)

    assert (shop.image(image), shop.order(order)) == before


def test_a_product_that_is_not_sold_there_is_refused(shop: Shop) -> None:
    order, image = an_image(shop)
    country = order.destination_country or ""
    products = shop.resources.catalogue.products
    elsewhere = next(one.sku for one in products if not one.is_sold_to(country))

    with pytest.raises(NotSold, match=elsewhere):
        edit(shop, order, image, sku=elsewhere)


def test_only_images_of_an_open_order_are_changed(shop: Shop) -> None:
    order, image = an_image(shop)
    with pytest.raises(NotFound):
        edit(shop, order, image + 1000, copies=2)
    shop.submit(order)

    with pytest.raises(WrongState, match="order that is Submitted cannot be changed"):
        edit(shop, order, image, copies=2)


def test_a_change_while_the_picture_is_fetched_is_in_the_proof(shop: Shop) -> None:
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))

    edit(shop, order, image, placement={"x": 0.5, "y": 0.5, "zoom": 2.0})
    assert shop.jobs(JobKind.RENDER_PROOFS) == []
    shop.drain()

    assert (shop.image(image).status, shop.image(image).has_proofs) == (ImageStatus.OK, True)
    assert size_of_proof(shop, image) == (300, 450)


def test_a_change_while_the_proofs_are_rendered_renders_them_again(shop: Shop) -> None:
    order = shop.add_order()
    [number] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    rendered = shop.image(number)
    edit(shop, order, number, sizing=Sizing.SHRINK_TO_FIT)

    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock())
        record_image_status(work, rendered, ImageStatus.OK, width=600, height=900)

    assert not shop.image(number).has_proofs
    assert [job.args for job in shop.jobs(JobKind.RENDER_PROOFS)] == [{"image": number}]


def test_the_smaller_picture_of_one_that_is_damaged_is_none(shop: Shop, tmp_path: Path) -> None:
    _, image = an_image(shop)
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    assert picture.original is not None
    damaged = tmp_path / "damaged"
    damaged.write_bytes(NOT_A_PICTURE)
    shop.resources.files.put(picture.original, damaged)

    _, drawn = draw_smaller(shop, picture, image, tmp_path)

    assert drawn is None


def test_nothing_smaller_is_rendered_of_a_picture_that_was_lost(shop: Shop, tmp_path: Path) -> None:
    _, image = an_image(shop)
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    with shop.database.writing() as db:
        forget_original(db, picture)
    lost = shop.picture(A_PICTURE)
    assert lost is not None

    _, drawn = draw_smaller(shop, lost, image, tmp_path)

    assert drawn is None


def draw_smaller(
    shop: Shop, picture: Picture, image: int, folder: Path
) -> tuple[ProxyPlan, Picture | None]:
    """Render a smaller picture, as the page of an image does."""
    with shop.database.writing() as db:
        plan = plan_proxy(a_work(db, shop.merchant, now=shop.clock()), picture, image)
    return plan, render_proxy(shop.resources.processor, shop.resources.files, plan, folder)


def test_of_two_smaller_pictures_the_first_is_kept(shop: Shop, tmp_path: Path) -> None:
    _, image = an_image(shop)
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    drawn = [draw_smaller(shop, picture, image, tmp_path) for _ in range(2)]

    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock())
        kept = [keep_proxy(work, plan, one) for plan, one in drawn if one is not None]
    shop.pass_time(hours=2)

    first = drawn[0][1]
    assert len(kept) == 2
    assert kept[0] == kept[1] == first == shop.picture(A_PICTURE)
    assert shop.list_files("proxies") == [str(first and first.proxy)]


def test_a_smaller_picture_that_nobody_came_to_note_is_removed(shop: Shop, tmp_path: Path) -> None:
    _, image = an_image(shop)
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    plan, drawn = draw_smaller(shop, picture, image, tmp_path)
    assert shop.list_files("proxies") == [plan.key]
    assert drawn is not None

    # The process was killed here.
    shop.pass_time(hours=2)

    assert shop.list_files("proxies") == []
    with shop.database.writing() as db:
        assert keep_proxy(a_work(db, shop.merchant, now=shop.clock()), plan, drawn) is None
    assert shop.picture(A_PICTURE) == picture


def record(shop: Shop, image: Image) -> None:
    with shop.database.writing() as db:
        record_proofs(a_work(db, shop.merchant, now=shop.clock()), image)


def test_proofs_of_an_older_edition_are_rendered_again(shop: Shop) -> None:
    order, image = an_image(shop)
    older = edit(shop, order, image, placement={"x": 0.0, "y": 0.0, "zoom": 4.0})
    edit(shop, order, image, placement={"x": 0.0, "y": 0.0, "zoom": 2.0})
    shop.drain()

    # A worker that took its time stores what it rendered of the first change.
    record(shop, older)

    assert not shop.image(image).has_proofs
    shop.drain()
    assert shop.image(image).has_proofs
    assert size_of_proof(shop, image) == (300, 450)


def test_a_job_that_runs_again_changes_nothing(shop: Shop) -> None:
    order, image = an_image(shop)
    edit(shop, order, image, sizing=Sizing.SHRINK_TO_EXACT_FIT)
    shop.drain()
    version = shop.order(order).version

    shop.enqueue_again(JobKind.RENDER_PROOFS, {"image": image})
    shop.drain()

    assert shop.order(order).version == version


def test_proofs_of_an_image_that_was_removed_are_removed(shop: Shop) -> None:
    order, image = an_image(shop)
    edited = edit(shop, order, image, sizing=Sizing.SHRINK_TO_FIT)
    with shop.database.writing() as db:
        delete_image(db, edited)

    record(shop, edited)
    shop.drain()

    assert shop.list_files("proofs") == []


def lose_original(shop: Shop, folder: Path, how: str) -> None:
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    shop.resources.files.delete(str(picture.original))
    if how == "damaged":
        damaged = folder / "damaged"
        damaged.write_bytes(NOT_A_PICTURE)
        shop.resources.files.put(str(picture.original), damaged)


@pytest.mark.parametrize(
    ("how", "why"),
    [("lost", "The picture was lost; replace it."), ("damaged", "not a picture of a format")],
)
def test_an_image_whose_proofs_cannot_be_rendered_again_says_so(
    shop: Shop, tmp_path: Path, how: str, why: str
) -> None:
    order, image = an_image(shop)
    edit(shop, order, image, sizing=Sizing.SHRINK_TO_FIT)
    lose_original(shop, tmp_path, how)

    shop.drain()

    failed = shop.image(image)
    assert failed.status is ImageStatus.INVALID
    assert why in (failed.error_message or "")
    assert [job.state for job in shop.jobs(JobKind.RENDER_PROOFS)] == ["done"]


def test_a_failure_of_an_older_edition_or_of_an_image_that_failed_changes_nothing(
    shop: Shop,
) -> None:
    order, image = an_image(shop)
    older = edit(shop, order, image, sizing=Sizing.SHRINK_TO_FIT)
    newer = edit(shop, order, image, sizing=Sizing.CROP)

    def refuse(edition: Image) -> Image:
        with shop.database.writing() as db:
            refuse_edition(a_work(db, shop.merchant, now=shop.clock()), edition, "Torn.")
        return shop.image(image)

    assert refuse(older).status is ImageStatus.OK
    first = refuse(newer)
    assert (first.status, first.error_message) == (ImageStatus.INVALID, "Torn.")
    assert refuse(newer) == first
    # Proofs that come now are of no use.
    record(shop, newer)
    assert shop.image(image) == first


def test_an_image_that_cannot_be_printed_can_be_changed_too(shop: Shop) -> None:
    order, image = an_image(shop, NOT_A_PICTURE)

    edited = edit(shop, order, image, sku=MAGNET)

    assert (edited.status, edited.sku) == (ImageStatus.INVALID, MAGNET)
    assert shop.jobs(JobKind.RENDER_PROOFS) == []


def test_the_print_file_is_of_the_last_change(shop: Shop) -> None:
    order, image = an_image(shop)
    edit(shop, order, image, placement={"x": 1.0, "y": 1.0, "zoom": 2.0})
    shop.submit(order)
    shop.drain()

    manifest = shop.image(image).manifest
    assert manifest is not None
    assert manifest["plan"]["box"] == [300, 450, 300, 450]
    assert shop.order(order).status is OrderStatus.SUBMITTED
