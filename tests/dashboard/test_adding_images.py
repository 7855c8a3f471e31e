"""The images of an order that is still open, from a browser."""

from typing import Any

import pytest

from printworks.dashboard.shared.money import format_money
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from tests.actions.complaints import a_draft
from tests.api.images import add, create, move, receive
from tests.api.production import all_rows, see, submit
from tests.dashboard.ordering import IMAGE_FORM
from tests.dashboard.visits import ask_merchant, words_of
from tests.dashboard.windows import Window, merchant_of
from tests.running import Answer
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE


def upload(window: Window, order_id: int, *files: tuple[str, bytes], **fields: str) -> Answer:
    """Send the form that adds images, with files."""
    named = [("pictures", name, content) for name, content in files]
    page = f"/orders/{order_id}/images"
    return window.upload(page, "add-images", named, **{**IMAGE_FORM, **fields})


def images_of(window: Window, order_id: int) -> list[Any]:
    """Return the images of an order."""
    found: list[Any] = see(window.api, order_id)["images"]
    return found


class TestAdding:
    def test_the_running_price_is_what_will_be_charged_with_tracking_too(
        self, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            plain = a_draft(db, merchant)
            tracked = a_draft(db, merchant, is_tracked=True)
        assert tracked.shipping_price > plain.shipping_price

        for order in (plain, tracked):
            said = alice.words(f"/orders/{order.id}/images")
            assert f"Shipping {format_money(order.shipping_price, 'GBP')}" in said
            assert f"Total {format_money(order.price, 'GBP')}" in said

    @pytest.mark.both_databases
    def test_pictures_are_judged_at_once_and_shown_with_what_to_know(
        self, alice: Window, database: Database
    ) -> None:
        order_id = create(alice.api)

        answer = upload(
            alice,
            order_id,
            ("cat.jpg", A_PICTURE),
            ("dog.jpg", ANOTHER_PICTURE),
            sku="GLOBAL-POS-10X15",
            addresses="https://shop.example/bird.jpg",
            copies="2",
        )

        words = alice.follow(answer)
        assert "The images were added." in words
        assert "3 images" in words
        assert words.count("Ready") == 2
        assert "On its way" in words
        assert "cat.jpg" in words
        assert "dog.jpg" in words
        assert "bird.jpg" in words
        assert "150 or more look sharp." in words
        assert [image["copies"] for image in images_of(alice, order_id)] == [2, 2, 2]
        with database.reading() as db:
            [entry] = list_audit(db, limit=10)
        assert (entry.action, entry.subject) == ("add-images", f"order {order_id}")
        assert entry.details == {"images": 3}

    def test_what_has_no_default_must_be_chosen(self, alice: Window) -> None:
        order_id = create(alice.api)
        hoodie = {"sku": "WEAR-HOODIE", "choice-size": "M"}

        refused = upload(alice, order_id, ("cat.jpg", A_PICTURE), **hoodie)
        none = images_of(alice, order_id)
        upload(alice, order_id, ("cat.jpg", A_PICTURE), **hoodie, **{"choice-colour": "navy"})

        assert refused.status == 400
        assert "Choose the colour of the product: White, Black, Grey and Navy." in words_of(refused)
        assert none == []
        [image] = images_of(alice, order_id)
        assert image["attributes"] == {"size": "M", "colour": "navy"}

    def test_one_that_is_no_picture_is_named_and_the_others_are_added(
        self, alice: Window, database: Database
    ) -> None:
        order_id = create(alice.api)

        answer = upload(
            alice,
            order_id,
            ("cat.jpg", A_PICTURE),
            ("dog.jpg", NOT_A_PICTURE),
            addresses="https://shop.example/bird.jpg",
        )

        words = alice.follow(answer)
        assert "dog.jpg: The file is not a picture" in words
        assert "All others were added." in words
        assert len(images_of(alice, order_id)) == 2
        with database.reading() as db:
            [entry] = list_audit(db, limit=10)
        assert entry.details == {"images": 2}

    def test_none_that_is_a_picture_adds_nothing(self, alice: Window, database: Database) -> None:
        order_id = create(alice.api)

        refused = upload(alice, order_id, ("dog.jpg", NOT_A_PICTURE), ("a.txt", b"text"))

        assert refused.status == 400
        assert "dog.jpg: " in words_of(refused)
        assert "a.txt: " in words_of(refused)
        assert images_of(alice, order_id) == []
        assert see(alice.api, order_id)["price"] == 0
        with database.reading() as db:
            assert list_audit(db, limit=10) == []

    def test_what_is_not_sold_to_the_orders_country_is_refused(self, alice: Window) -> None:
        order_id = create(alice.api)

        refused = upload(alice, order_id, ("cat.jpg", A_PICTURE), sku="AU-PRISM-4X6-GLOSS")

        assert refused.status == 400
        assert "is not sold to United Kingdom. Choose another product." in words_of(refused)

    def test_a_picture_that_is_on_its_way_is_looked_for_again(
        self, alice: Window, database: Database
    ) -> None:
        order_id = create(alice.api)
        image_id = add(alice.api, order_id)["id"]
        page = alice.open(f"/orders/{order_id}/images").body.decode()
        looking = page.partition('hx-get="/orders/')[2].partition('"')[0].replace("&amp;", "&")

        same = alice.open(f"/orders/{looking}", HX_Request="true")
        receive(database, image_id)
        page = alice.open(f"/orders/{order_id}/images").body.decode()

        assert "seen=" in looking
        assert same.status == 204
        assert 'hx-trigger="every 2s' not in page


class TestRemoving:
    @pytest.mark.both_databases
    def test_an_image_goes_and_so_does_its_price(self, alice: Window, database: Database) -> None:
        order_id = create(alice.api)
        first, second = add(alice.api, order_id)["id"], add(alice.api, order_id)["id"]

        answer = alice.do(f"/orders/{order_id}/images", "remove-image", image=first)

        assert "The image was removed." in alice.follow(answer)
        assert [image["id"] for image in images_of(alice, order_id)] == [second]
        with database.reading() as db:
            [entry] = list_audit(db, limit=10)
        assert (entry.action, entry.details) == ("remove-image", {"image": first})

    def test_one_of_another_order_is_not_found(self, alice: Window, bob: Window) -> None:
        order_id, theirs = create(alice.api), create(bob.api)
        image_id = add(bob.api, theirs)["id"]

        for number in (image_id, "²", "x", 10**30, "9" * 5000):
            page = f"/orders/{order_id}/images"
            assert alice.do(page, "remove-image", image=number).status == 404
        assert len(images_of(bob, theirs)) == 1


class TestOrdersThatAreNotOpen:
    def test_one_that_is_submitted_shows_its_images_and_says_why_they_stay(
        self, alice: Window, database: Database
    ) -> None:
        order_id = submit(alice.api)
        [image] = images_of(alice, order_id)
        before = all_rows(database)

        page = alice.open(f"/orders/{order_id}/images")
        token = {"form_token": alice.token("/settings")}
        removed = alice.send(
            f"/orders/{order_id}/images", {**token, "do": "remove-image", "image": image["id"]}
        )
        added = alice.send(
            f"/orders/{order_id}/images",
            {**token, "do": "add-images", **IMAGE_FORM, "sample": "yes"},
        )

        assert "The order is submitted, so its images cannot be changed." in words_of(page)
        assert 'value="add-images"' not in page.body.decode()
        assert 'value="remove-image"' not in page.body.decode()
        assert removed.status == 400
        assert "cannot be removed from an order that is Submitted" in words_of(removed)
        assert added.status == 400
        assert all_rows(database) == before

    def test_each_says_its_own_reason(self, alice: Window, database: Database) -> None:
        ended = create(alice.api)
        move(database, ended, OrderStatus.CANCELLED)
        waiting, _ = ask_merchant(alice.api)

        assert "The order is cancelled" in alice.words(f"/orders/{ended}/images")
        assert "The order is awaiting payment" in alice.words(f"/orders/{waiting}/images")


def test_somebody_elses_order_is_not_found(alice: Window, bob: Window) -> None:
    order_id = create(bob.api)
    token = alice.token("/settings")

    shown = alice.open(f"/orders/{order_id}/images")
    sent = alice.send(
        f"/orders/{order_id}/images",
        {"form_token": token, "do": "add-images", **IMAGE_FORM, "sample": "yes"},
    )

    assert (shown.status, sent.status) == (404, 404)
    assert words_of(shown) == words_of(alice.open("/orders/999/images"))
    assert images_of(bob, order_id) == []


def test_a_long_list_comes_in_pages(alice: Window) -> None:
    order_id = create(alice.api)
    body = [
        {"sku": "GLOBAL-PHO-4X6-PRO", "url": f"https://shop.example/{n}.jpg", "copies": 1}
        for n in range(30)
    ]
    added = alice.api.post(f"/orders/{order_id}/images/batch", body).json()["items"]
    assert len(added) == 30

    first = alice.open(f"/orders/{order_id}/images")
    older = first.body.decode().partition('rel="next"')[0].rpartition('href="')[2]
    second = alice.words(older.partition('"')[0])

    assert "Remove 29.jpg" in words_of(first)
    assert "Remove 0.jpg" not in words_of(first)
    assert "Remove 0.jpg" in second
    assert "Remove 29.jpg" not in second
