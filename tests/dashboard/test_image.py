"""The page of one image: crop, print and picture are changed while the order is open."""

import pytest
import pyvips

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.settings import Settings
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from tests.api.images import add, create, move
from tests.api.production import see
from tests.dashboard.test_adding_images import images_of, upload
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE

pytestmark = pytest.mark.slow

PRINT = {"sku": "GLOBAL-PHO-4X6-PRO", "copies": "1", "sizing": "Crop", "choice-finish": "lustre"}
CENTRE = {"x": "50", "y": "50", "zoom": "1"}


@pytest.fixture
def order_id(alice: Window) -> int:
    """An open order with one image that was uploaded."""
    number = create(alice.api)
    upload(alice, number, ("cat.jpg", A_PICTURE))
    return number


def page_of(window: Window, order_id: int) -> str:
    [image] = images_of(window, order_id)
    return f"/orders/{order_id}/images/{image['id']}"


@pytest.mark.both_databases
def test_a_crop_is_saved_and_can_be_taken_back(
    alice: Window, order_id: int, database: Database
) -> None:
    page = page_of(alice, order_id)
    assert f'href="{page}"' in alice.open(f"/orders/{order_id}").body.decode()

    answer = alice.do(page, "place-image", x="100", y="12,5", zoom="2")

    words = alice.follow(answer)
    assert "The crop was saved." in words
    assert "The proof is being made." in words
    [image] = images_of(alice, order_id)
    assert image["placement"] == {"x": 1.0, "y": 0.125, "zoom": 2.0}
    with database.reading() as db:
        assert list_audit(db, limit=1)[0].action == "edit-image"
    assert "Image 1: crop changed" in alice.words(f"/orders/{order_id}")
    alice.do(page, "centre-image")
    assert images_of(alice, order_id)[0]["placement"] is None


def test_the_frame_lies_where_the_crop_is(alice: Window, order_id: int) -> None:
    page = page_of(alice, order_id)
    alice.do(page, "place-image", x="100", y="0", zoom="2")

    shown = alice.open(page).body.decode()

    # Of 600 x 900 pixels, drawn with 1000 on the longer side.
    assert 'class="cropper__frame" x="333.3" y="0.0" width="333.3" height="500.0"' in shown
    assert '<span class="cropper__dpi">75</span>' in shown


@pytest.mark.parametrize(
    ("fields", "sentences"),
    [
        ({"x": "101"}, ["Left to right must be a number from 0 to 100."]),
        (
            {"x": "", "y": "nan", "zoom": "5"},
            [
                "Left to right must be a number from 0 to 100.",
                "Top to bottom must be a number from 0 to 100.",
                "Zoom must be a number from 1 to 4.",
            ],
        ),
    ],
)
def test_a_wrong_crop_is_refused_with_a_sentence_for_each_field(
    alice: Window, order_id: int, fields: dict[str, str], sentences: list[str]
) -> None:
    page = page_of(alice, order_id)

    answer = alice.do(page, "place-image", **{**CENTRE, **fields})

    assert answer.status == 400
    for sentence in sentences:
        assert sentence in words_of(answer)
    assert images_of(alice, order_id)[0]["placement"] is None


def test_a_print_is_changed(alice: Window, order_id: int) -> None:
    page, before = page_of(alice, order_id), see(alice.api, order_id)["price"]

    changed = {"copies": "4", "choice-finish": "matte", "sizing": "ShrinkToFit"}
    answer = alice.do(page, "edit-image", **{**PRINT, **changed})

    assert "The image was changed." in alice.follow(answer)
    [image] = images_of(alice, order_id)
    assert (image["copies"], image["attributes"]) == (4, {"finish": "matte"})
    assert see(alice.api, order_id)["price"] > before
    assert "there is nothing to crop" in alice.words(page)
    refused = alice.do(page, "edit-image", **{**PRINT, "copies": "0"})
    assert "Copies must be a number from 1 to 100,000." in words_of(refused)
    options = alice.open(f"{page}?sku=WEAR-HOODIE").body.decode()
    assert 'name="choice-size"' in options


@pytest.mark.both_databases
def test_another_picture_takes_the_place_of_the_first(
    alice: Window, order_id: int, database: Database
) -> None:
    page = page_of(alice, order_id)
    alice.do(page, "place-image", x="0", y="0", zoom="2")
    [first] = images_of(alice, order_id)

    bad = alice.upload(page, "replace-own-picture", [("picture", "a.jpg", NOT_A_PICTURE)], url="")
    answer = alice.upload(
        page, "replace-own-picture", [("picture", "dog.jpg", ANOTHER_PICTURE)], url=""
    )

    assert bad.status == 400
    assert "not a picture of a format" in words_of(bad)
    said = alice.follow(answer)
    assert "The picture was replaced." in said
    assert "dog.jpg" in said
    [image] = images_of(alice, order_id)
    assert image["md5Hash"] != first["md5Hash"]
    assert (image["status"], image["placement"]) == ("Ok", first["placement"])
    by_address = alice.do(
        f"/orders/{order_id}/images/{image['id']}",
        "replace-own-picture",
        url="https://shop.example/bird.jpg",
    )
    assert "The picture is on its way." in alice.follow(by_address)
    neither = alice.do(page_of(alice, order_id), "replace-own-picture", url="")
    assert "Enter the address of a picture, or choose one file." in words_of(neither)


def test_an_order_that_was_submitted_shows_its_image_and_no_form(
    alice: Window, order_id: int, database: Database
) -> None:
    page = page_of(alice, order_id)
    token = alice.token(page)
    move(database, order_id, OrderStatus.SUBMITTED)

    words = alice.words(page)

    assert "Images of an order that is Submitted cannot be changed" in words
    assert "Save crop" not in words
    assert "Replace picture" not in words
    refused = alice.send(page, {"form_token": token, "do": "place-image", **CENTRE, "zoom": "2"})
    assert refused.status == 400


def test_an_image_that_is_still_fetched_has_nothing_to_crop(alice: Window) -> None:
    order_id = create(alice.api)
    image = add(alice.api, order_id)
    page = f"/orders/{order_id}/images/{image['id']}"

    assert "The picture is on its way." in alice.words(page)
    assert alice.open(f"{page}/picture").status == 404


def test_the_whole_picture_is_shown_smaller_and_kept(
    alice: Window, order_id: int, settings: Settings
) -> None:
    page = page_of(alice, order_id)

    first, again = alice.open(f"{page}/picture"), alice.open(f"{page}/picture")

    picture = pyvips.Image.new_from_buffer(first.body, "")
    assert (picture.width, picture.height) == (600, 900)
    assert first.headers["content-type"] == "image/jpeg"
    assert again.body == first.body
    assert images_of(alice, order_id)[0]["status"] == ImageStatus.OK


def test_an_image_of_somebody_else_is_not_there(alice: Window, bob: Window, order_id: int) -> None:
    page = page_of(alice, order_id)

    assert bob.open(page).status == 404
    assert bob.open(f"{page}/picture").status == 404
    assert alice.open(f"/orders/{order_id}/images/999999").status == 404
