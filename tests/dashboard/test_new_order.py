"""An order made by hand, with pictures from a browser."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from sqlalchemy import update

from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency
from printworks.dashboard.merchant.orders.uploads import MOST_FILES
from printworks.dashboard.merchant.sandbox.faults import FAULTS, add_words
from printworks.dashboard.shared.product_families import list_families
from printworks.labs.simulated import FAULTS as LAB_LABELS
from printworks.labs.simulated import list_faults
from printworks.payments.simulated import MAGIC
from printworks.rules.images import ImageStatus
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from printworks.store.tables import merchants
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
    ({"email": "no address"}, "Enter a valid email address"),
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
    ({"choice-finish": "shiny"}, "Choose the finish of the product: Lustre, Glossy and Matte."),
    ({"sku": "WEAR-HOODIE"}, "Choose the size of the product: S, M, L, XL and XXL."),
    ({"sku": "WEAR-HOODIE", "choice-size": "M"}, "Choose the colour of the product: White, Black"),
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

        assert 'name="choice-finish" value="matte" checked' in page.body.decode()
        assert 'name="copies" type="text" value="7"' in page.body.decode()


class TestMakingAnOrder:
    def test_a_first_time_visitor_presses_two_buttons_and_can_submit(self, alice: Window) -> None:
        page = alice.do(NEW, "use-sample-address", sku=PHOTO, sample="yes").body.decode()
        assert 'value="Sample Recipient"' in page
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
        assert "The order was created." in alice.follow(answer)

    def test_a_picture_of_the_merchants_is_taken_instead_of_ours(self, alice: Window) -> None:
        order_id = number_of(upload(alice, ("cat.jpg", A_PICTURE), sample="yes"))

        assert len(see(alice.api, order_id)["images"]) == 1


class TestRefusing:
    def test_files_of_which_none_is_a_picture_make_nothing(self, alice: Window) -> None:
        refused = upload(alice, ("cat.jpg", NOT_A_PICTURE), ("<b>dog.jpg", NOT_A_PICTURE))

        assert refused.status == 400
        assert "cat.jpg: " in words_of(refused)
        assert "<b>dog.jpg: " in words_of(refused)
        assert "<b>dog" not in refused.body.decode()
        assert "Choose them again" in words_of(refused)
        assert count_orders(alice) == 0

    @pytest.mark.both_databases
    def test_a_file_that_is_no_picture_costs_none_of_the_others(self, alice: Window) -> None:
        answer = upload(alice, ("cat.jpg", A_PICTURE), ("<b>dog.jpg", NOT_A_PICTURE))

        page = alice.open(answer.headers["location"])
        assert "Some files were not added" in words_of(page)
        assert "<b>dog.jpg: The file is not a picture" in words_of(page)
        assert "<b>dog" not in page.body.decode()
        assert [image["status"] for image in see(alice.api, 1)["images"]] == [ImageStatus.OK]

    def test_more_files_than_a_form_takes_are_named_and_the_others_taken(
        self, alice: Window
    ) -> None:
        files = [(f"{number}.jpg", A_PICTURE) for number in range(1, MOST_FILES + 2)]

        words = alice.follow(upload(alice, *files))

        assert f"{MOST_FILES + 1}.jpg: only {MOST_FILES} files can be added at once." in words
        assert len(see(alice.api, 1)["images"]) == MOST_FILES

    def test_nobody_else_puts_words_into_that_page(self, alice: Window) -> None:
        order_id = number_of(make_order(alice))

        for sign in ("", "0" * 64, "é"):
            query = urlencode({"refused": "Call 0800 for a refund", "sign": sign})
            assert "0800" not in alice.words(f"/orders/{order_id}/images?{query}")

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
    def test_only_what_is_sold_to_the_country_is_on_the_shelf(self, alice: Window) -> None:
        british, australian = (
            alice.words(f"{NEW}?kind=acrylic"),
            alice.words(f"{NEW}?kind=acrylic&country=AU"),
        )

        assert "Nothing fits." in british
        assert "Acrylic prism, gloss 4 sizes" in australian

    def test_tiles_are_found_by_words_kind_and_size(self, alice: Window) -> None:
        mugs, small = (
            alice.words(f"{NEW}?q=mug+white"),
            alice.words(f"{NEW}?kind=sticker&size=small"),
        )

        assert "2 products found White mug, 10 oz" in mugs
        assert "from £" not in mugs.partition("products found")[2].partition("Print £")[0]
        assert "1 product found Sticker 4 sizes" in small
        assert "0 products found" in alice.words(f"{NEW}?q=zeppelin")

    def test_all_tiles_are_found_page_by_page(self, alice: Window) -> None:
        seen: list[str] = []
        begin: str | None = "0"
        while begin is not None:
            page = alice.open(f"{NEW}?from={begin}").body.decode()
            seen += re.findall(r'data-pick="([^"]+)"', page)
            begin = next(iter(re.findall(r'data-from="(\d+)"', page)), None)

        sold = [
            family for family in list_families(open_catalogue(None)) if family.list_sold_to("GB")
        ]
        assert len(seen) == len(set(seen)) == len(sold)

    def test_what_can_be_chosen_of_it_is_shown_with_its_price(self, alice: Window) -> None:
        words = alice.words(f"{NEW}?sku=WEAR-HOODIE")

        assert "Size (choose one) S M L XL XXL Colour (choose one) White Black Grey Navy" in words
        assert "£21.00 each" in words

    def test_a_tile_is_chosen_without_scripts_and_keeps_what_was_typed(self, alice: Window) -> None:
        page = alice.send(
            f"{NEW}?pick=WEAR-HOODIE",
            {
                "form_token": alice.token(NEW),
                "do": "show-product-for-new-order",
                **FORM,
                "copies": "7",
            },
        )

        assert page.status == 200
        assert "Size (choose one) S M L XL XXL" in words_of(page)
        assert 'value="7"' in page.body.decode()
        assert f'value="{FORM["address1"]}"' in page.body.decode()
        assert count_orders(alice) == 0

    def test_it_stays_chosen_where_it_is_not_sold_and_says_so(self, alice: Window) -> None:
        page = alice.open(f"{NEW}?sku=AU-PRISM-4X6-GLOSS&country=GB")

        assert "is not sold to United Kingdom. It stays chosen" in words_of(page)
        assert 'name="sku" value="AU-PRISM-4X6-GLOSS" checked' in page.body.decode()
        assert "so it is not in this price" in words_of(page)

    def test_sizes_are_in_the_units_of_the_merchant(
        self, alice: Window, database: Database
    ) -> None:
        inches = alice.words(f"{NEW}?sku=GLOBAL-PHO-9X13CM&country=DE")
        with database.writing() as db:
            db.execute(update(merchants).values(currency=Currency.EUR))
        centimetres = alice.words(f"{NEW}?sku={PHOTO}&country=DE")

        assert "3.5 \N{MULTIPLICATION SIGN} 5.1 in (9 \N{MULTIPLICATION SIGN} 13 cm)" in inches
        assert (
            "10.2 \N{MULTIPLICATION SIGN} 15.2 cm (4 \N{MULTIPLICATION SIGN} 6 in)" in centimetres
        )
        assert "€" in centimetres

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
