"""What the script of the order form asks for: a draft, and pictures one by one."""

import json
from typing import Any

import pytest

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from tests.api.images import create, move
from tests.api.production import all_rows, see
from tests.dashboard.ordering import FORM, IMAGE_FORM, NEW, PHOTO, count_orders, number_of
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window
from tests.running import Answer
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE


def told(answer: Answer) -> dict[str, Any]:
    """Return what the script is told."""
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    read: dict[str, Any] = json.loads(answer.body)
    return read


def begin(window: Window, **fields: str) -> int:
    """Make a draft."""
    return int(told(window.do(NEW, "begin-order", **{**FORM, **fields}))["order"])


def add(window: Window, order_id: int, content: bytes = A_PICTURE, **fields: str) -> Answer:
    """Add a picture to it."""
    page = f"/orders/{order_id}/images"
    files = [("pictures", "cat.jpg", content)]
    return window.upload(page, "add-picture", files, **{**IMAGE_FORM, **fields})


class TestADraft:
    @pytest.mark.both_databases
    def test_pictures_come_one_by_one_and_the_rest_at_the_end(self, alice: Window) -> None:
        order_id = begin(alice)
        first = told(add(alice, order_id, copies="2"))
        second = told(add(alice, order_id, ANOTHER_PICTURE, sku="GLOBAL-POS-10X15"))

        answer = alice.do(
            f"{NEW}?order={order_id}",
            "create-order",
            **{**FORM, "order": str(order_id), "shipping_method": "Express", "sample": "yes"},
        )

        assert number_of(answer) == order_id
        assert count_orders(alice) == 1
        order = see(alice.api, order_id)
        assert (order["recipientName"], order["countryCode"]) == ("Mary Fox", "GB")
        assert order["preferredShippingMethod"] == "Express"
        assert [image["id"] for image in order["images"]] == [first["image"], second["image"]]
        assert (first["title"], first["copies"]) == ("4x6 inch print", 2)
        assert alice.open(first["thumbnail"]).status == 200
        assert order["price"] > 0

    def test_a_page_that_was_closed_shows_them_again(self, alice: Window) -> None:
        order_id = begin(alice, shipping_method="Express")
        image = told(add(alice, order_id))["image"]

        page = alice.open(f"{NEW}?order={order_id}")

        assert f'data-image="{image}"' in page.body.decode()
        assert 'name="shipping_method" value="Express" checked' in page.body.decode()
        assert "Remove " in words_of(page)
        assert 'name="sample" value="yes">' in page.body.decode()

    def test_a_picture_is_removed_by_a_button_of_the_form(self, alice: Window) -> None:
        order_id = begin(alice)
        image = told(add(alice, order_id))["image"]
        page = f"/orders/{order_id}/images?image={image}"

        assert alice.do(page, "remove-image", **FORM).status == 303
        assert see(alice.api, order_id)["images"] == []

    def test_what_is_looked_at_meanwhile_does_not_matter(self, alice: Window) -> None:
        order_id = begin(alice)
        add(alice, order_id)
        form = {**FORM, "order": str(order_id), "sku": "WEAR-HOODIE"}

        more = alice.do(NEW, "create-order", **{**form, "addresses": "https://shop.example/1.jpg"})
        assert number_of(alice.do(NEW, "create-order", **form)) == order_id

        assert more.status == 400
        assert "Choose the size of the product" in words_of(more)
        assert [image["sku"] for image in see(alice.api, order_id)["images"]] == [PHOTO]

    def test_it_is_in_the_list_and_has_a_page(self, alice: Window) -> None:
        order_id = begin(alice)
        add(alice, order_id)

        assert str(order_id) in alice.words("/orders")
        assert "Not ready" in alice.words(f"/orders/{order_id}")
        assert "Country" in alice.words(f"/orders/{order_id}/address")

    def test_more_pictures_may_come_with_the_form(self, alice: Window) -> None:
        order_id = begin(alice)
        add(alice, order_id)
        form = {**FORM, "order": str(order_id)}
        files = [("pictures", "dog.jpg", ANOTHER_PICTURE)]

        assert number_of(alice.upload(NEW, "create-order", files, **form)) == order_id
        assert len(see(alice.api, order_id)["images"]) == 2

    def test_the_recipients_price_is_that_of_every_picture(self, alice: Window) -> None:
        order_id = begin(alice)
        add(alice, order_id)
        add(alice, order_id, ANOTHER_PICTURE)
        who = {**FORM, "order": str(order_id), "payment": "InvoiceRecipient"}

        alice.do(NEW, "create-order", **{**who, "price_to_user": "12.50"})

        images = see(alice.api, order_id)["images"]
        assert [image["priceToUser"] for image in images] == [1250, 1250]

    def test_a_country_where_one_of_them_is_not_sold_is_refused_with_its_name(
        self, alice: Window
    ) -> None:
        order_id = begin(alice)
        add(alice, order_id, sku="AU-PRISM-4X6-GLOSS")

        refused = alice.do(NEW, "create-order", **{**FORM, "order": str(order_id)})

        assert refused.status == 400
        words = words_of(refused)
        assert "4x6 inch acrylic prism, gloss cannot be sent to United Kingdom." in words
        assert see(alice.api, order_id)["recipientName"] is None

    def test_one_that_is_submitted_is_shown_as_an_order(
        self, alice: Window, database: Database
    ) -> None:
        order_id = create(alice.api)
        move(database, order_id, OrderStatus.SUBMITTED)

        shown = alice.open(f"{NEW}?order={order_id}")
        refused = alice.do(NEW, "create-order", **{**FORM, "order": str(order_id), "sample": "y"})

        assert shown.headers["location"] == f"/orders/{order_id}"
        assert refused.status == 303
        assert see(alice.api, order_id)["images"] == []

    def test_somebody_elses_is_not_found(self, alice: Window, bob: Window) -> None:
        order_id = begin(bob)

        assert alice.open(f"{NEW}?order={order_id}").status == 404
        sent = {**FORM, "order": str(order_id), "sample": "yes"}
        assert alice.do(NEW, "create-order", **sent).status == 404
        assert see(bob.api, order_id)["images"] == []


class TestRefusals:
    def test_a_file_that_is_no_picture_is_refused_for_good(
        self, alice: Window, database: Database
    ) -> None:
        order_id = begin(alice)
        before = see(alice.api, order_id)

        refused = add(alice, order_id, NOT_A_PICTURE)

        assert refused.status == 400
        assert told(refused)["problem"].startswith("cat.jpg: The file is not a picture")
        assert told(refused)["isFinal"] is True
        assert see(alice.api, order_id) == before

    def test_a_form_that_is_incomplete_may_be_sent_again(self, alice: Window) -> None:
        order_id = begin(alice)

        refused = told(add(alice, order_id, sku="WEAR-HOODIE"))

        assert refused["isFinal"] is False
        assert refused["problem"].startswith("Choose the size of the product: S, M")
        page = f"/orders/{order_id}/images"
        two = [("pictures", "a.jpg", A_PICTURE), ("pictures", "b.jpg", A_PICTURE)]
        both = alice.upload(page, "add-picture", two, **IMAGE_FORM)
        assert told(both)["problem"] == "Send one picture at a time."
        nothing = told(alice.do(page, "add-picture", **IMAGE_FORM))
        assert nothing["problem"] == "Choose a picture, or enter the address of one."
        assert see(alice.api, order_id)["images"] == []

    def test_a_draft_needs_a_known_way_to_travel(self, alice: Window) -> None:
        refused = alice.do(NEW, "begin-order", **{**FORM, "shipping_method": "Pigeon"})

        assert refused.status == 400
        assert told(refused)["problem"] == "Choose a shipping method."
        assert count_orders(alice) == 0

    def test_an_order_that_is_not_open_takes_none(self, alice: Window, database: Database) -> None:
        order_id = create(alice.api)
        token = alice.token(f"/orders/{order_id}/images")
        move(database, order_id, OrderStatus.CANCELLED)
        before = all_rows(database)

        sent = {"form_token": token, "do": "add-picture", **IMAGE_FORM, "sample": "yes"}
        refused = told(alice.send(f"/orders/{order_id}/images", sent))

        assert refused["problem"].startswith("The order is cancelled")
        assert all_rows(database) == before


class TestThePrice:
    def test_it_counts_what_is_there_and_what_is_on_its_way(self, alice: Window) -> None:
        order_id = begin(alice)
        add(alice, order_id, copies="2")

        example = alice.words(f"{NEW}?sku={PHOTO}")
        there = alice.words(f"{NEW}?order={order_id}&sku={PHOTO}")
        more = alice.words(f"{NEW}?order={order_id}&sku={PHOTO}&waiting=3&copies=4")

        assert "1 \N{MULTIPLICATION SIGN} 4x6 inch print £0.28" in example
        assert "One picture £" in example
        assert "2 \N{MULTIPLICATION SIGN} 4x6 inch print £0.56" in there
        assert "14 \N{MULTIPLICATION SIGN} 4x6 inch print £3.92" in more

    def test_shipments_are_counted_and_explained(self, alice: Window) -> None:
        order_id = begin(alice)
        for sku in (PHOTO, "EU-CAN-8X8", "MUG-10OZ-WHITE"):
            add(alice, order_id, sku=sku)

        words = alice.words(f"{NEW}?order={order_id}&country=GB")

        shipments = words.partition("Price")[2]
        assert "3 shipments" in shipments
        assert "Print: 1 copy From" in shipments
        assert "different packaging" in shipments or "each send a shipment" in shipments

    def test_strange_numbers_are_no_failure(self, alice: Window) -> None:
        for copies in ("0", "-1", "²", "9" * 40, "x"):
            query = f"copies={copies}&waiting={copies}&from={copies}&country={copies}"
            assert alice.open(f"{NEW}?{query}").status == 200
        assert alice.open(f"{NEW}?shipping_method=Pigeon&sku=none&size=huge&kind=air").status == 200


def test_a_picture_that_is_added_is_ready(alice: Window) -> None:
    order_id = begin(alice)

    add(alice, order_id)

    [image] = see(alice.api, order_id)["images"]
    assert image["status"] == ImageStatus.OK
