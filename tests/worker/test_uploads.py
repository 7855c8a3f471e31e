"""A picture that comes with the request is judged at once, and kept whole or not at all."""

import hashlib
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, update

from printworks.actions.images.images import add_images, remove_image
from printworks.actions.images.pictures import CANNOT_BE_PROCESSED, NOT_AS_EXPECTED
from printworks.actions.images.uploads import (
    REMOVED_AFTER,
    Upload,
    UploadResult,
    add_uploaded_image,
    begin_awaited_upload,
    begin_upload,
    drop_upload,
    validate_upload,
)
from printworks.actions.work import Work
from printworks.errors import BadInput, NotFound, ServiceUnavailable, WrongState
from printworks.files.folder import FolderFiles
from printworks.imaging.formats import Format
from printworks.imaging.processor import ImageProcessor
from printworks.rules.events import ImageJudged, ImagesAdded
from printworks.rules.images import AcceptedFiles, ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.sizing import Pixels
from printworks.store.images.images import Image, NewImage, get_image, list_images
from printworks.store.images.pictures import NewPicture, store_picture, uploaded_key
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.tables import orders
from tests.factories import a_merchant, a_work
from tests.imaging.pictures import a_noisy_picture, drawn_apart
from tests.worker import deadly
from tests.worker.conftest import OpenShop
from tests.worker.deadly import CRASHES
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE, STICKER, Shop

_S = ImageStatus
A_PNG = drawn_apart(lambda: a_noisy_picture(600, 900).write_to_buffer(".png"))


class Counter:
    """Takes uploads for a shop, one step after the other."""

    def __init__(self, shop: Shop, folder: Path) -> None:
        self.shop = shop
        self._folder = folder

    def begin(self, order: Order, **values: Any) -> Upload:
        """Announce a picture of a sticker, unless the test says otherwise."""
        new = NewImage(**{"sku": STICKER, "url": None, "copies": 1, **values})
        with self.shop.database.writing() as db:
            return begin_upload(
                self._work(db),
                get_order_to_change(db, self.shop.merchant.id, order.id),
                new,
            )

    def add_awaiting(self, order: Order) -> int:
        """Add an image whose file is to come."""
        new = NewImage(sku=STICKER, url=None, copies=1)
        with self.shop.database.writing() as db:
            work = self._work(db)
            current = get_order_to_change(db, self.shop.merchant.id, order.id)
            [image] = add_images(work, current, [new])
        return image.id

    def begin_awaited(self, image_id: int) -> Upload:
        """Announce the file of an image that awaits it."""
        with self.shop.database.writing() as db:
            work = self._work(db)
            new = NewImage(sku=STICKER, url=None, copies=1)
            return begin_awaited_upload(work, get_image(db, image_id), new)

    def drop(self, upload: Upload) -> None:
        """Say that nothing came of it."""
        with self.shop.database.writing() as db:
            drop_upload(self._work(db), upload)

    def judge(self, upload: Upload, content: bytes) -> UploadResult:
        """Have the file looked at."""
        folder = self._folder / str(upload.image_id)
        folder.mkdir()
        source = folder / "picture"
        source.write_bytes(content)
        resources = self.shop.resources
        try:
            return validate_upload(resources.processor, resources.files, upload, source, folder)
        finally:
            shutil.rmtree(folder)

    def add(self, upload: Upload, judged: UploadResult) -> Image:
        """Let it join its order."""
        with self.shop.database.writing() as db:
            return add_uploaded_image(
                self._work(db),
                upload,
                judged,
            )

    def upload(self, order: Order, content: bytes, **values: Any) -> Image:
        """Do all of it."""
        upload = self.begin(order, **values)
        return self.add(upload, self.judge(upload, content))

    def images(self, order: Order) -> list[Image]:
        """Return the images of an order."""
        with self.shop.database.reading() as db:
            return list_images(db, order.id)

    def _work(self, db: Connection) -> Work:
        shop = self.shop
        return a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)


@pytest.fixture
def counter(shop: Shop, tmp_path: Path) -> Counter:
    folder = tmp_path / "uploads"
    folder.mkdir()
    return Counter(shop, folder)


class TestVerdicts:
    def test_a_picture_is_ok_at_once(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()

        image = counter.upload(order, A_PICTURE)

        assert image == shop.image(image.id)
        assert (image.status, image.error_message) == (_S.OK, None)
        assert image.md5 == hashlib.md5(A_PICTURE).hexdigest()
        assert image.pixels == Pixels(600, 900)
        assert shop.list_files() == [
            uploaded_key(image.id),
            f"proofs/{image.id}/preview.jpg",
            f"proofs/{image.id}/thumbnail.jpg",
        ]
        assert shop.resources.files.read(uploaded_key(image.id)) == A_PICTURE

    def test_the_order_has_it_with_its_price_and_its_events(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()

        image = counter.upload(order, A_PICTURE, copies=2)

        changed = shop.order(order)
        assert changed.image_count == 1
        assert changed.price == 2 * image.price + changed.shipping_price > 0
        assert shop.events(order)[1:] == [ImagesAdded([image.id]), ImageJudged(image.id, _S.OK)]

    @pytest.mark.parametrize("content", [NOT_A_PICTURE, b"", A_PICTURE[:-500]])
    def test_what_is_no_whole_picture_is_invalid_and_leaves_no_file(
        self, counter: Counter, content: bytes
    ) -> None:
        shop = counter.shop
        order = shop.add_order()

        image = counter.upload(order, content)

        assert image.status is _S.INVALID
        assert (image.error_message or "").endswith(".")
        assert shop.order(order).image_count == 1
        assert shop.list_files() == []

    def test_another_file_than_the_hash_names_is_refused(self, counter: Counter) -> None:
        order = counter.shop.add_order()
        upload = counter.begin(order, expected_md5=hashlib.md5(ANOTHER_PICTURE).hexdigest())

        with pytest.raises(BadInput, match=NOT_AS_EXPECTED):
            counter.judge(upload, A_PICTURE)

        assert counter.shop.list_files() == []
        assert counter.images(order) == []

    def test_the_hash_may_be_in_capitals(self, counter: Counter) -> None:
        md5 = hashlib.md5(A_PICTURE).hexdigest().upper()

        image = counter.upload(counter.shop.add_order(), A_PICTURE, expected_md5=md5)

        assert image.status is _S.OK

    def test_an_uploaded_picture_is_printed_like_any_other(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()
        image = counter.upload(order, A_PICTURE)

        shop.submit(order)
        shop.drain()

        assert shop.image(image.id).manifest is not None
        assert f"prints/{image.id}.jpg" in shop.list_files("prints")


class TestKinds:
    def test_a_jpeg_is_taken_where_only_those_are(self, counter: Counter) -> None:
        order = counter.shop.add_order()

        assert counter.upload(order, A_PICTURE, formats=AcceptedFiles.JPEG).status is _S.OK

    @pytest.mark.parametrize("content", [A_PNG, NOT_A_PICTURE])
    def test_anything_else_is_invalid_there(self, counter: Counter, content: bytes) -> None:
        shop = counter.shop

        image = counter.upload(shop.add_order(), content, formats=AcceptedFiles.JPEG)

        assert (image.status, image.error_message) == (
            _S.INVALID,
            f"The file is not a picture of a format that is accepted: {Format.JPEG}.",
        )
        assert shop.list_files() == []
        assert shop.picture(content) is None

    def test_that_says_nothing_about_the_same_file_elsewhere(self, counter: Counter) -> None:
        order = counter.shop.add_order()
        counter.upload(order, A_PNG, formats=AcceptedFiles.JPEG)

        assert counter.upload(order, A_PNG).status is _S.OK


class TestOnceForEachContent:
    def test_the_same_file_again_is_kept_once(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()

        images = [counter.upload(order, A_PICTURE) for _ in range(3)]
        shop.drain()

        assert len({image.picture_id for image in images}) == 1
        assert shop.list_files("originals") == [uploaded_key(images[0].id)]
        assert len(shop.list_files("proofs")) == 6

    def test_what_was_downloaded_before_is_not_kept_again(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()
        [fetched] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()

        image = counter.upload(order, A_PICTURE)
        shop.drain()

        assert image.picture_id == shop.image(fetched).picture_id
        assert len(shop.list_files("originals")) == 1

    def test_what_is_downloaded_later_uses_the_uploaded_file(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()
        image = counter.upload(order, A_PICTURE)

        [fetched] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()

        assert shop.image(fetched).picture_id == image.picture_id
        assert shop.list_files("originals") == [uploaded_key(image.id)]

    def test_a_picture_that_was_refused_before_is_refused_again(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()

        images = [counter.upload(order, NOT_A_PICTURE) for _ in range(2)]

        assert [image.status for image in images] == [_S.INVALID] * 2
        assert shop.count_pictures() == 1


class TestRefusals:
    @pytest.mark.parametrize("status", [OrderStatus.SUBMITTED, OrderStatus.CANCELLED])
    def test_an_order_that_is_not_open_takes_none(
        self, counter: Counter, status: OrderStatus
    ) -> None:
        order = counter.shop.add_order()
        counter.shop.move(order, status)

        with pytest.raises(WrongState, match=f"an order that is {status}"):
            counter.begin(order)

    def test_an_order_that_is_being_paid_for_takes_none(self, counter: Counter) -> None:
        order = counter.shop.add_order()
        being_paid(counter.shop, order)

        with pytest.raises(WrongState, match="being paid for"):
            counter.begin(order)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"sku": "NO-SUCH"}, "SKU not in catalogue"),
            ({"price_to_user": 5}, "`priceToUser`"),
            ({"attributes": {"shine": "bright"}}, "Invalid attribute name shine"),
        ],
    )
    def test_what_cannot_be_ordered_is_refused_before_its_file_is_looked_at(
        self, counter: Counter, values: dict[str, Any], message: str
    ) -> None:
        order = counter.shop.add_order(payment=Payment.INVOICE_ME)

        with pytest.raises(BadInput, match=message):
            counter.begin(order, **values)

        assert counter.shop.jobs(JobKind.REMOVE_FILES) == []

    def test_somebody_elses_order_does_not_exist(self, counter: Counter) -> None:
        with counter.shop.database.writing() as db:
            bob = a_merchant(db, "Bob")
        theirs = counter.shop.add_order(bob)

        with pytest.raises(NotFound):
            counter.begin(theirs)

    def test_an_order_that_is_submitted_meanwhile_does_not_get_it(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()
        upload = counter.begin(order)
        judged = counter.judge(upload, A_PICTURE)
        shop.move(order, OrderStatus.SUBMITTED)

        with pytest.raises(WrongState):
            counter.add(upload, judged)

        assert counter.images(order) == []
        shop.pass_time(seconds=REMOVED_AFTER.total_seconds() + 1)
        assert shop.list_files() == []


class TestKilled:
    def test_before_the_file_was_looked_at_nothing_is_left(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()

        counter.begin(order)

        assert counter.images(order) == []
        assert shop.order(order) == order
        assert len(shop.events(order)) == 1

    def test_before_the_image_was_added_the_files_go_by_themselves(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()
        counter.judge(counter.begin(order), A_PICTURE)
        assert len(shop.list_files()) == 3

        shop.pass_time(seconds=REMOVED_AFTER.total_seconds() + 1)

        assert shop.list_files() == []
        assert counter.images(order) == []
        assert shop.count_pictures() == 0

    def test_after_the_image_was_added_nothing_goes(self, counter: Counter) -> None:
        shop = counter.shop
        image = counter.upload(shop.add_order(), A_PICTURE)

        shop.pass_time(seconds=2 * REMOVED_AFTER.total_seconds())

        assert len(shop.list_files()) == 3
        assert shop.image(image.id).status is _S.OK
        assert shop.jobs(JobKind.REMOVE_FILES) == []

    def test_an_upload_whose_files_are_gone_cannot_become_an_image(self, counter: Counter) -> None:
        shop = counter.shop
        order = shop.add_order()
        upload = counter.begin(order)
        judged = counter.judge(upload, A_PICTURE)
        shop.pass_time(seconds=REMOVED_AFTER.total_seconds() + 1)

        with pytest.raises(ServiceUnavailable, match="send it again"):
            counter.add(upload, judged)

        assert counter.images(order) == []

    def test_a_merchants_clock_does_not_hurry_the_removal(self, counter: Counter) -> None:
        shop = counter.shop
        counter.begin(shop.add_order())

        job = shop.job(JobKind.REMOVE_FILES)

        assert (job.due_at, job.merchant) == (shop.clock() + timedelta(hours=1), None)


class TestAwaited:
    """The file of an image that exists already, of which several may be sent before one is taken."""

    @pytest.fixture
    def image_id(self, counter: Counter) -> int:
        return counter.add_awaiting(counter.shop.add_order())

    def test_what_came_to_nothing_leaves_no_original(self, counter: Counter, image_id: int) -> None:
        shop = counter.shop
        upload = counter.begin_awaited(image_id)
        counter.judge(upload, A_PICTURE)
        counter.drop(upload)

        shop.pass_time(seconds=REMOVED_AFTER.total_seconds() + 1)

        assert shop.list_files("originals") == []

    def test_its_removal_is_not_that_of_the_next_file(
        self, counter: Counter, image_id: int
    ) -> None:
        shop = counter.shop
        failed = counter.begin_awaited(image_id)
        counter.judge(failed, A_PICTURE)
        counter.drop(failed)
        taken = counter.begin_awaited(image_id)
        counter.add(taken, counter.judge(taken, ANOTHER_PICTURE))

        shop.pass_time(seconds=REMOVED_AFTER.total_seconds() + 1)

        assert shop.list_files("originals") == [taken.file]
        assert shop.resources.files.read(taken.file) == ANOTHER_PICTURE
        assert {f"proofs/{image_id}/{name}.jpg" for name in ("preview", "thumbnail")} <= set(
            shop.list_files("proofs")
        )

    def test_one_that_was_thought_dead_does_not_fill_what_another_has_filled(
        self, counter: Counter, image_id: int
    ) -> None:
        shop = counter.shop
        late = counter.begin_awaited(image_id)
        judged = counter.judge(late, A_PICTURE)
        shop.pass_time(seconds=REMOVED_AFTER.total_seconds() + 1)
        taken = counter.begin_awaited(image_id)
        with pytest.raises(ServiceUnavailable, match="send it again"):
            counter.add(late, judged)
        counter.drop(late)

        with pytest.raises(WrongState, match="already sending"):
            counter.begin_awaited(image_id)
        image = counter.add(taken, counter.judge(taken, ANOTHER_PICTURE))

        assert (image.id, image.md5) == (image_id, hashlib.md5(ANOTHER_PICTURE).hexdigest())


def test_files_that_cannot_be_kept_are_our_trouble(counter: Counter, tmp_path: Path) -> None:
    shop = counter.shop
    order = shop.add_order()
    upload = counter.begin(order)
    away = FolderFiles(tmp_path / "away")
    shutil.rmtree(tmp_path / "away")
    source = tmp_path / "picture"
    source.write_bytes(A_PICTURE)

    with pytest.raises(ServiceUnavailable, match="try again"):
        validate_upload(shop.resources.processor, away, upload, source, tmp_path)

    assert counter.images(order) == []


def test_two_uploads_at_once_both_join_the_order(counter: Counter) -> None:
    order = counter.shop.add_order()
    one, other = counter.begin(order), counter.begin(order)
    judged = counter.judge(one, A_PICTURE), counter.judge(other, ANOTHER_PICTURE)

    counter.add(other, judged[1])
    counter.add(one, judged[0])

    assert [image.id for image in counter.images(order)] == [one.image_id, other.image_id]
    assert counter.shop.order(order).image_count == 2


def test_a_number_that_was_reserved_is_nobody_elses(counter: Counter) -> None:
    shop = counter.shop
    order = shop.add_order()
    upload = counter.begin(order)

    [added] = shop.add_images(order, "https://shop.example/cat.jpg")

    assert added > upload.image_id


def test_an_uploaded_image_can_be_removed(counter: Counter) -> None:
    shop = counter.shop
    order = shop.add_order()
    image = counter.upload(order, A_PICTURE)

    with shop.database.writing() as db:
        current = get_order_to_change(db, shop.merchant.id, order.id)
        catalogue = shop.resources.catalogue
        remove_image(
            a_work(db, shop.merchant, now=shop.clock(), catalogue=catalogue), current, image.id
        )
    shop.drain()

    assert shop.list_files("proofs") == []
    assert shop.order(order).price == 0


def being_paid(shop: Shop, order: Order) -> None:
    """Let somebody pay for an order just now."""
    with shop.database.writing() as db:
        db.execute(update(orders).where(orders.c.id == order.id).values(payment_request_id=1))


class TestTrouble:
    def test_a_file_that_kills_whoever_looks_is_invalid_without_a_verdict_for_others(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        murderous = A_PICTURE + CRASHES
        with ImageProcessor(slots=1, zygote=[deadly.__file__]) as processor:
            counter = Counter(a_shop(processor=processor), tmp_path)
            image = counter.upload(counter.shop.add_order(), murderous)

        assert (image.status, image.error_message) == (_S.INVALID, CANNOT_BE_PROCESSED)
        assert image.md5 == hashlib.md5(murderous).hexdigest()
        assert counter.shop.count_pictures() == 0
        assert counter.shop.list_files() == []

    def test_a_processor_that_does_not_start_is_our_trouble(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        with ImageProcessor(slots=1, zygote=["-c", "raise SystemExit(1)"]) as processor:
            counter = Counter(a_shop(processor=processor), tmp_path)
            order = counter.shop.add_order()

            with pytest.raises(ServiceUnavailable, match="try again"):
                counter.upload(order, A_PICTURE)

        assert counter.images(order) == []

    def test_what_was_said_of_the_same_file_before_stands(self, counter: Counter) -> None:
        shop = counter.shop
        refused = NewPicture(
            sha256=hashlib.sha256(A_PICTURE).hexdigest(), md5="m", size=1, refusal="Too odd."
        )
        with shop.database.writing() as db:
            store_picture(db, refused, now=shop.clock())

        image = counter.upload(shop.add_order(), A_PICTURE)
        shop.drain()

        assert (image.status, image.error_message) == (_S.INVALID, "Too odd.")
        assert shop.list_files() == []
