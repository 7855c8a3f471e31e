"""Mockups are drawn once there is a proof, and go wherever the proof goes."""

import zipfile
from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from structlog.typing import EventDict

from printworks.actions.accounts.exporting import begin_merchant_export, write_merchant_archive
from printworks.actions.images.images import remove_image
from printworks.actions.images.mockups import record_mockup
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import HOURLY, JobKind, JobState
from printworks.rules.mockups import Mockup
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.privacy.erasers import erase_pictures
from printworks.store.images.images import update_image
from printworks.store.images.pictures import mockup_key, proof_key, proof_keys
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.tables.transfer.named_files import list_named_files
from tests.factories import a_work
from tests.worker.conftest import OpenShop
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE, Shop

SHOP_HOURLY = HOURLY


@pytest.fixture
def shop(a_shop: OpenShop) -> Shop:
    """A shop that draws mockups."""
    return a_shop(mockups="true")


def add_one(shop: Shop, sku: str = "M-STI-4X6", content: bytes = A_PICTURE) -> tuple[Order, int]:
    """Add an order with one image, and let everything be drawn."""
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(content)), sku=sku)
    shop.drain()
    return order, image


def remove(shop: Shop, order: Order, image: int) -> None:
    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
        remove_image(work, get_order_to_change(db, shop.merchant.id, order.id), image)


class TestDrawing:
    def test_an_image_with_a_proof_gets_a_mockup(self, shop: Shop) -> None:
        order, image = add_one(shop)

        assert shop.image(image).mockup is Mockup.PRINT
        drawn = shop.resources.files.read(mockup_key(image))
        assert drawn.startswith(b"\xff\xd8")
        assert drawn not in [shop.resources.files.read(key) for key in proof_keys(image)]
        # Readers of the order are told by its version, and nobody by an event.
        assert [type(event).__name__ for event in shop.events(order)] == [
            "OrderCreated",
            "ImagesAdded",
            "ImageJudged",
        ]

    def test_of_what_cannot_be_printed_nothing_is_drawn(self, shop: Shop) -> None:
        _, image = add_one(shop, content=NOT_A_PICTURE)

        assert shop.image(image).status is ImageStatus.INVALID
        assert shop.jobs(JobKind.DRAW_MOCKUP) == []

    def test_a_product_without_a_mockup_gets_none(self, shop: Shop) -> None:
        _, image = add_one(shop, sku="KEYRING-ACRYLIC")

        assert shop.image(image).status is ImageStatus.OK
        assert shop.jobs(JobKind.DRAW_MOCKUP) == []

    def test_an_operator_can_do_without(self, a_shop: OpenShop) -> None:
        shop = a_shop(mockups="false")

        _, image = add_one(shop)

        assert shop.image(image).has_proofs
        assert shop.jobs(JobKind.DRAW_MOCKUP) == []

    def test_a_job_that_runs_twice_changes_nothing(self, shop: Shop) -> None:
        order, image = add_one(shop)
        before, drawn = shop.order(order), shop.resources.files.read(mockup_key(image))

        shop.enqueue_again(JobKind.DRAW_MOCKUP, {"image": image})
        shop.drain()

        assert shop.order(order) == before
        assert shop.resources.files.read(mockup_key(image)) == drawn


class TestInterruptions:
    def test_a_worker_that_died_before_it_was_recorded_is_followed_by_another(
        self, shop: Shop, tmp_path: Path
    ) -> None:
        _, image = add_one(shop)
        with shop.database.writing() as db:
            update_image(db, shop.image(image), {"mockup": None})
        (tmp_path / "half").write_bytes(b"half a drawing")
        shop.resources.files.put(mockup_key(image), tmp_path / "half")

        shop.enqueue_again(JobKind.DRAW_MOCKUP, {"image": image})
        shop.drain()

        assert shop.image(image).mockup is Mockup.PRINT
        assert shop.resources.files.read(mockup_key(image)).startswith(b"\xff\xd8")

    def test_nothing_is_left_of_an_image_that_was_removed_just_then(
        self, shop: Shop, tmp_path: Path
    ) -> None:
        order, image = add_one(shop)
        remove(shop, order, image)
        shop.drain()
        assert shop.list_files("proofs") == []
        (tmp_path / "late").write_bytes(b"drawn too late")
        shop.resources.files.put(mockup_key(image), tmp_path / "late")

        shop.enqueue_again(JobKind.DRAW_MOCKUP, {"image": image})
        shop.drain()

        assert shop.list_files("proofs") == []

    def test_of_a_product_that_is_no_longer_sold_nothing_is_drawn(self, shop: Shop) -> None:
        _, image = add_one(shop)
        with shop.database.writing() as db:
            update_image(db, shop.image(image), {"sku": "GONE", "mockup": None})

        shop.enqueue_again(JobKind.DRAW_MOCKUP, {"image": image})
        shop.drain()

        assert shop.image(image).mockup is None
        assert shop.list_files("proofs") == sorted(proof_keys(image))

    def test_a_drawing_is_removed_if_the_proofs_have_gone_meanwhile(self, shop: Shop) -> None:
        _order, image = add_one(shop)
        drawn = shop.image(image)
        with shop.database.writing() as db:
            update_image(db, drawn, {"width": None, "height": None, "mockup": None})
            work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
            assert not record_mockup(work, drawn, Mockup.PRINT)
        shop.drain()

        assert shop.image(image).mockup is None
        assert mockup_key(image) not in shop.list_files("proofs")

    def test_a_drawing_of_an_older_edition_is_drawn_again(self, shop: Shop) -> None:
        _order, image = add_one(shop)
        older = msgspec.structs.replace(shop.image(image), edition=shop.image(image).edition - 1)
        with shop.database.writing() as db:
            work = shop.resources.services.work(db, shop.merchant)
            assert not record_mockup(work, older, Mockup.PRINT)

        assert shop.jobs(JobKind.DRAW_MOCKUP)[-1].state == JobState.DUE
        shop.drain()
        assert shop.image(image).mockup is Mockup.PRINT

    def test_without_its_proof_nothing_is_drawn(self, shop: Shop, logged: list[EventDict]) -> None:
        _, image = add_one(shop)
        shop.resources.files.delete(proof_key(image, "preview"))

        shop.enqueue_again(JobKind.DRAW_MOCKUP, {"image": image})
        shop.drain()

        assert [line["image"] for line in logged if line["event"] == "proof is missing"] == [image]
        assert {job.state for job in shop.jobs(JobKind.DRAW_MOCKUP)} == {JobState.DONE}

    def test_a_proof_that_is_damaged_ends_the_job(self, shop: Shop, tmp_path: Path) -> None:
        _, image = add_one(shop)
        (tmp_path / "damaged").write_bytes(A_PICTURE[:2000])
        shop.resources.files.put(proof_key(image, "preview"), tmp_path / "damaged")

        shop.enqueue_again(JobKind.DRAW_MOCKUP, {"image": image})
        shop.drain()

        assert shop.jobs(JobKind.DRAW_MOCKUP)[-1].state == JobState.FAILED


class TestForgetting:
    def test_it_goes_with_the_proofs(self, a_shop: OpenShop) -> None:
        shop = a_shop(mockups="true", keep_proofs="30d")
        order, image = add_one(shop)
        shop.move(order, OrderStatus.CANCELLED)

        shop.pass_time(days=31)

        assert shop.list_files("proofs") == []
        assert shop.image(image).mockup is None

    def test_a_backup_has_it(self, shop: Shop) -> None:
        _, image = add_one(shop)

        with shop.database.reading() as db:
            named = [file.key for file in list_named_files(db)]

        assert {mockup_key(image), *proof_keys(image)} <= set(named)

    def test_the_whole_export_of_its_merchant_has_it(self, shop: Shop) -> None:
        order, image = add_one(shop)
        services = shop.resources.services
        with shop.database.writing() as db:
            work = services.work(db, shop.merchant)
            export = begin_merchant_export(work, with_pictures=True, most_bytes=10**9)

        pieces = write_merchant_archive(shop.database, services.files, export)

        with zipfile.ZipFile(BytesIO(b"".join(pieces))) as archive:
            assert archive.testzip() is None
            drawn = archive.read(f"order-{order.id}/image-{image}-mockup.jpg")
        assert drawn == services.files.read(mockup_key(image))

    def test_the_name_of_a_file_is_erased_with_the_picture(self, shop: Shop) -> None:
        order, image = add_one(shop)
        with shop.database.writing() as db:
            update_image(db, shop.image(image), {"name": "grandmother.jpg", "url": None})
        assert shop.image(image).title == "grandmother.jpg"

        with shop.database.writing() as db:
            erase_pictures(db, order.id)

        assert shop.image(image).title == f"Image {image}"
