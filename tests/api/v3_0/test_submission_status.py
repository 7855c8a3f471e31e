"""Operation 5 of the 3.0 contract, and what operation 6 makes of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import update

from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.submission import GeneralError, ImageError, ImageWarning
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage, insert_images
from printworks.store.tables import orders
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, an_order
from tests.api.images import (
    PHOTO,
    WAYS,
    add,
    an_addressed_order,
    create,
    judge,
    move,
    promised,
    receive,
)
from tests.catalogue.folders import a_lab, a_product, a_whole_folder
from tests.factories import NOON

UNKNOWN_YET = ["CouldNotValidateImageSize", "CouldNotValidateAspectRatio"]
ADDRESS = ("address1", "addressTownOrCity", "postalOrZipCode")


def check(client: Client, order_id: int) -> Any:
    """Ask whether an order can be submitted."""
    return client.get(f"/orders/{order_id}/SubmissionStatus").data


def found_in(client: Client, order_id: int) -> tuple[list[str], list[str], list[str]]:
    """Return the general errors of an order, and errors and warnings of its one image."""
    status = check(client, order_id)
    [photo] = status["photos"] or [{"errors": [], "warnings": []}]
    return status["generalErrors"], photo["errors"], photo["warnings"]


def submit(client: Client, order_id: int, status: str = "Submitted") -> Any:
    """Ask for another status."""
    return client.post(f"/orders/{order_id}/status", {"status": status})


class TestAnOrder:
    def test_one_that_lacks_nothing_is_valid(self, v3: Client, database: Database) -> None:
        order_id = create(v3)
        receive(database, add(v3, order_id)["id"])

        answer = v3.get(f"/orders/{order_id}/SubmissionStatus")

        assert answer.json() == {
            "data": {
                "id": order_id,
                "isValid": True,
                "generalErrors": [],
                "photos": [],
                "errorMessage": None,
            },
            "statusTxt": "OK",
            "statusCode": 200,
        }

    def test_one_without_images_has_no_items(self, v3: Client) -> None:
        status = check(v3, create(v3))

        assert status["isValid"] is False
        assert status["generalErrors"] == ["NoItemsInOrder"]
        assert status["photos"] == []

    @pytest.mark.parametrize("name", ADDRESS)
    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_one_whose_address_is_incomplete_has_none(
        self, v3: Client, database: Database, name: str, value: str | None
    ) -> None:
        order_id = create(v3, **{name: value})
        receive(database, add(v3, order_id)["id"])

        status = check(v3, order_id)

        assert status["isValid"] is False
        assert status["generalErrors"] == ["PostalAddressNotSet"]

    @pytest.mark.parametrize("name", ADDRESS)
    def test_one_whose_address_was_cleared_has_none(
        self, v3: Client, database: Database, name: str
    ) -> None:
        order_id = create(v3)
        receive(database, add(v3, order_id)["id"])

        v3.put(f"/orders/{order_id}", an_order(**{name: ""}))

        assert check(v3, order_id)["generalErrors"] == ["PostalAddressNotSet"]

    @pytest.mark.parametrize("name", ["destination_country", "recipient_name"])
    def test_one_without_a_country_or_a_name_has_no_address(
        self, v3: Client, database: Database, name: str
    ) -> None:
        order_id = create(v3)
        receive(database, add(v3, order_id)["id"])
        with database.writing() as db:
            db.execute(update(orders).values({name: None}))

        assert check(v3, order_id)["generalErrors"] == ["PostalAddressNotSet"]

    def test_everything_that_is_missing_is_said_at_once(self, v3: Client) -> None:
        order_id = v3.post("/orders", an_order()).data["id"]

        assert check(v3, order_id)["generalErrors"] == ["NoItemsInOrder", "PostalAddressNotSet"]

    def test_a_dash_will_do_for_a_postcode(self, v3: Client, database: Database) -> None:
        order_id = create(v3, postalOrZipCode="-")
        receive(database, add(v3, order_id)["id"])

        assert check(v3, order_id)["isValid"] is True

    def test_what_was_missing_can_be_supplied_later(self, v3: Client, database: Database) -> None:
        order_id = v3.post("/orders", an_order()).data["id"]
        receive(database, add(v3, order_id)["id"])

        v3.put(f"/orders/{order_id}", an_addressed_order())

        assert check(v3, order_id)["isValid"] is True

    def test_looking_changes_nothing(
        self, v3: Client, database: Database, clock: MovableClock
    ) -> None:
        order_id = create(v3)
        add(v3, order_id)
        before = v3.get(f"/orders/{order_id}").data
        clock.advance(minutes=5)

        assert check(v3, order_id) == check(v3, order_id)
        assert v3.get(f"/orders/{order_id}").data == before

    @pytest.mark.parametrize("status", WAYS)
    def test_it_can_be_looked_at_in_every_status(
        self, v3: Client, database: Database, status: OrderStatus
    ) -> None:
        order_id = create(v3)
        receive(database, add(v3, order_id)["id"])
        move(database, order_id, status)

        found = check(v3, order_id)

        assert found["generalErrors"] == []
        assert found["isValid"] is (status is OrderStatus.NOT_YET_SUBMITTED)
        assert found["errorMessage"] == (
            None
            if found["isValid"]
            else f"The order is {status}; only one that is NotYetSubmitted can be submitted."
        )

    def test_somebody_elses_looks_like_none(self, v3: Client, somebody_else: Client) -> None:
        order_id = create(v3)

        theirs = somebody_else.get(f"/orders/{order_id}/SubmissionStatus")
        none = somebody_else.get("/orders/999999/SubmissionStatus")

        assert theirs.status == none.status == 404
        assert theirs.body == none.body
        assert none.error == "The order with the specified id was not found"

    @pytest.mark.parametrize(
        "path", ["/orders/{}/submissionstatus", "/Orders/{}/SUBMISSIONSTATUS/"]
    )
    def test_the_path_is_found_in_any_case(self, v3: Client, path: str) -> None:
        assert v3.get(path.format(create(v3))).status == 200


class TestAnImage:
    @pytest.fixture
    def order_id(self, v3: Client) -> int:
        """An order that lacks nothing but an image."""
        return create(v3)

    def test_before_it_is_downloaded_the_order_is_valid_with_two_warnings(
        self, v3: Client, order_id: int
    ) -> None:
        image = add(v3, order_id)

        assert check(v3, order_id) == {
            "id": order_id,
            "isValid": True,
            "generalErrors": [],
            "photos": [
                {"id": image["id"], "errors": [], "warnings": UNKNOWN_YET, "errorMessage": None}
            ],
            "errorMessage": None,
        }

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (ImageStatus.FILE_NOT_FOUND_AT_URL, "FileCouldNotBeDownloaded"),
            (ImageStatus.INVALID, "InvalidImageFile"),
        ],
    )
    def test_one_that_cannot_be_printed_is_an_error(
        self, v3: Client, database: Database, order_id: int, status: ImageStatus, error: str
    ) -> None:
        image = add(v3, order_id)
        judge(database, image["id"], status, error_message="It is gone.")

        shown = v3.get(f"/orders/{order_id}").data["images"]

        assert found_in(v3, order_id) == (["ItemsContainingErrors"], [error], [])
        assert check(v3, order_id)["isValid"] is False
        assert shown == [{**image, "status": status, "errorMessage": "It is gone."}]

    def test_one_without_a_file_is_an_error(
        self, v3: Client, database: Database, order_id: int
    ) -> None:
        with database.writing() as db:
            insert_images(db, order_id, [NewImage(sku=PHOTO, url=None, copies=1)], now=NOON)
            db.execute(update(orders).values(image_count=1))

        [image] = v3.get(f"/orders/{order_id}").data["images"]

        assert image["status"] == "AwaitingUrlOrData"
        assert image["url"] is None
        assert found_in(v3, order_id) == (["ItemsContainingErrors"], ["NoImageFile"], [])

    def test_one_of_which_nobody_wants_a_copy_is_an_error(
        self, v3: Client, database: Database, order_id: int
    ) -> None:
        receive(database, add(v3, order_id, copies=0)["id"])

        assert found_in(v3, order_id) == (["ItemsContainingErrors"], ["ZeroCopies"], [])

    def test_errors_and_warnings_add_up(self, v3: Client, order_id: int) -> None:
        add(v3, order_id, copies=0)

        assert found_in(v3, order_id) == (["ItemsContainingErrors"], ["ZeroCopies"], UNKNOWN_YET)

    @pytest.mark.parametrize(
        ("sizing", "pixels", "warnings"),
        [
            ("Crop", (600, 900), []),
            ("Crop", (900, 600), []),
            ("Crop", (599, 899), ["PictureSizeTooSmall"]),
            ("Crop", (6000, 9060), []),
            ("Crop", (6000, 9100), ["CroppingWillOccur"]),
            ("Crop", (2000, 2000), ["CroppingWillOccur"]),
            ("Crop", (500, 500), ["CroppingWillOccur", "PictureSizeTooSmall"]),
            ("ShrinkToFit", (2000, 2000), ["CroppingWillOccur"]),
            ("ShrinkToFit", (600, 600), ["CroppingWillOccur"]),
            ("ShrinkToFit", (599, 599), ["CroppingWillOccur", "PictureSizeTooSmall"]),
            ("ShrinkToExactFit", (900, 900), ["CroppingWillOccur"]),
            ("ShrinkToExactFit", (600, 600), ["CroppingWillOccur", "PictureSizeTooSmall"]),
        ],
    )
    def test_its_pixels_may_be_worth_a_warning(
        self,
        v3: Client,
        database: Database,
        order_id: int,
        sizing: str,
        pixels: tuple[int, int],
        warnings: list[str],
    ) -> None:
        receive(database, add(v3, order_id, sizing=sizing)["id"], *pixels)

        assert found_in(v3, order_id) == ([], [], warnings)

    def test_only_images_with_findings_are_listed(
        self, v3: Client, database: Database, order_id: int
    ) -> None:
        fine, small, fresh, gone, alright = (add(v3, order_id)["id"] for _ in range(5))
        receive(database, fine)
        receive(database, small, 60, 90)
        judge(database, gone, ImageStatus.FILE_NOT_FOUND_AT_URL, error_message="Gone.")
        receive(database, alright)

        status = check(v3, order_id)

        assert status["generalErrors"] == ["ItemsContainingErrors"]
        assert status["photos"] == [
            {"id": small, "errors": [], "warnings": ["PictureSizeTooSmall"], "errorMessage": None},
            {"id": fresh, "errors": [], "warnings": UNKNOWN_YET, "errorMessage": None},
            {
                "id": gone,
                "errors": ["FileCouldNotBeDownloaded"],
                "warnings": [],
                "errorMessage": None,
            },
        ]

    def test_one_that_arrived_shows_where_it_can_be_seen_and_its_hash(
        self, v3: Client, database: Database, order_id: int
    ) -> None:
        image = add(v3, order_id, md5Hash="A" * 32)
        judge(database, image["id"], ImageStatus.OK, width=1, height=1, md5="a" * 32)

        [shown] = v3.get(f"/orders/{order_id}").data["images"]

        assert shown["status"] == "Ok"
        assert shown["md5Hash"] == "a" * 32
        assert shown["previewUrl"].startswith("https://print.example/proofs/")
        assert shown["thumbnailUrl"].startswith("https://print.example/proofs/")


@pytest.mark.both_databases
class TestSubmitting:
    def test_a_valid_order_is_handed_over_and_its_print_files_are_promised(
        self, v3: Client, database: Database, clock: MovableClock
    ) -> None:
        order_id = create(v3)
        here, there, awaited = (add(v3, order_id)["id"] for _ in range(3))
        receive(database, here)
        receive(database, there)
        clock.advance(minutes=5)

        answer = submit(v3, order_id)

        assert answer.json() == {"data": {}, "statusTxt": "OK", "statusCode": 200}
        order = v3.get(f"/orders/{order_id}").data
        assert order["status"] == "Submitted"
        assert order["lastUpdated"] == "2026-11-15T12:05:00.000"
        assert promised(database, JobKind.RENDER_IMAGE) == [here, there]
        assert promised(database, JobKind.FETCH_IMAGE) == [here, there, awaited]

    def test_an_image_that_arrives_later_is_printed_then(
        self, v3: Client, database: Database
    ) -> None:
        order_id = create(v3)
        image = add(v3, order_id)
        submit(v3, order_id)

        receive(database, image["id"])

        assert promised(database, JobKind.RENDER_IMAGE) == [image["id"]]
        assert v3.get(f"/orders/{order_id}").data["errorMessage"] is None

    def test_an_image_that_never_arrives_is_told_on_the_order_which_stays_submitted(
        self, v3: Client, database: Database
    ) -> None:
        order_id = create(v3)
        image = add(v3, order_id)
        submit(v3, order_id)

        judge(database, image["id"], ImageStatus.FILE_NOT_FOUND_AT_URL, error_message="404.")

        order = v3.get(f"/orders/{order_id}").data
        assert order["status"] == "Submitted"
        assert order["errorMessage"] == f"Image {image['id']} cannot be printed. 404."
        assert promised(database, JobKind.RENDER_IMAGE) == []

    def test_warnings_do_not_stand_in_the_way(self, v3: Client, database: Database) -> None:
        order_id = create(v3)
        receive(database, add(v3, order_id)["id"], 50, 50)

        assert submit(v3, order_id).status == 200

    def test_the_refusal_of_an_invalid_order_lists_every_code(
        self, v3: Client, database: Database
    ) -> None:
        order_id = v3.post("/orders", an_order()).data["id"]
        none_wanted, gone = add(v3, order_id, copies=0)["id"], add(v3, order_id, copies=0)["id"]
        judge(database, gone, ImageStatus.INVALID, error_message="It is a text.")
        before = v3.get(f"/orders/{order_id}").data

        answer = submit(v3, order_id)

        assert answer.status == 403
        assert answer.error == (
            "The order cannot be submitted: ItemsContainingErrors, PostalAddressNotSet, "
            f"image {none_wanted} has ZeroCopies, image {gone} has InvalidImageFile, "
            f"image {gone} has ZeroCopies."
        )
        assert v3.get(f"/orders/{order_id}").data == before
        assert promised(database, JobKind.RENDER_IMAGE) == []

    def test_an_order_is_submitted_once(self, v3: Client, database: Database) -> None:
        order_id = create(v3)
        receive(database, add(v3, order_id)["id"])

        first, again = submit(v3, order_id), submit(v3, order_id)

        assert first.status == 200
        assert again.status == 403
        assert again.error == "An order that is Submitted cannot become Submitted."
        assert len(promised(database, JobKind.RENDER_IMAGE)) == 1

    def test_an_invalid_order_cannot_await_payment(self, v3: Client) -> None:
        order_id = create(v3, payment="InvoiceRecipient")

        answer = submit(v3, order_id, "AwaitingPayment")

        assert answer.status == 403
        assert answer.error == "The order cannot be submitted: NoItemsInOrder."
        assert v3.get(f"/orders/{order_id}").data["status"] == "NotYetSubmitted"

    def test_nothing_is_printed_of_an_order_that_awaits_payment(
        self, v3: Client, database: Database
    ) -> None:
        order_id = create(v3, payment="InvoiceRecipient")
        receive(database, add(v3, order_id, priceToUser=100)["id"])

        answer = submit(v3, order_id, "AwaitingPayment")

        assert answer.json() == {"data": {}, "statusTxt": "OK", "statusCode": 200}
        assert v3.get(f"/orders/{order_id}").data["status"] == "AwaitingPayment"
        assert promised(database, JobKind.RENDER_IMAGE) == []


def test_a_merchant_may_sell_below_its_own_price(v3: Client, database: Database) -> None:
    order_id = create(v3, payment="InvoiceRecipient")
    receive(database, add(v3, order_id, priceToUser=0)["id"])

    status = check(v3, order_id)
    answer = submit(v3, order_id, "AwaitingPayment")

    assert (status["isValid"], status["generalErrors"]) == (True, [])
    assert answer.status == 200


ATTRIBUTES = '{ finish = ["matte", "gloss"] }'


@pytest.mark.both_databases
class TestACatalogueThatChanged:
    @pytest.fixture
    def settings(self, settings: Settings, tmp_path: Path) -> Settings:
        """A catalogue with one product, which is sold to GB and IE only."""
        folder = a_whole_folder(tmp_path, a_product(attributes=ATTRIBUTES))
        return msgspec.structs.replace(settings, catalogue=folder)

    @pytest.fixture
    def order_id(self, v3: Client, database: Database) -> int:
        """An order with an image of that product."""
        order_id = create(v3)
        image = add(v3, order_id, sku="PHOTO-4X6", attributes={"finish": "matte"})
        receive(database, image["id"])
        assert check(v3, order_id)["photos"] == []
        return order_id

    @pytest.fixture
    def image_id(self, v3: Client, order_id: int) -> int:
        """That image."""
        return int(v3.get(f"/orders/{order_id}").data["images"][0]["id"])

    @pytest.fixture
    def later(
        self,
        v3: Client,
        database: Database,
        settings: Settings,
        clock: MovableClock,
        tmp_path: Path,
        request: pytest.FixtureRequest,
    ) -> Iterator[Client]:
        """The same merchant, after the operator has put another catalogue in its place."""
        (tmp_path / "later").mkdir()
        folder = a_whole_folder(tmp_path / "later", request.param)
        url = database.url.render_as_string(hide_password=False)
        changed = msgspec.structs.replace(settings, catalogue=folder, database_url=url)
        server = Server(build_app(changed, clock))
        yield replace(v3, server=server)
        server.close()

    def test_another_destination_to_which_it_is_not_sold_is_refused(
        self, v3: Client, order_id: int
    ) -> None:
        before = v3.get(f"/orders/{order_id}").data

        moved = v3.put(f"/orders/{order_id}", an_order(countryCode="FR", address1="2 Rue Verte"))

        assert (moved.status, moved.error) == (400, "PHOTO-4X6 is not sold to FR.")
        assert v3.get(f"/orders/{order_id}").data == before

    def test_another_destination_to_which_it_is_sold_has_its_own_price(
        self, v3: Client, order_id: int
    ) -> None:
        assert v3.put(f"/orders/{order_id}", an_order(countryCode="IE")).status == 200

        assert check(v3, order_id)["photos"] == []
        # Nothing is in the way but the bank, which asks whoever orders to Ireland.
        assert submit(v3, order_id).status == 402

    @pytest.mark.parametrize(
        ("later", "reason"),
        [
            (a_product(sku='"PHOTO-5X7"', type='"5x7"'), "is no longer sold"),
            (a_product(attributes=ATTRIBUTES, sold_to='["IE"]'), "is no longer sold to GB"),
        ],
        indirect=["later"],
        ids=["gone", "not sold there"],
    )
    def test_a_product_that_is_no_longer_sold_cannot_be_ordered(
        self, order_id: int, image_id: int, later: Client, reason: str
    ) -> None:
        answer = submit(later, order_id)

        status = check(later, order_id)
        assert status["generalErrors"] == ["ItemsContainingErrors"]
        assert status["photos"] == [
            {"id": image_id, "errors": [], "warnings": [], "errorMessage": f"PHOTO-4X6 {reason}."}
        ]
        assert (answer.status, answer.error) == (
            403,
            f"The order cannot be submitted: ItemsContainingErrors, image {image_id} {reason}.",
        )
        assert later.get(f"/orders/{order_id}").data["images"][0]["sku"] == "PHOTO-4X6"

    @pytest.mark.parametrize(
        "later", [a_product(sku='"PHOTO-5X7"', type='"5x7"')], indirect=True, ids=["gone"]
    )
    def test_what_is_no_longer_sold_goes_nowhere_else_either(
        self, order_id: int, later: Client
    ) -> None:
        moved = later.put(f"/orders/{order_id}", an_order(countryCode="IE"))

        assert (moved.status, moved.error) == (400, "PHOTO-4X6 is not sold to IE.")

    @pytest.mark.parametrize(
        ("later", "reason"),
        [
            (a_product(), "Invalid attribute name finish."),
            (
                a_product(attributes='{ finish = ["gloss"] }'),
                "Value of 'matte' supplied for attribute 'finish' isn't in the list of supported "
                "values. Valid values are: [gloss].",
            ),
            (
                a_product(attributes='{ finish = ["matte"], size = ["S", "M"] }'),
                "`attributes.size` is required. Valid values are: [S,M].",
            ),
        ],
        indirect=["later"],
        ids=["attribute gone", "value gone", "attribute added"],
    )
    def test_a_choice_that_is_no_longer_offered_cannot_be_ordered(
        self, order_id: int, image_id: int, later: Client, reason: str
    ) -> None:
        said = f"is no longer sold with these attributes. {reason}"

        status, answer = check(later, order_id), submit(later, order_id)

        assert status["generalErrors"] == ["ItemsContainingErrors"]
        assert status["photos"] == [
            {
                "id": image_id,
                "errors": [],
                "warnings": ["AttributeNotValid"],
                "errorMessage": f"PHOTO-4X6 {said}",
            }
        ]
        assert (answer.status, answer.error) == (
            403,
            f"The order cannot be submitted: ItemsContainingErrors, image {image_id} {said}",
        )

    @pytest.mark.parametrize(
        "later",
        [
            a_product(
                attributes='{ finish = ["matte"], edge = ["white", "black"] }',
                defaults='{ edge = "white" }',
            )
        ],
        indirect=True,
        ids=["attribute with a default added"],
    )
    def test_a_choice_that_was_added_with_a_default_is_no_obstacle(
        self, order_id: int, later: Client
    ) -> None:
        assert found_in(later, order_id) == ([], [], [])

    @pytest.mark.parametrize(
        "later", [a_product(image='"6x6"', attributes=ATTRIBUTES)], indirect=True, ids=["square"]
    )
    def test_a_product_of_another_shape_is_judged_by_its_new_shape(
        self, order_id: int, later: Client
    ) -> None:
        assert found_in(later, order_id) == ([], [], ["CroppingWillOccur"])


class TestLabsThatAreClosed:
    @pytest.fixture
    def settings(self, settings: Settings, tmp_path: Path) -> Settings:
        """A catalogue whose only lab is paused."""
        folder = a_whole_folder(tmp_path, labs=a_lab(paused="true"))
        return msgspec.structs.replace(settings, catalogue=folder)

    def test_the_image_that_nobody_makes_is_listed_with_the_reason(
        self, v3: Client, database: Database
    ) -> None:
        order_id = create(v3)
        image_id = add(v3, order_id, sku="PHOTO-4X6")["id"]
        receive(database, image_id)

        status = check(v3, order_id)

        assert status["generalErrors"] == ["ItemsContainingErrors"]
        assert status["photos"] == [
            {
                "id": image_id,
                "errors": [],
                "warnings": [],
                "errorMessage": "PHOTO-4X6 cannot be made and sent to GB by any lab now; "
                "try another shipping method.",
            }
        ]


def test_every_code_of_the_contract_is_tested_here() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    # Nobody owes anything yet: every merchant pays before or on account.
    untested = {GeneralError.ACCOUNT_BALANCE_INSUFFICIENT}

    codes = {*GeneralError, *ImageError, *ImageWarning} - untested

    assert [code for code in codes if f'"{code}"' not in tests] == []
