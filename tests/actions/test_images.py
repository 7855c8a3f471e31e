"""An image gets one file, from whoever sends it first, and one print file."""

from typing import Any

import pytest
from sqlalchemy import Connection

from printworks.actions.images.images import (
    add_images,
    record_image_status,
    record_print,
    set_image_url,
)
from printworks.actions.images.uploads import (
    Upload,
    UploadResult,
    add_uploaded_image,
    begin_awaited_upload,
    drop_upload,
)
from printworks.actions.orders.moves import move_order
from printworks.actions.work import Work
from printworks.errors import WrongState
from printworks.rules.events import ImageRendered
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from printworks.store.images.images import Image, NewImage, get_image, list_images
from printworks.store.orders.events import list_events
from printworks.store.orders.orders import get_order
from printworks.store.views.console.jobs import JobFilter, list_jobs
from tests.actions.complaints import submitted
from tests.actions.test_ledger import ADDRESS, CATALOGUE
from tests.factories import a_merchant, a_work, an_order

SENT = "already sending the file"
_S = ImageStatus


def an_awaiting_image(db: Connection) -> tuple[Work, Image]:
    """Add an image whose file is to come, to an order of a new merchant."""
    merchant = a_merchant(db)
    work = a_work(db, merchant, catalogue=CATALOGUE)
    [image] = add_images(work, an_order(db, merchant, **ADDRESS), [a_file(url=None)])
    assert image.status is _S.AWAITING_URL_OR_DATA
    return work, image


def a_file(**values: Any) -> NewImage:
    """Say where the file of a print is."""
    given = {"sku": "GLOBAL-PHO-4X6-PRO", "url": "https://shop.example/a.jpg", "copies": 1}
    return NewImage(**{**given, **values})


def begin(work: Work, image: Image) -> Upload:
    """Begin to send the file of an image."""
    return begin_awaited_upload(work, image, a_file(url=None))


def test_an_image_whose_file_is_being_sent_takes_no_address(database: Database) -> None:
    with database.writing() as db:
        work, image = an_awaiting_image(db)
        begin(work, image)

        with pytest.raises(WrongState, match=SENT):
            set_image_url(work, image, a_file())

        assert get_image(db, image.id) == image


def test_an_image_whose_file_is_being_sent_takes_no_other_file(database: Database) -> None:
    with database.writing() as db:
        work, image = an_awaiting_image(db)
        begin(work, image)

        with pytest.raises(WrongState, match=SENT):
            begin(work, image)


def test_an_image_whose_upload_was_dropped_takes_another_file(database: Database) -> None:
    with database.writing() as db:
        work, image = an_awaiting_image(db)
        dropped = begin(work, image)

        drop_upload(work, dropped)

        assert begin(work, image).file != dropped.file


def test_an_image_whose_upload_was_dropped_takes_an_address(database: Database) -> None:
    with database.writing() as db:
        work, image = an_awaiting_image(db)

        drop_upload(work, begin(work, image))

        assert set_image_url(work, image, a_file()).status is _S.NOT_YET_DOWNLOADED


def test_of_two_addresses_at_once_the_first_is_downloaded(database: Database) -> None:
    with database.writing() as db:
        work, image = an_awaiting_image(db)
        filled = set_image_url(work, image, a_file())

        with pytest.raises(WrongState, match=SENT):
            set_image_url(work, image, a_file(url="https://shop.example/b.jpg"))

        assert get_image(db, image.id) == filled
        assert len(list_jobs(db, JobFilter(kind=JobKind.FETCH_IMAGE), limit=9)) == 1


def test_a_file_for_an_image_that_no_longer_awaits_one_changes_nothing(database: Database) -> None:
    with database.writing() as db:
        work, image = an_awaiting_image(db)
        upload = begin(work, image)
        record_image_status(work, image, _S.INVALID, error_message="It is a text.")
        judged = get_image(db, image.id)

        with pytest.raises(WrongState, match=SENT):
            add_uploaded_image(work, upload, UploadResult(_S.INVALID, "1" * 32, None, "Empty."))

        assert get_image(db, image.id) == judged


def test_a_file_that_comes_when_the_order_has_been_cancelled_is_refused(
    database: Database,
) -> None:
    with database.writing() as db:
        work, image = an_awaiting_image(db)
        upload = begin(work, image)
        order = get_order(db, work.merchant.id, image.order_id)
        move_order(work, order, OrderStatus.CANCELLED)

        with pytest.raises(WrongState, match="cannot be added to an order that is Cancelled"):
            add_uploaded_image(work, upload, UploadResult(_S.INVALID, "1" * 32, None, "Empty."))


def test_a_print_file_of_an_image_that_has_failed_meanwhile_is_not_recorded(
    database: Database,
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant, images=1)
        [rendered] = list_images(db, order.id)
        work = a_work(db, merchant, catalogue=CATALOGUE)
        record_image_status(work, rendered, _S.INVALID, error_message="It is damaged.")

        assert not record_print(work, rendered, {"plan": "any"}, "0" * 64)

        assert get_image(db, rendered.id).manifest is None
        assert not [one for one in list_events(db, order.id) if isinstance(one, ImageRendered)]
