"""Photos through the older versions: by address, as a file, several at once, and away again."""

import hashlib
from typing import Any

import pytest
from sqlalchemy import select

from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from printworks.store.tables import jobs
from tests.api.client import Client
from tests.api.images import count_images, move, promised
from tests.api.pngs import a_png
from tests.api.v2.shop import (
    URL,
    a_photo,
    add,
    an_order,
    create,
    fill,
    see,
    seen,
    set_status,
    submit,
    upload,
)
from tests.worker.shops import A_PICTURE

CLOSED = [OrderStatus.SUBMITTED, OrderStatus.COMPLETE, OrderStatus.CANCELLED]


class TestAdding:
    @pytest.mark.every_version
    def test_a_photo_is_of_a_type_and_not_of_a_sku(self, v2: Client) -> None:
        photo = add(v2, create(v2), type="4X6")

        assert photo["type"] == "4x6"
        assert photo["status"] == "NotYetDownloaded"
        assert "sku" not in photo

    def test_a_photo_may_come_without_an_address_or_a_file(self, v2: Client) -> None:
        photo = add(v2, create(v2), url="")

        assert (photo["status"], photo["url"]) == ("AwaitingUrlOrData", None)

    def test_a_form_is_as_good_as_json(self, v2: Client) -> None:
        order_id = create(v2)
        form = {"type": "4x6", "url": URL, "copies": "2", "attributes[finish]": "MATTE"}

        photo = seen(v2.post_form(f"/Orders/{order_id}/Photos", form))

        assert (photo["copies"], photo["sizing"]) == (2, "Crop")
        assert photo["attributes"] == {"finish": "matte"}

    @pytest.mark.parametrize("none", [[], "", None, {}])
    def test_no_attributes_may_be_said_in_many_ways(self, v2: Client, none: Any) -> None:
        assert add(v2, create(v2), attributes=none)["attributes"] == {"finish": "lustre"}

    def test_the_type_belongs_to_the_quality_level_of_the_order(self, v2: Client) -> None:
        in_pro, in_standard = create(v2), create(v2, qualityLevel="Standard")

        assert add(v2, in_pro, type="4x18")["type"] == "4x18"
        answer = v2.post(f"/Orders/{in_standard}/Photos", a_photo(type="4x18"))

        assert answer.status == 400
        assert "no item of type 4x18" in answer.error

    def test_without_a_quality_level_either_will_do(self, v2: Client) -> None:
        order_id = create(v2, qualityLevel="")

        assert add(v2, order_id, type="4x18")["type"] == "4x18"

    def test_without_any_country_there_is_no_type(self, v2: Client) -> None:
        order_id = create(v2, countryCode="", destinationCountryCode="")

        answer = v2.post(f"/Orders/{order_id}/Photos", a_photo())

        assert answer.status == 400
        assert "`destinationCountryCode`" in answer.error

    @pytest.mark.parametrize(
        ("members", "sentence"),
        [
            ({"copies": 0}, "`copies` must be a whole number from 1 to 100000."),
            ({"copies": -1}, "`copies` must be a whole number from 1 to 100000."),
            ({"copies": "1.5"}, "`copies` must be a whole number."),
            ({"copies": "some"}, "`copies` must be a number."),
            (
                {"url": "sunset.jpg"},
                "`url` is wrong: An address must begin with http:// or https://.",
            ),
            ({"sizing": "Bend"}, "`sizing` must be one of Crop, ShrinkToFit, ShrinkToExactFit."),
            ({"type": ""}, "`type` is required."),
            ({"attributes": {"colour": "red"}}, "Invalid attribute name colour"),
        ],
    )
    def test_what_is_wrong_is_named(
        self, v2: Client, members: dict[str, Any], sentence: str
    ) -> None:
        order_id = create(v2)

        answer = v2.post(f"/Orders/{order_id}/Photos", a_photo(**members))

        assert (answer.status, answer.error) == (400, sentence)
        assert see(v2, order_id)["photos"] == []

    def test_without_a_number_there_is_one_copy(self, v2: Client) -> None:
        order_id = create(v2)

        answer = v2.post(f"/Orders/{order_id}/Photos", {"type": "4x6", "url": URL})

        assert (answer.status, answer.json()["copies"]) == (200, 1)
        assert add(v2, order_id, copies="")["copies"] == 1

    def test_the_price_to_the_recipient_counts_only_if_the_recipient_pays(self, v2: Client) -> None:
        on_invoice, by_recipient = create(v2), create(v2, payment="InvoiceRecipient")

        assert add(v2, on_invoice, priceToUser=100)["priceToUser"] is None
        assert add(v2, by_recipient, priceToUser="100")["priceToUser"] == 100

    @pytest.mark.every_version
    @pytest.mark.parametrize("payment", ["InvoiceMe", "InvoiceRecipient"])
    @pytest.mark.parametrize("member", ["priceToUser", "copies"])
    def test_a_fraction_is_refused_however_it_is_sent(
        self, v2: Client, payment: str, member: str
    ) -> None:
        order_id = create(v2, payment=payment)
        path = f"/Orders/{order_id}/Photos"
        answers = [
            v2.post(path, a_photo(**{member: 12.5})),
            v2.post(path, a_photo(**{member: "12.50"})),
            v2.post_form(path, a_photo(**{member: "12.50"})),
            v2.post(f"{path}/Batch", [a_photo(), a_photo(**{member: 12.5})]),
        ]

        assert [answer.status for answer in answers] == [400] * 4
        assert all(f"`{member}` must be a whole number" in answer.error for answer in answers)
        assert see(v2, order_id)["photos"] == []

    @pytest.mark.parametrize("status", CLOSED)
    def test_only_an_open_order_takes_photos(
        self, v2: Client, database: Database, status: OrderStatus
    ) -> None:
        order_id = create(v2)
        move(database, order_id, status)

        one = v2.post(f"/Orders/{order_id}/Photos", a_photo())
        several = v2.post(f"/Orders/{order_id}/Photos/Batch", [a_photo()])

        assert (one.status, several.status) == (403, 403)
        assert status in one.error


class TestLeftForLater:
    """What is sent once the order is paid for, or waits for that."""

    @pytest.fixture
    def order_id(self, v2: Client) -> int:
        """An order whose recipient may pay before its photo has come."""
        order_id = create(v2, payment="InvoiceRecipient")
        add(v2, order_id, url="", copies=2, sizing="ShrinkToFit")
        assert set_status(v2, order_id, "AwaitingPayment").status == 200
        return order_id

    @pytest.mark.both_databases
    def test_its_file_is_taken_as_it_was_ordered(self, v2: Client, order_id: int) -> None:
        [before] = see(v2, order_id)["photos"]

        photo = seen(upload(v2, order_id, A_PICTURE, copies="7", sizing="Crop"))

        assert (photo["id"], photo["status"]) == (before["id"], "Ok")
        assert (photo["copies"], photo["sizing"]) == (2, "ShrinkToFit")
        assert photo["previewUrl"] is not None
        assert see(v2, order_id)["photos"] == [photo]

    @pytest.mark.both_databases
    def test_its_address_is_taken(self, v2: Client, order_id: int, database: Database) -> None:
        photo = seen(v2.post(f"/Orders/{order_id}/Photos", a_photo()))

        assert (photo["url"], photo["status"], photo["copies"]) == (URL, "NotYetDownloaded", 2)
        query = select(jobs.c.args).where(jobs.c.kind == JobKind.FETCH_IMAGE)
        with database.reading() as db:
            assert list(db.execute(query).scalars()) == [{"image": photo["id"]}]

    def test_a_file_that_is_no_picture_is_said_to_be_none(self, v2: Client, order_id: int) -> None:
        photo = seen(upload(v2, order_id, b"This is no picture."))

        assert photo["status"] == "Invalid"
        assert f"Photo {photo['id']} cannot be printed" in see(v2, order_id)["errorMessage"]

    @pytest.mark.parametrize("status", [OrderStatus.AWAITING_PAYMENT, OrderStatus.SUBMITTED])
    def test_once_it_has_come_nothing_more_is_taken(
        self, v2: Client, order_id: int, database: Database, status: OrderStatus
    ) -> None:
        seen(upload(v2, order_id, A_PICTURE))
        if status is not OrderStatus.AWAITING_PAYMENT:
            move(database, order_id, status)

        answer = upload(v2, order_id, A_PICTURE)

        assert (answer.status, len(see(v2, order_id)["photos"])) == (403, 1)

    def test_another_type_is_not_taken(self, v2: Client, order_id: int) -> None:
        assert v2.post(f"/Orders/{order_id}/Photos", a_photo(type="4x18")).status == 403

    def test_nothing_at_all_is_not_enough(self, v2: Client, order_id: int) -> None:
        answer = v2.post(f"/Orders/{order_id}/Photos", a_photo(url=""))

        assert (answer.status, "`url`" in answer.error) == (400, True)

    def test_a_submitted_order_is_printed_once_it_has_come(
        self, v2: Client, order_id: int, database: Database
    ) -> None:
        move(database, order_id, OrderStatus.SUBMITTED)

        photo = seen(upload(v2, order_id, A_PICTURE))

        query = select(jobs.c.args).where(jobs.c.kind == JobKind.RENDER_IMAGE)
        with database.reading() as db:
            assert list(db.execute(query).scalars()) == [{"image": photo["id"]}]


@pytest.mark.every_version
class TestWaitingForData:
    """A photo that was added without a file, and is given one by its own address."""

    @pytest.fixture
    def order_id(self, v2: Client) -> int:
        """An order that is NotYetSubmitted, with such a photo and another."""
        order_id = create(v2)
        add(v2, order_id, url="", copies=2, sizing="ShrinkToFit")
        add(v2, order_id)
        return order_id

    @pytest.fixture
    def path(self, v2: Client, order_id: int) -> str:
        return f"/Orders/{order_id}/Photos/{see(v2, order_id)['photos'][0]['id']}"

    @pytest.mark.both_databases
    def test_its_file_is_taken_as_it_was_ordered(
        self, v2: Client, order_id: int, path: str
    ) -> None:
        photo = seen(fill(v2, path, A_PICTURE))

        assert (photo["status"], photo["copies"]) == ("Ok", 2)
        assert (photo["sizing"], photo["previewUrl"] is None) == ("ShrinkToFit", False)
        assert see(v2, order_id)["photos"][0] == photo
        assert len(see(v2, order_id)["photos"]) == 2
        assert seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))["isValid"] is True

    @pytest.mark.both_databases
    def test_its_address_is_taken(self, v2: Client, path: str, database: Database) -> None:
        photo = seen(v2.put(path, {"url": URL, "md5Hash": "a" * 32}))

        assert (photo["url"], photo["status"]) == (URL, "NotYetDownloaded")
        assert photo["md5Hash"] == "a" * 32
        assert photo["id"] in promised(database, JobKind.FETCH_IMAGE)

    def test_a_file_that_is_no_picture_is_said_to_be_none(
        self, v2: Client, order_id: int, path: str
    ) -> None:
        photo = seen(fill(v2, path, b"This is no picture."))

        status = seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))

        assert photo["status"] == "Invalid"
        assert status["photos"][0]["errors"] == ["InvalidImageFile"]

    def test_nothing_at_all_is_not_enough(self, v2: Client, path: str) -> None:
        answer = v2.put(path, {"url": ""})

        assert (answer.status, "`url`" in answer.error) == (400, True)

    def test_what_does_not_wait_takes_nothing(self, v2: Client, order_id: int) -> None:
        there = see(v2, order_id)["photos"][1]

        answer = v2.put(f"/Orders/{order_id}/Photos/{there['id']}", {"url": URL})

        assert (answer.status, answer.error) == (
            403,
            "The photo is NotYetDownloaded; only one that is AwaitingUrlOrData takes a file.",
        )

    @pytest.mark.parametrize("status", [OrderStatus.COMPLETE, OrderStatus.CANCELLED])
    def test_an_order_that_has_ended_takes_nothing(
        self, v2: Client, order_id: int, path: str, database: Database, status: OrderStatus
    ) -> None:
        move(database, order_id, status)

        assert v2.put(path, {"url": URL}).status == 403

    def test_through_3_0_as_well(self, v2: Client, v3: Client, path: str) -> None:
        address = path.lower().replace("photos", "images")

        assert v3.put(address, {"url": URL}).data["status"] == "NotYetDownloaded"
        assert v3.put(address, {"url": URL}).status == 403

    def test_a_file_through_3_0_as_well(self, v2: Client, v3: Client, path: str) -> None:
        address = path.lower().replace("photos", "images")

        answer = fill(v3, address, A_PICTURE)

        assert (answer.status, answer.json()["data"]["status"]) == (200, "Ok")

    def test_somebody_elses_is_not_found(self, somebody_else: Client, path: str) -> None:
        address = path.lower().replace("photos", "images")

        assert somebody_else.put(address, {"url": URL}).status == 404


class TestUploading:
    @pytest.mark.parametrize("part", ["file", "image"])
    @pytest.mark.both_databases
    @pytest.mark.every_version
    def test_a_file_is_looked_at_at_once(self, v2: Client, part: str) -> None:
        order_id = create(v2)

        photo = seen(upload(v2, order_id, A_PICTURE, part=part, copies="3"))

        assert (photo["status"], photo["copies"], photo["url"]) == ("Ok", 3, None)
        assert photo["md5Hash"] == hashlib.md5(A_PICTURE, usedforsecurity=False).hexdigest()
        assert photo["previewUrl"] is not None
        assert see(v2, order_id)["photos"] == [photo]

    @pytest.mark.parametrize("file", [a_png(60, 90), b"This is no picture."])
    def test_only_a_jpeg_is_a_photo(self, v2: Client, file: bytes) -> None:
        order_id = create(v2)

        photo = seen(upload(v2, order_id, file))

        assert photo["status"] == "Invalid"
        assert photo["errorMessage"]
        status = seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))
        assert status["photos"][0]["errors"] == ["InvalidImageFile"]

    def test_a_file_that_is_not_the_one_that_was_named_is_refused(self, v2: Client) -> None:
        order_id = create(v2)

        answer = upload(v2, order_id, A_PICTURE, md5Hash="0" * 32)

        assert answer.status == 400
        assert "`md5Hash`" in answer.error
        assert see(v2, order_id)["photos"] == []

    def test_a_wrong_field_is_refused_before_the_file_is_looked_at(self, v2: Client) -> None:
        order_id = create(v2, qualityLevel="Standard")

        answer = upload(v2, order_id, A_PICTURE, type="4x18")

        assert answer.status == 400
        assert "no item of type 4x18" in answer.error

    def test_a_closed_order_takes_no_file(self, v2: Client) -> None:
        order_id = submit(v2)

        assert upload(v2, order_id, A_PICTURE).status == 403

    def test_the_same_upload_with_the_same_key_happens_once(self, v2: Client) -> None:
        order_id = create(v2)
        keyed = Client(v2.server, v2.prefix, {**v2.credentials, "Idempotency-Key": "once"})

        first, again = upload(keyed, order_id, A_PICTURE), upload(keyed, order_id, A_PICTURE)

        assert first.status == 200
        assert first.body == again.body
        assert len(see(v2, order_id)["photos"]) == 1


class TestBatches:
    @pytest.mark.both_databases
    @pytest.mark.every_version
    def test_all_are_added_in_their_order(self, v2: Client) -> None:
        order_id = create(v2)
        batch = [a_photo(copies=copies) for copies in (1, "2", 3)]

        added = seen(v2.post(f"/Orders/{order_id}/Photos/Batch", batch))

        assert [photo["copies"] for photo in added["items"]] == [1, 2, 3]
        assert added["errorMessage"] is None
        assert see(v2, order_id)["photos"] == added["items"]

    @pytest.mark.parametrize(
        ("bad", "sentence"),
        [
            ({"type": "4x18"}, "Element 2: There is no item of type 4x18"),
            ({"url": None}, "Element 2: `url` is required."),
            ({"copies": 0}, "Element 2: `copies` must be a whole number from 1"),
            ({"attributes": {"a": "b"}}, "Element 2: Invalid attribute name a"),
        ],
    )
    def test_one_that_is_wrong_refuses_them_all(
        self, v2: Client, database: Database, bad: dict[str, Any], sentence: str
    ) -> None:
        order_id = create(v2, qualityLevel="Standard")

        answer = v2.post(f"/Orders/{order_id}/Photos/Batch", [a_photo(), a_photo(**bad), a_photo()])

        assert answer.status == 400
        assert answer.error.startswith(sentence)
        assert answer.json()["items"] is None
        assert count_images(database, order_id) == 0


class TestReading:
    @pytest.mark.every_version
    def test_a_photo_is_shown_alone_and_among_others(self, v2: Client) -> None:
        order_id = create(v2)
        first, second = add(v2, order_id), add(v2, order_id)

        assert seen(v2.get(f"/Orders/{order_id}/Photos/{first['id']}")) == first
        assert seen(v2.get(f"/orders/{order_id}/photos/")) == [first, second]

    def test_a_photo_of_another_order_is_not_found(self, v2: Client) -> None:
        order_id, photo = create(v2), add(v2, create(v2))

        assert v2.get(f"/Orders/{order_id}/Photos/{photo['id']}").status == 404
        assert v2.delete(f"/Orders/{order_id}/Photos/{photo['id']}").status == 404
        assert v2.get(f"/Orders/{order_id}/Photos/x").status == 404


class TestDeleting:
    @pytest.mark.both_databases
    @pytest.mark.every_version
    def test_a_deleted_photo_is_gone_and_costs_nothing(self, v2: Client) -> None:
        order_id = create(v2)
        photo, kept = add(v2, order_id, copies=10), add(v2, order_id)
        with_both = see(v2, order_id)["price"]

        # A body is of no meaning here.
        answer = v2.request("DELETE", f"/Orders/{order_id}/Photos/{photo['id']}", b"{nonsense")

        assert (answer.status, answer.json()) == (200, {"errorMessage": None})
        assert see(v2, order_id)["photos"] == [kept]
        assert see(v2, order_id)["price"] < with_both
        assert v2.get(f"/Orders/{order_id}/Photos/{photo['id']}").status == 404

    def test_only_an_open_order_gives_photos_back(self, v2: Client) -> None:
        order_id = submit(v2)
        [photo] = see(v2, order_id)["photos"]

        answer = v2.delete(f"/Orders/{order_id}/Photos/{photo['id']}")

        assert answer.status == 403
        assert set(answer.json()) == {"errorMessage"}
        assert see(v2, order_id)["photos"] == [photo]


def test_an_order_without_photos_shows_none(v2: Client) -> None:
    order_id = seen(v2.post("/Orders", an_order()))["id"]

    assert seen(v2.get(f"/Orders/{order_id}/Photos")) == []
