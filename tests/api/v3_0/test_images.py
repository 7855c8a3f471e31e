"""Operations 7 and 8 of the 3.0 contract, line by line."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import pytest
from sqlalchemy import func, select

from printworks.rules.images import MOST_IN_BATCH
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from printworks.store.tables import images, jobs, order_events
from tests.api.client import Client
from tests.api.conftest import MovableClock, an_order
from tests.api.images import (
    PHOTO,
    URL,
    WAYS,
    add,
    an_image,
    count_images,
    create,
    move,
    promised,
)
from tests.running import Answer

EVERY_MEMBER = {
    "id", "sku", "url", "status", "copies", "sizing", "price", "priceToUser", "md5Hash",
    "previewUrl", "thumbnailUrl", "mockupUrl", "attributes", "errorMessage", "placement",
}  # fmt: skip

FULL_IMAGE = {
    "sku": PHOTO,
    "url": "https://shop.example/a/b.jpg?size=large&v=2",
    "copies": 3,
    "sizing": "ShrinkToFit",
    "priceToUser": 250,
    "md5Hash": "79054025255fb1a26e4bc422aef54eb4",
    "attributes": {"finish": "matte"},
    "placement": {"x": 0.25, "y": 1.0, "zoom": 1.5},
}

NOT_ABSOLUTE = "`url` is wrong: An address must begin with http:// or https://."
COPIES = "`copies` must be a whole number from 0 to 100000."
WHOLE = "`priceToUser` must be a whole number of pence or cents: 1250 for 12.50, for example."
HASH = "`md5Hash` must be an MD5 hash of 32 hexadecimal digits."
FRAME = "FRA-INSTA-30X30"
# Sold in Europe only.
CANVAS = "EU-CAN-8X8"


@pytest.fixture
def order_id(v3: Client) -> int:
    """An order of Alice's that takes images."""
    return create(v3)


def refused(client: Client, order_id: int, **members: Any) -> Answer:
    """Offer an image that must not be taken, and make sure that nothing was."""
    before = client.get(f"/orders/{order_id}").data
    answer = client.post(f"/orders/{order_id}/images", an_image(**members))
    assert client.get(f"/orders/{order_id}").data == before
    return answer


def count_everywhere(database: Database) -> list[int]:
    """Count what adding images writes."""
    with database.reading() as db:
        counted = (select(func.count()).select_from(table) for table in (images, jobs))
        return [db.execute(query).scalar_one() for query in counted]


class TestAddingOne:
    @pytest.mark.both_databases
    def test_an_image_comes_back_with_every_member(self, v3: Client) -> None:
        order_id = create(v3, payment="InvoiceRecipient")

        answer = v3.post(f"/orders/{order_id}/images", FULL_IMAGE)

        assert set(answer.data) == EVERY_MEMBER
        for member, value in FULL_IMAGE.items():
            assert answer.data[member] == value
        assert answer.data["id"] > 0
        assert answer.data["price"] == 28
        assert answer.json()["statusTxt"] == "OK"
        assert answer.json()["statusCode"] == 200

    def test_a_new_image_has_not_been_downloaded(self, v3: Client, order_id: int) -> None:
        image = add(v3, order_id)

        assert image["status"] == "NotYetDownloaded"
        assert image["attributes"] == {"finish": "lustre"}
        empty = ("priceToUser", "md5Hash", "previewUrl", "thumbnailUrl", "errorMessage")
        for member in (*empty, "mockupUrl", "placement"):
            assert image[member] is None

    def test_a_form_makes_the_same_image_as_json(self, v3: Client) -> None:
        order_id = create(v3, payment="InvoiceRecipient")
        nested = {"attributes", "placement"}
        flat = {key: value for key, value in FULL_IMAGE.items() if key not in nested}
        placed = {"placement[x]": "0.25", "placement[Y]": 1, "placement[zoom]": "1.5"}

        by_json = v3.post(f"/orders/{order_id}/images", FULL_IMAGE).data
        by_form = v3.post_form(
            f"/orders/{order_id}/images", {**flat, **placed, "attributes[finish]": "matte"}
        ).data

        assert {**by_form, "id": 0} == {**by_json, "id": 0}

    @pytest.mark.parametrize(
        ("placement", "shown"),
        [
            # What is left out is as in the middle; a text is as good as a number.
            ({"x": "0"}, {"x": 0.0, "y": 0.5, "zoom": 1.0}),
            ({"X": 1, "zoom": 4}, {"x": 1.0, "y": 0.5, "zoom": 4.0}),
            ({"x": 0.123456, "y": None, "mood": "?"}, {"x": 0.1235, "y": 0.5, "zoom": 1.0}),
            ({}, None),
            ([], None),
            ("", None),
            (None, None),
        ],
    )
    def test_a_placement_is_shown_with_all_its_members(
        self, v3: Client, order_id: int, placement: Any, shown: Any
    ) -> None:
        assert add(v3, order_id, placement=placement)["placement"] == shown
        assert v3.get(f"/orders/{order_id}").data["images"][0]["placement"] == shown

    @pytest.mark.parametrize(
        ("placement", "message"),
        [
            ({"x": 1.01}, "`placement.x` must be a number from 0 to 1."),
            (
                {"x": -1, "y": "top", "zoom": 0.5},
                "`placement.x` must be a number from 0 to 1. "
                "`placement.y` must be a number from 0 to 1. "
                "`placement.zoom` must be a number from 1 to 4.",
            ),
            ({"zoom": [2]}, "`placement.zoom` must be a number from 1 to 4."),
            ("left", '`placement` must be an object such as {"x": 0.5, "y": 0, "zoom": 1}.'),
        ],
    )
    def test_a_wrong_placement_is_refused_with_a_sentence_for_each_member(
        self, v3: Client, order_id: int, placement: Any, message: str
    ) -> None:
        answer = refused(v3, order_id, placement=placement)

        assert (answer.status, answer.json()["errorMessage"]) == (400, message)

    def test_parts_make_the_same_image_as_json(self, v3: Client, order_id: int) -> None:
        fields = {**an_image(), "attributes[finish]": "matte"}
        parts = [
            f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        body = ("".join(parts) + "--XX--\r\n").encode()
        headers = {"Content-Type": "multipart/form-data; boundary=XX"}

        image = v3.request("POST", f"/orders/{order_id}/images", body, headers).data

        assert image["attributes"] == {"finish": "matte"}
        assert image["copies"] == 1

    def test_names_and_values_of_enumerations_may_come_in_any_case(
        self, v3: Client, order_id: int
    ) -> None:
        body = {
            "SKU": PHOTO.lower(),
            "Url": URL,
            "COPIES": 2,
            "sizing": "shrinktoexactfit",
            "MD5hash": FULL_IMAGE["md5Hash"],
            "Attributes": {"FINISH": "Matte"},
            "colour": "green",
            "id": 77,
            "status": "Ok",
            "price": 1,
        }

        image = v3.post(f"/orders/{order_id}/images", body).data

        assert image["sku"] == PHOTO
        assert image["sizing"] == "ShrinkToExactFit"
        assert image["attributes"] == {"finish": "matte"}
        assert image["status"] == "NotYetDownloaded"
        assert image["id"] != 77
        assert image["price"] == 28

    def test_numbers_may_come_as_text(self, v3: Client) -> None:
        order_id = create(v3, payment="InvoiceRecipient")

        image = add(v3, order_id, copies="2", priceToUser="250")

        assert image["copies"] == 2
        assert image["priceToUser"] == 250

    @pytest.mark.parametrize("sizing", ["absent", None, "", "  "])
    def test_an_image_is_cropped_when_nothing_else_is_chosen(
        self, v3: Client, order_id: int, sizing: str | None
    ) -> None:
        body = an_image(sizing=sizing)
        if sizing == "absent":
            del body["sizing"]

        assert v3.post(f"/orders/{order_id}/images", body).data["sizing"] == "Crop"

    @pytest.mark.parametrize("sizing", ["Crop", "ShrinkToFit", "ShrinkToExactFit"])
    def test_every_sizing_is_accepted(self, v3: Client, order_id: int, sizing: str) -> None:
        assert add(v3, order_id, sizing=sizing)["sizing"] == sizing

    @pytest.mark.parametrize("nothing", [[], "", "  ", None, {}, {"finish": None}, {"finish": " "}])
    def test_attributes_may_be_none_in_many_ways(
        self, v3: Client, order_id: int, nothing: Any
    ) -> None:
        assert add(v3, order_id, attributes=nothing)["attributes"] == {"finish": "lustre"}

    @pytest.mark.parametrize("name", ["sku", "url", "copies"])
    @pytest.mark.parametrize("value", ["absent", None, "", "  "])
    def test_a_required_member_that_is_missing_is_named(
        self, v3: Client, order_id: int, name: str, value: str | None
    ) -> None:
        body = an_image(**{name: value})
        if value == "absent":
            del body[name]

        answer = v3.post(f"/orders/{order_id}/images", body)

        assert answer.status == 400
        assert answer.error == f"`{name}` is required."
        assert v3.get(f"/orders/{order_id}").data["images"] == []

    @pytest.mark.parametrize(
        "url",
        [
            "sunset.jpg", "/sunset.jpg", "./sunset.jpg", "//shop.example/sunset.jpg",
            "shop.example/sunset.jpg", "shop.example:443/sunset.jpg", "http:", "http:/", "http://",
            "https:///sunset.jpg", "http:shop.example", "http:/shop.example", "http://?x=1",
            "http://#x", "http://:80/", "http://somebody@/", "ftp://shop.example/a.jpg",
            "file:///etc/passwd", "data:image/png;base64,AA", "javascript:alert(1)",
            "s3://bucket/key", "httpx://shop.example/", "http://[::1/a.jpg", "http://shop example/",
            "https://shop.example/a b.jpg", "https://shop.example/a\nb.jpg",
            "https://shop.example:port/", "https://shop.example:65536/", "\\\\server\\share",
            12, -1.5,
        ],
    )  # fmt: skip
    def test_an_address_that_is_not_absolute_is_refused(
        self, v3: Client, order_id: int, url: Any
    ) -> None:
        answer = refused(v3, order_id, url=url)

        assert answer.status == 400
        assert answer.error.startswith("`url` is wrong: ")

    @pytest.mark.parametrize(
        "url",
        [
            "http://shop.example",
            "HTTPS://Shop.Example:443/A.jpg?x=%20&y=a+b#top",
            "https://bücher.example/straße.jpg",
            "http://[2606:2800:21f::1]:80/a.jpg",
            f"https://shop.example/{'a' * 1979}",
        ],
    )
    def test_an_absolute_address_is_shown_as_it_was_written(
        self, v3: Client, order_id: int, url: str
    ) -> None:
        assert add(v3, order_id, url=url)["url"] == url

    @pytest.mark.parametrize(
        ("member", "value", "reason"),
        [
            ("sku", "NO-SUCH-SKU", "SKU not in catalogue"),
            ("sku", 4, "SKU not in catalogue"),
            ("sku", ["4x6"], "`sku` must be text."),
            ("sku", "x" * 101, "`sku` must have at most 100 characters."),
            ("sku", "a\x00b", "`sku` contains a control character."),
            ("url", "https://x.example/" + "a" * 2000, "`url` must have at most 2000 characters."),
            ("url", {"href": URL}, "`url` must be text."),
            ("url", "https://shop.example/\x07", "`url` contains a control character."),
            ("sizing", "Stretch", "`sizing` must be one of Crop, ShrinkToFit, ShrinkToExactFit."),
            ("sizing", 1, "`sizing` must be one of Crop, ShrinkToFit, ShrinkToExactFit."),
            ("copies", -1, COPIES),
            ("copies", "-1", COPIES),
            ("copies", 1.5, COPIES),
            ("copies", "0.5", COPIES),
            ("copies", 100_001, COPIES),
            ("copies", 10**30, COPIES),
            ("copies", "1e99", COPIES),
            ("copies", "9" * 300, COPIES),
            ("copies", "two", "`copies` must be a number."),
            ("copies", "9" * 500, "`copies` must be a number."),
            ("copies", "\u0662", "`copies` must be a number."),
            ("copies", "NaN", "`copies` must be a number."),
            ("copies", True, "`copies` must be a number."),
            ("copies", [1], "`copies` must be a number."),
            ("md5Hash", "abc", HASH),
            ("md5Hash", "7" * 31, HASH),
            ("md5Hash", "7" * 33, HASH),
            ("md5Hash", "g" * 32, HASH),
            ("md5Hash", "\u0667" * 32, HASH),
            ("md5Hash", 12, HASH),
            ("md5Hash", ["7" * 32], "`md5Hash` must be text."),
            ("attributes", "matte", "`attributes` must be an object of names and values."),
            ("attributes", ["matte"], "`attributes` must be an object of names and values."),
            ("attributes", 1, "`attributes` must be an object of names and values."),
            ("attributes", {"finish": True}, "`attributes.finish` must be text."),
            ("attributes", {"finish": {"a": 1}}, "`attributes.finish` must be text."),
            (
                "attributes",
                {str(number): "x" for number in range(51)},
                "`attributes` must have at most 50 members.",
            ),
            ("attributes", {"colour": "matte"}, "Invalid attribute name colour"),
            (
                "attributes",
                {"finish": "gold"},
                "Value of 'gold' supplied for attribute 'finish' isn't in the list of supported "
                "values. Valid values are: [lustre,glossy,matte]",
            ),
            (
                "priceToUser",
                250,
                "`priceToUser` is only allowed when the order's payment is InvoiceRecipient.",
            ),
            ("priceToUser", -1, "`priceToUser` must be between 0 and 1000000000000."),
            ("priceToUser", "much", "`priceToUser` must be a number."),
            *(("priceToUser", value, WHOLE) for value in (12.5, "12.50", "0.1", 1e-2)),
        ],
    )
    def test_a_wrong_member_is_refused_with_the_reason(
        self, v3: Client, order_id: int, member: str, value: Any, reason: str
    ) -> None:
        answer = refused(v3, order_id, **{member: value})

        assert answer.status == 400
        assert answer.json() == {
            "data": None,
            "errorMessage": reason,
            "statusTxt": reason,
            "statusCode": 400,
        }

    def test_the_colours_of_a_frame_are_listed_to_whoever_asks_for_another(
        self, v3: Client, order_id: int
    ) -> None:
        answer = refused(v3, order_id, sku=FRAME, attributes={"FrameColour": "gold"})

        assert answer.error == (
            "Value of 'gold' supplied for attribute 'frameColour' isn't in the list of supported "
            "values. Valid values are: [white,black]"
        )

    def test_a_product_that_is_not_sold_to_the_destination_is_refused(self, v3: Client) -> None:
        at_home, overseas = create(v3, countryCode="DE"), create(v3, countryCode="US")

        answer = refused(v3, overseas, sku=CANVAS.lower())

        assert answer.status == 400
        assert answer.error == f"{CANVAS} is not sold to US."
        assert add(v3, at_home, sku=CANVAS)["sku"] == CANVAS

    def test_a_price_for_the_recipient_may_be_nothing(self, v3: Client) -> None:
        order_id = create(v3, payment="InvoiceRecipient")

        assert add(v3, order_id, priceToUser=0)["priceToUser"] == 0
        assert add(v3, order_id, priceToUser=None)["priceToUser"] is None

    @pytest.mark.parametrize("nothing", [None, "", " "])
    def test_no_price_for_the_recipient_is_no_mistake(
        self, v3: Client, order_id: int, nothing: str | None
    ) -> None:
        assert add(v3, order_id, priceToUser=nothing)["priceToUser"] is None

    def test_a_hash_is_read_in_any_case(self, v3: Client, order_id: int) -> None:
        image = add(v3, order_id, md5Hash=" 79054025255FB1A26E4BC422AEF54EB4 ")

        assert image["md5Hash"] == "79054025255fb1a26e4bc422aef54eb4"

    @pytest.mark.parametrize(
        ("sent", "copies"),
        [(0, 0), ("0", 0), (2.0, 2), (" 2 ", 2), ("1e2", 100), (100_000, 100_000)],
    )
    @pytest.mark.both_databases
    def test_copies_may_be_any_whole_number_from_none(
        self, v3: Client, order_id: int, sent: Any, copies: int
    ) -> None:
        assert add(v3, order_id, copies=sent)["copies"] == copies

    def test_xml_is_written_for_those_who_want_it(self, v3: Client, order_id: int) -> None:
        body = an_image(url="https://shop.example/?a=1&b=<c>", attributes={"finish": "gloss"})

        answer = v3.post(f"/orders/{order_id}/images", body, Accept="application/xml")

        document = ElementTree.fromstring(answer.body)
        assert document.findtext("data/url") == "https://shop.example/?a=1&b=<c>"
        assert document.findtext("data/attributes/finish") == "glossy"
        assert {element.tag for element in document.find("data") or []} == EVERY_MEMBER

    @pytest.mark.parametrize(
        "path", ["/Orders/{}/Images", "/ORDERS/{}/IMAGES/", "/orders/{}/images?"]
    )
    def test_the_path_is_found_in_any_case(self, v3: Client, order_id: int, path: str) -> None:
        assert v3.post(path.format(order_id), an_image()).status == 200


class TestAddingSeveral:
    @pytest.mark.both_databases
    def test_they_come_back_in_both_places_in_the_order_in_which_they_were_sent(
        self, v3: Client, order_id: int
    ) -> None:
        body = [an_image(copies=copies) for copies in (3, 1, 2)]

        answer = v3.post(f"/orders/{order_id}/images/batch", body).json()

        assert set(answer) == {"data", "items", "errorMessage", "statusTxt", "statusCode"}
        assert answer["items"] == answer["data"]["items"]
        assert [image["copies"] for image in answer["items"]] == [3, 1, 2]
        assert all(set(image) == EVERY_MEMBER for image in answer["items"])
        assert answer["errorMessage"] is answer["data"]["errorMessage"] is None
        assert (answer["statusTxt"], answer["statusCode"]) == ("OK", 200)

    def test_each_of_them_is_as_if_it_were_added_alone(self, v3: Client) -> None:
        order_id = create(v3, payment="InvoiceRecipient")
        alone = v3.post(f"/orders/{order_id}/images", FULL_IMAGE).data

        [item] = v3.post(f"/orders/{order_id}/images/batch", [FULL_IMAGE]).data["items"]

        assert {**item, "id": 0} == {**alone, "id": 0}

    def test_no_images_are_added_by_an_empty_array(
        self, v3: Client, order_id: int, database: Database, clock: MovableClock
    ) -> None:
        before = v3.get(f"/orders/{order_id}").data
        clock.advance(minutes=1)

        answer = v3.post(f"/orders/{order_id}/images/batch", [])

        assert answer.data == {"items": [], "errorMessage": None}
        assert answer.json()["items"] == []
        assert v3.get(f"/orders/{order_id}").data == before
        assert count_everywhere(database) == [0, 0]

    @pytest.mark.parametrize("body", [{}, an_image(), {"items": [an_image()]}, "text", 1, None])
    def test_what_is_no_array_is_refused(self, v3: Client, order_id: int, body: Any) -> None:
        answer = v3.post(f"/orders/{order_id}/images/batch", body)

        assert answer.status == 400
        assert answer.error == "The body must be an array of objects."
        assert v3.get(f"/orders/{order_id}").data["images"] == []

    def test_a_form_is_no_array(self, v3: Client, order_id: int) -> None:
        answer = v3.post_form(f"/orders/{order_id}/images/batch", an_image())

        assert answer.status == 400
        assert answer.error == "The body must be an array of objects."

    @pytest.mark.parametrize(
        ("wrong", "reason"),
        [
            (an_image(copies=-1), COPIES),
            (an_image(url="sunset.jpg"), NOT_ABSOLUTE),
            ({"sku": PHOTO, "url": URL}, "`copies` is required."),
            ([], "The body must be an object with named members."),
            (None, "The body must be an object with named members."),
            ("text", "The body must be an object with named members."),
            (an_image(sku="NO-SUCH-SKU"), "SKU not in catalogue"),
            (an_image(sku="US-CAN-125-8X8"), "US-CAN-125-8X8 is not sold to GB."),
            (an_image(attributes={"colour": "red"}), "Invalid attribute name colour"),
            (
                an_image(priceToUser=1),
                "`priceToUser` is only allowed when the order's payment is InvoiceRecipient.",
            ),
        ],
    )
    def test_one_bad_element_refuses_all_and_is_named(
        self, v3: Client, order_id: int, database: Database, wrong: Any, reason: str
    ) -> None:
        before = v3.get(f"/orders/{order_id}").data

        answer = v3.post(f"/orders/{order_id}/images/batch", [an_image(), wrong, an_image()])

        assert answer.status == 400
        assert answer.json() == {
            "data": None,
            "errorMessage": f"Element 2: {reason}",
            "statusTxt": f"Element 2: {reason}",
            "statusCode": 400,
        }
        assert v3.get(f"/orders/{order_id}").data == before
        assert count_everywhere(database) == [0, 0]

    @pytest.mark.parametrize("wrong", [{"copies": -1}, {"sku": "NO-SUCH-SKU"}])
    def test_a_batch_of_one_names_its_element_too(
        self, v3: Client, order_id: int, wrong: dict[str, Any]
    ) -> None:
        answer = v3.post(f"/orders/{order_id}/images/batch", [an_image(**wrong)])

        assert answer.status == 400
        assert answer.error.startswith("Element 1: ")

    def test_a_batch_has_a_limit(self, v3: Client, order_id: int, database: Database) -> None:
        most = [an_image(copies=number) for number in range(MOST_IN_BATCH)]

        too_many = v3.post(f"/orders/{order_id}/images/batch", [*most, an_image()])
        after_refusal = count_everywhere(database)
        enough = v3.post(f"/orders/{order_id}/images/batch", most)

        assert MOST_IN_BATCH == 250
        assert too_many.status == 400
        assert too_many.error == "The body must have at most 250 elements, not 251."
        assert after_refusal == [0, 0]
        assert [image["copies"] for image in enough.data["items"]] == list(range(250))
        assert v3.get(f"/orders/{order_id}").data["images"] == enough.data["items"]

    def test_xml_is_written_for_those_who_want_it(self, v3: Client, order_id: int) -> None:
        path = f"/orders/{order_id}/images/batch"

        answer = v3.post(path, [an_image(), an_image()], Accept="text/xml")

        document = ElementTree.fromstring(answer.body)
        assert len(document.findall("items/item")) == len(document.findall("data/items/item")) == 2
        assert document.findtext("items/item/sku") == PHOTO


@pytest.mark.parametrize("path", ["images", "images/batch"])
class TestBothWays:
    def body(self, path: str, **members: Any) -> Any:
        """What is sent there."""
        return an_image(**members) if path == "images" else [an_image(**members)]

    @pytest.mark.parametrize("status", WAYS)
    def test_an_order_that_is_no_longer_open_refuses_images_whatever_they_are(
        self, v3: Client, database: Database, path: str, status: OrderStatus
    ) -> None:
        order_id = create(v3)
        add(v3, order_id)
        move(database, order_id, status)
        before = v3.get(f"/orders/{order_id}").data

        bodies: list[Any] = [self.body(path), self.body(path, copies="x"), {}, [], None]
        answers = [v3.post(f"/orders/{order_id}/{path}", body) for body in bodies]

        message = (
            f"Images cannot be added to an order that is {status}; "
            "only to one that is NotYetSubmitted."
        )
        assert {answer.status for answer in answers} == {403}
        assert {answer.error for answer in answers} == {message}
        assert v3.get(f"/orders/{order_id}").data == before
        assert count_everywhere(database) == [1, 1]

    def test_somebody_elses_order_looks_like_none(
        self, v3: Client, somebody_else: Client, database: Database, path: str
    ) -> None:
        order_id = create(v3)

        for body in (self.body(path), self.body(path, copies="x"), None):
            theirs = somebody_else.post(f"/orders/{order_id}/{path}", body)
            none = somebody_else.post(f"/orders/999999/{path}", body)

            assert theirs.status == none.status == 404
            assert theirs.body == none.body
            assert none.error == "The order with the specified id was not found"
        assert v3.get(f"/orders/{order_id}").data["images"] == []
        assert count_everywhere(database) == [0, 0]

    @pytest.mark.parametrize("order_id", ["0", "-1", "abc", "9223372036854775808", "9" * 30])
    def test_an_id_that_is_none_is_not_found(self, v3: Client, path: str, order_id: str) -> None:
        assert v3.post(f"/orders/{order_id}/{path}", self.body(path)).status == 404

    def test_whoever_has_no_credentials_adds_nothing(
        self, v3: Client, stranger: Client, path: str
    ) -> None:
        order_id = create(v3)

        assert stranger.post(f"/orders/{order_id}/{path}", self.body(path)).status == 401
        assert v3.get(f"/orders/{order_id}").data["images"] == []

    def test_the_same_key_adds_once_and_answers_twice(
        self, v3: Client, database: Database, path: str
    ) -> None:
        order_id = create(v3)
        target = f"/orders/{order_id}/{path}"

        first = v3.post(target, self.body(path), Idempotency_Key="key-1")
        again = v3.post(target, self.body(path), Idempotency_Key="key-1")
        another = v3.post(target, self.body(path, copies=2), Idempotency_Key="key-1")

        assert first.status == again.status == 200
        assert again.body == first.body
        assert again.headers["idempotent-replayed"] == "true"
        assert another.status == 422
        assert count_everywhere(database) == [1, 1]

    def test_an_image_moves_the_time_of_the_last_update(
        self, v3: Client, clock: MovableClock, path: str
    ) -> None:
        order_id = create(v3)
        clock.advance(minutes=5)

        v3.post(f"/orders/{order_id}/{path}", self.body(path))

        order = v3.get(f"/orders/{order_id}").data
        assert order["created"] == "2026-11-15T12:00:00.000"
        assert order["lastUpdated"] == "2026-11-15T12:05:00.000"

    def test_images_cannot_be_listed_changed_or_removed(self, v3: Client, path: str) -> None:
        order_id = create(v3)
        add(v3, order_id)

        for method in ("GET", "PUT", "DELETE"):
            answer = v3.request(method, f"/orders/{order_id}/{path}")

            assert answer.status == 405
            assert answer.headers["allow"] == "POST"


@pytest.mark.both_databases
class TestTheOrder:
    def test_it_shows_its_images_as_they_were_added(self, v3: Client, order_id: int) -> None:
        first = add(v3, order_id, copies=2)
        others = v3.post(
            f"/orders/{order_id}/images/batch", [an_image(sku=FRAME), an_image()]
        ).data["items"]
        last = add(v3, order_id, attributes={"finish": "gloss"})

        order = v3.get(f"/orders/{order_id}").data

        assert order["images"] == [first, *others, last]
        assert order["canUpdateImages"] is False

    def test_a_list_gives_every_order_its_own_images(
        self, v3: Client, somebody_else: Client
    ) -> None:
        bare, some, many = create(v3), create(v3), create(v3)
        theirs = create(somebody_else)
        add(somebody_else, theirs)
        for copies in range(4):
            add(v3, many, copies=copies)
            if copies % 2:
                add(v3, some, copies=copies)

        listed = v3.get("/orders").data["content"]
        page = v3.get("/orders?limit=1&start=1").data["content"]

        assert [order["id"] for order in listed] == [many, some, bare]
        assert listed == [v3.get(f"/orders/{order_id}").data for order_id in (many, some, bare)]
        copies_of = {order["id"]: [each["copies"] for each in order["images"]] for order in listed}
        assert copies_of == {many: [0, 1, 2, 3], some: [1, 3], bare: []}
        assert page == [listed[1]]

    def test_it_keeps_its_images_when_it_is_changed_or_cancelled(
        self, v3: Client, order_id: int
    ) -> None:
        image = add(v3, order_id)

        changed = v3.put(f"/orders/{order_id}", an_order(recipientName="Tom Fox")).data
        v3.post(f"/orders/{order_id}/status", {"status": "Cancelled"})

        assert changed["images"] == [image]
        assert v3.get(f"/orders/{order_id}").data["images"] == [image]

    def test_images_that_are_sent_with_the_order_are_ignored(
        self, v3: Client, order_id: int
    ) -> None:
        image = add(v3, order_id)
        echoed = v3.get(f"/orders/{order_id}").data

        created = v3.post("/orders", an_order(images=[an_image()])).data
        changed = v3.put(f"/orders/{order_id}", {**echoed, "images": []}).data

        assert created["images"] == []
        assert changed["images"] == [image]

    def test_it_has_room_for_a_thousand_images(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        batch = f"/orders/{order_id}/images/batch"
        for size in (250, 250, 250, 249):
            assert v3.post(batch, [an_image()] * size).status == 200

        two_more = v3.post(batch, [an_image()] * 2)
        last = v3.post(f"/orders/{order_id}/images", an_image())
        one_more = v3.post(f"/orders/{order_id}/images", an_image())

        assert two_more.status == one_more.status == 403
        assert two_more.error == (
            "The order has 999 images and may have 1000 at most; "
            "create another order for the others."
        )
        assert last.status == 200
        assert len(v3.get(f"/orders/{order_id}").data["images"]) == 1000
        assert count_everywhere(database) == [1000, 1000]

    def test_it_counts_right_when_images_come_at_the_same_time(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        path = f"/orders/{order_id}/images"

        def send(number: int) -> Answer:
            if number % 3:
                return v3.post(path, an_image(copies=number))
            return v3.post(f"{path}/batch", [an_image(copies=number)] * 3)

        with ThreadPoolExecutor(8) as callers:
            answers = list(callers.map(send, range(24)))

        assert {answer.status for answer in answers} == {200}
        shown = v3.get(f"/orders/{order_id}").data["images"]
        assert len(shown) == count_images(database, order_id) == 16 + 8 * 3
        assert sorted(promised(database, JobKind.FETCH_IMAGE)) == [each["id"] for each in shown]

    def test_it_is_never_overfilled_by_images_that_come_at_the_same_time(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        batch = [an_image()] * 240

        with ThreadPoolExecutor(6) as callers:
            answers = list(
                callers.map(lambda _: v3.post(f"/orders/{order_id}/images/batch", batch), range(6))
            )

        assert sorted(answer.status for answer in answers) == [200, 200, 200, 200, 403, 403]
        assert count_images(database, order_id) == 960
        assert count_everywhere(database) == [960, 960]


@pytest.mark.both_databases
class TestTheDownload:
    def test_one_is_promised_for_each_image(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        alone = add(v3, order_id)["id"]
        items = v3.post(f"/orders/{order_id}/images/batch", [an_image()] * 2).data["items"]

        assert promised(database, JobKind.FETCH_IMAGE) == [alone, *(each["id"] for each in items)]

    def test_it_is_the_merchants_and_names_the_request(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        answer = v3.post(f"/orders/{order_id}/images", an_image(), X_Request_Id="shop-42")

        with database.reading() as db:
            job = db.execute(select(jobs)).one()
        assert answer.headers["x-request-id"] == job.request_id == "shop-42"
        assert job.merchant_id is not None

    def test_none_is_promised_after_a_refusal(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        v3.post(f"/orders/{order_id}/images", an_image(sku="NO-SUCH-SKU"))
        v3.post(f"/orders/{order_id}/images", an_image(copies=-1), Idempotency_Key="key-1")
        v3.post(f"/orders/{order_id}/images/batch", [an_image(), an_image(url="x")])
        v3.post("/orders/999999/images", an_image())

        assert count_everywhere(database) == [0, 0]

    def test_the_order_remembers_which_images_came(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        items = v3.post(f"/orders/{order_id}/images/batch", [an_image()] * 2).data["items"]

        with database.reading() as db:
            kept = db.execute(select(order_events).order_by(order_events.c.id.desc())).first()
        assert kept is not None
        assert kept.order_id == order_id
        assert kept.facts["images"] == [each["id"] for each in items]
