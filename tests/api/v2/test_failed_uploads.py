"""An upload that came to nothing does not stand in the way of the next."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from printworks.actions.images.uploads import REMOVED_AFTER, begin_awaited_upload
from printworks.actions.jobs import cancel_job
from printworks.rules.jobs import POLICIES, JobKind
from printworks.rules.orders import OrderStatus
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage, get_image
from printworks.store.queue.outcomes import finish
from printworks.store.views.console.jobs import JobFilter, list_jobs
from tests.api.client import Client
from tests.api.images import move
from tests.api.production import CATALOGUE
from tests.api.v2.shop import URL, a_photo, add, create, fill, see, seen, set_status, upload
from tests.factories import NOON, a_system_work, a_work_of
from tests.worker.queues import claim_some
from tests.worker.shops import A_PICTURE

SENT = "Another request is already sending the file of this photo."
LATER = NOON + REMOVED_AFTER + timedelta(seconds=1)


@pytest.fixture
def order_id(v2: Client, database: Database) -> int:
    """An order that was paid before the file of its photo came."""
    order_id = create(v2, payment="InvoiceRecipient")
    add(v2, order_id, url="", copies=2)
    assert set_status(v2, order_id, "AwaitingPayment").status == 200
    move(database, order_id, OrderStatus.SUBMITTED)
    return order_id


@pytest.fixture
def photo_id(v2: Client, order_id: int) -> int:
    """Its photo, which waits."""
    return int(see(v2, order_id)["photos"][0]["id"])


def die_while_sending(database: Database, photo_id: int) -> None:
    """Leave behind what a process does that dies while it validates the file of a photo."""
    with database.writing() as db:
        image = get_image(db, photo_id)
        new = NewImage(sku=image.sku, url=None, copies=1)
        begin_awaited_upload(a_work_of(db, image, catalogue=CATALOGUE), image, new)


def remove(database: Database, *, now: datetime) -> None:
    """Do what is due by then, as a worker does."""
    claimed = claim_some(database, policies=POLICIES, now=now)
    assert JobKind.REMOVE_FILES in {job.kind for job in claimed.jobs}
    with database.writing() as db:
        finish(db, [job.claim for job in claimed.jobs], now=now)


def dismiss(database: Database, *, now: datetime) -> None:
    """Cancel the removal, as an operator may."""
    with database.writing() as db:
        [removal] = list_jobs(db, JobFilter(kind=JobKind.REMOVE_FILES), limit=9)
        cancel_job(a_system_work(db, now=now), removal.id)


@pytest.mark.both_databases
def test_after_a_file_that_is_not_the_one_that_was_named_the_right_one_is_taken_at_once(
    v2: Client, order_id: int, photo_id: int
) -> None:
    refused = upload(v2, order_id, A_PICTURE, md5Hash="0" * 32)

    photo = seen(upload(v2, order_id, A_PICTURE))

    assert refused.status == 400
    assert (photo["id"], photo["status"], photo["copies"]) == (photo_id, "Ok", 2)


def test_after_a_file_that_was_refused_an_address_is_taken(v2: Client, order_id: int) -> None:
    assert upload(v2, order_id, A_PICTURE, md5Hash="0" * 32).status == 400

    photo = seen(v2.post(f"/Orders/{order_id}/Photos", a_photo()))

    assert (photo["url"], photo["status"]) == (URL, "NotYetDownloaded")


def test_once_files_can_be_stored_again_the_next_one_is_taken_through_3_0(
    v2: Client, v3: Client, order_id: int, photo_id: int, settings: Settings
) -> None:
    address = f"/orders/{order_id}/images/{photo_id}"
    in_the_way = Path(settings.files)
    in_the_way.write_bytes(b"This is no folder.")
    refused = fill(v3, address, A_PICTURE)
    in_the_way.unlink()

    answer = fill(v3, address, A_PICTURE)

    assert refused.status == 503
    assert (answer.status, answer.json()["data"]["status"]) == (200, "Ok")


@pytest.mark.both_databases
def test_while_one_file_is_sent_others_go_to_the_other_photos_that_wait(
    v2: Client, database: Database
) -> None:
    order_id = create(v2, payment="InvoiceRecipient")
    for _ in range(3):
        add(v2, order_id, url="")
    assert set_status(v2, order_id, "AwaitingPayment").status == 200
    first, second, third = (photo["id"] for photo in see(v2, order_id)["photos"])
    die_while_sending(database, first)

    by_file = seen(upload(v2, order_id, A_PICTURE))
    by_address = seen(v2.post(f"/Orders/{order_id}/Photos", a_photo()))
    refused = upload(v2, order_id, A_PICTURE)

    assert (by_file["id"], by_address["id"]) == (second, third)
    assert (refused.status, refused.error) == (403, SENT)


class TestAProcessThatDied:
    def test_has_the_photo_for_itself_for_an_hour(
        self, v2: Client, order_id: int, photo_id: int, database: Database
    ) -> None:
        die_while_sending(database, photo_id)

        by_file = upload(v2, order_id, A_PICTURE)
        by_address = v2.post(f"/Orders/{order_id}/Photos", a_photo())

        assert (by_file.status, by_file.error) == (403, SENT)
        assert (by_address.status, by_address.error) == (403, SENT)

    @pytest.mark.parametrize("end", [remove, dismiss])
    @pytest.mark.both_databases
    def test_makes_room_for_the_next_file_with_its_removal(
        self,
        v2: Client,
        order_id: int,
        photo_id: int,
        database: Database,
        end: Callable[..., None],
    ) -> None:
        die_while_sending(database, photo_id)
        end(database, now=LATER)

        photo = seen(upload(v2, order_id, A_PICTURE))

        assert (photo["id"], photo["status"]) == (photo_id, "Ok")

    @pytest.mark.both_databases
    def test_makes_room_for_an_address_with_its_removal(
        self, v2: Client, order_id: int, photo_id: int, database: Database
    ) -> None:
        die_while_sending(database, photo_id)
        remove(database, now=LATER)

        photo = seen(v2.post(f"/Orders/{order_id}/Photos", a_photo()))

        assert (photo["id"], photo["status"]) == (photo_id, "NotYetDownloaded")
