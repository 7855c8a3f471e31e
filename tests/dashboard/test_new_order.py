"""An order made by hand, with pictures from a browser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from printworks.dashboard.merchant.sandbox.faults import FAULTS, add_words
from printworks.labs.simulated import FAULTS as LAB_LABELS
from printworks.labs.simulated import list_faults
from printworks.payments.simulated import MAGIC
from printworks.rules.images import ImageStatus
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from tests.api.production import see, set_status
from tests.dashboard.ordering import (
    FORM,
    IMAGE_FORM,
    NEW,
    PHOTO,
    count_orders,
    make_order,
    number_of,
)
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE

# What may be wrong with the form, and what is said then.
WRONG: Final[Sequence[tuple[Mapping[str, str], str]]] = (
    ({"recipient_name": " ", "postal_code": ""}, "Enter the recipient's name. Enter the postcode"),
    ({"address1": "x" * 201}, "Use at most 200 characters."),
    ({"email": "no address"}, "Enter a valid e-mail address"),
    ({"telephone": "1" * 51}, "Enter a valid phone number."),
    ({"country": "QQ"}, "Choose a country."),
    ({"shipping_method": "Pigeon"}, "Choose a shipping method."),
    ({"payment": "Nobody"}, "Choose who pays."),
    ({"reference": "x" * 256}, "The reference can have at most 255 characters."),
    ({"sku": "NOTHING"}, "Choose a product."),
    ({"sku": "AU-PRISM-4X6-GLOSS"}, "is not sold to United Kingdom."),
    ({"copies": "0"}, "Copies must be a number from 1 to 100,000."),
    ({"copies": "two"}, "Copies must be a number"),
    ({"sizing": "Fold"}, "Choose how the picture should fit the paper."),
    ({"choice-finish": "shiny"}, "Finish of this product can be: lustre, glossy, matte."),
    ({"sku": "WEAR-HOODIE"}, "Size of this product can be: S, M, L, XL, XXL."),
    ({"sku": "WEAR-HOODIE", "choice-size": "M"}, "Colour of this product can be: white, black"),
    ({"price_to_user": "12.50"}, "Leave it empty, or let the recipient pay."),
    ({"price_to_user": "much", "payment": "InvoiceRecipient"}, "a price for the recipient such as"),
    ({"addresses": "cat.jpg"}, "“cat.jpg” cannot be used. An address must begin with"),
    ({"addresses": "https://10.0.0.5/cat.jpg"}, "cannot be used. The address is not public"),
    ({"addresses": "https://a:b@shop.example/"}, "no user name and no password"),
    ({"sample": ""}, "Choose a picture, or enter the address of one."),
)


def upload(window: Window, *files: tuple[str, bytes], **fields: str) -> Any:
    """Send the form for a new order with files."""
    named = [("pictures", name, content) for name, content in files]
    return window.upload(NEW, "create-order", named, **{**FORM, **fields})


class TestTheForm:
    def test_our_sample_does_not_take_the_place_of_a_picture_that_was_refused(
        self, alice: Window
    ) -> None:
        answer = upload(alice, ("cat.jpg", NOT_A_PICTURE), sample="yes")

        assert answer.status == 400
        assert "Choose them again" in words_of(answer)
        assert 'name="sample" value="yes">' in answer.body.decode()

    def test_what_was_chosen_of_a_product_stays_when_the_country_changes(
        self, alice: Window
    ) -> None:
        page = alice.open(f"{NEW}?country=DE&sku={PHOTO}&choice-finish=matte&copies=7")

        assert '<option value="matte" selected>' in page.body.decode()
        assert 'name="copies" type="text" value="7"' in page.body.decode()


class TestMakingAnOrder:
    def test_a_first_time_visitor_presses_one_button_and_can_submit(self, alice: Window) -> None:
        page = alice.open(NEW).body.decode()
        assert 'value="Mary Fox"' in page
        assert 'name="sample" value="yes" checked' in page

        order_id = number_of(make_order(alice))

        [image] = see(alice.api, order_id)["images"]
        assert image["status"] == ImageStatus.OK
        status = alice.api.get(f"/orders/{order_id}/submissionstatus").data
        # Neither too small for the product that is offered, nor of another shape.
        assert (status["isValid"], status["photos"]) == (True, [])
        assert set_status(alice.api, order_id, "Submitted").status == 200

    @pytest.mark.both_databases
    def test_everything_in_the_form_is_in_the_order(
        self, alice: Window, database: Database
    ) -> None:
        answer = upload(
            alice,
            ("cat.jpg", A_PICTURE),
            ("dog.jpg", ANOTHER_PICTURE),
            address2="Flat 3",
            state_or_county="Yorkshire",
            email="mary@shop.example",
            telephone="+44 1904 000000",
            shipping_method="Express",
            payment="InvoiceRecipient",
            price_to_user="12,5",
            copies="3",
            sizing="ShrinkToFit",
            addresses="https://shop.example/bird.jpg\n\n https://shop.example/fish.jpg ",
            **{"choice-finish": "matte"},
        )

        order_id = number_of(answer)
        order = see(alice.api, order_id)
        assert (order["recipientName"], order["address2"]) == ("Mary Fox", "Flat 3")
        assert (order["stateOrCounty"], order["countryCode"]) == ("Yorkshire", "GB")
        assert (order["preferredShippingMethod"], order["payment"]) == (
            "Express",
            "InvoiceRecipient",
        )
        assert order["merchantOrderId"] == "A-1001"
        assert sorted(image["status"] for image in order["images"]) == [
            ImageStatus.NOT_YET_DOWNLOADED,
            ImageStatus.NOT_YET_DOWNLOADED,
            ImageStatus.OK,
            ImageStatus.OK,
        ]
        for image in order["images"]:
            assert (image["copies"], image["sizing"]) == (3, "ShrinkToFit")
            assert (image["sku"], image["priceToUser"]) == (PHOTO, 1250)
            assert image["attributes"] == {"finish": "matte"}
        with database.reading() as db:
            added, created = list_audit(db, limit=10)
        assert (created.action, created.subject) == ("create-order", f"order {order_id}")
        assert (added.action, added.details) == ("add-images", {"images": 4})
        assert "Check it, then submit it" in alice.follow(answer)

    def test_a_picture_of_the_merchants_is_taken_instead_of_ours(self, alice: Window) -> None:
        order_id = number_of(upload(alice, ("cat.jpg", A_PICTURE), sample="yes"))

        assert len(see(alice.api, order_id)["images"]) == 1


class TestRefusing:
    def test_a_file_that_is_no_picture_makes_nothing(self, alice: Window) -> None:
        refused = upload(alice, ("cat.jpg", A_PICTURE), ("<b>dog</b>.jpg", NOT_A_PICTURE))

        assert refused.status == 400
        assert "<b>dog</b>.jpg: " in words_of(refused)
        assert "<b>dog</b>" not in refused.body.decode()
        assert "Choose them again" in words_of(refused)
        assert count_orders(alice) == 0

    def test_it_says_what_is_wrong_keeps_what_was_typed_and_makes_nothing(
        self, alice: Window
    ) -> None:
        for fields, reason in WRONG:
            refused = make_order(alice, **{"address1": "Kept Lane 5", **fields})

            assert refused.status == 400, fields
            assert reason in words_of(refused)
            assert 'value="Kept Lane 5"' in refused.body.decode() or "address1" in fields
        assert count_orders(alice) == 0

    def test_pictures_that_cannot_be_kept_are_asked_for_once_more(
        self, alice: Window, tmp_path: Path
    ) -> None:
        number_of(make_order(alice))
        (tmp_path / "files").rename(tmp_path / "unmounted")
        answer = make_order(alice)
        (tmp_path / "unmounted").rename(tmp_path / "files")

        page = answer.headers["location"].partition("?")[0]
        assert page == "/orders/2/images"
        assert "The order was created without its images" in alice.follow(answer)
        assert see(alice.api, 2)["images"] == []
        assert alice.do(page, "add-images", **IMAGE_FORM, sample="yes").status == 303
        assert [image["status"] for image in see(alice.api, 2)["images"]] == [ImageStatus.OK]


class TestChoosingAProduct:
    def test_only_what_is_sold_to_the_country_is_offered(self, alice: Window) -> None:
        british, australian = alice.words(NEW), alice.words(f"{NEW}?country=AU")

        assert "AU-PRISM-4X6-GLOSS" not in british
        assert "AU-PRISM-4X6-GLOSS" in australian

    def test_what_can_be_chosen_of_it_is_shown_with_its_price(self, alice: Window) -> None:
        words = alice.words(f"{NEW}?sku=WEAR-HOODIE")

        assert "Size Choose S M L XL XXL Colour Choose white black grey navy" in words
        assert "£21.00 each" in words

    def test_browsers_without_scripts_can_ask_for_that_as_well(self, alice: Window) -> None:
        page = alice.do(
            NEW, "show-product-for-new-order", **{**FORM, "sku": "WEAR-HOODIE", "copies": "7"}
        )

        assert page.status == 200
        assert "Size Choose S M L XL XXL" in words_of(page)
        assert 'value="7"' in page.body.decode()
        assert count_orders(alice) == 0

    def test_another_one_is_offered_where_it_is_not_sold(self, alice: Window) -> None:
        words = alice.words(f"{NEW}?sku=AU-PRISM-4X6-GLOSS&country=GB")

        assert "is not sold to United Kingdom. Another product is selected." in words

    def test_the_page_is_small(self, alice: Window) -> None:
        assert len(alice.open(NEW).body) < 100_000


class TestFaults:
    def test_what_should_go_wrong_is_said_in_the_reference(self, alice: Window) -> None:
        asked = alice.open(f"{NEW}?fault=sandbox:late").body.decode()
        order_id = number_of(make_order(alice, fault=["sandbox:late", "pay-lost", "made-up"]))

        assert 'value="sandbox:late" checked' in asked
        reference = see(alice.api, order_id)["merchantOrderId"]
        assert reference == "A-1001 sandbox:late pay-lost"
        assert list_faults(reference) == ["late"]

    def test_every_word_that_means_something_is_explained(self) -> None:
        words = {fault.word for fault in FAULTS}

        assert words == {f"sandbox:{word}" for word in LAB_LABELS} | {str(word) for word in MAGIC}

    def test_a_word_that_is_there_already_is_not_added_again(self) -> None:
        assert add_words("A-1 Sandbox:Late", ["sandbox:late", "sandbox:lost"]) == (
            "A-1 Sandbox:Late sandbox:lost"
        )
