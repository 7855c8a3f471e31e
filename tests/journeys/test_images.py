"""The story of an order's images as a merchant sees it: by HTTP, from address to proof."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pyvips

from printworks.imaging.processor import ImageProcessor
from printworks.rules.images import DOWNLOAD_WAITS
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import sign_up
from tests.worker.hosts import PictureHost, answers, holds
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE, STICKER, Shop, a_jpeg, open_shop

AN_ORDER = {
    "recipientName": "Mary Fox",
    "address1": "1 High Street",
    "addressTownOrCity": "York",
    "postalOrZipCode": "YO1 1AA",
    "countryCode": "GB",
    "preferredShippingMethod": "Standard",
}
NOT_KNOWN_YET = ["CouldNotValidateImageSize", "CouldNotValidateAspectRatio"]


@dataclass(frozen=True)
class Story:
    """A merchant, the service that it asks, and the server that has its pictures."""

    merchant: Client
    # Somebody with a browser and without credentials.
    anybody: Client
    shop: Shop

    @property
    def host(self) -> PictureHost:
        """Where the merchant keeps its pictures."""
        return self.shop.host

    def create_order(self) -> int:
        """Create an order that lacks nothing but images."""
        return int(self.merchant.post("/orders", AN_ORDER).data["id"])

    def add_image(self, order: int, url: str, **members: Any) -> int:
        """Add an image by its address, to be printed on a sticker of 4 x 6 inches."""
        body = {"sku": STICKER, "url": url, "copies": 1, "sizing": "Crop", **members}
        return int(self.merchant.post(f"/orders/{order}/images", body).data["id"])

    def see_images(self, order: int) -> dict[int, dict[str, Any]]:
        """Return the images of an order by their numbers."""
        images = self.merchant.get(f"/orders/{order}").data["images"]
        return {image["id"]: image for image in images}

    def see_statuses(self, order: int) -> list[str]:
        """Return the status of each image, in the order in which they were added."""
        return [image["status"] for _, image in sorted(self.see_images(order).items())]

    def check(self, order: int) -> tuple[bool, list[str], dict[int, tuple[list[str], list[str]]]]:
        """Return what SubmissionStatus says: valid or not, general errors, and each image's."""
        said = self.merchant.get(f"/orders/{order}/SubmissionStatus").data
        photos = {photo["id"]: (photo["errors"], photo["warnings"]) for photo in said["photos"]}
        return said["isValid"], said["generalErrors"], photos

    def open_picture(self, url: str) -> Any:
        """Fetch a picture as a browser would, from the address that was shown."""
        answer = self.anybody.get(urlsplit(url).path)
        assert (answer.status, answer.headers["content-type"]) == (200, "image/jpeg")
        return pyvips.Image.new_from_buffer(answer.body, "")


@pytest.fixture(scope="session")
def processor() -> Iterator[ImageProcessor]:
    """The image processor of all shops."""
    with ImageProcessor(slots=1) as processor:
        yield processor


@pytest.fixture
def story(database: Database, tmp_path: Path, processor: ImageProcessor) -> Iterator[Story]:
    """A running service with a worker, on one database, with one store of files and one clock."""
    with open_shop(database, tmp_path, processor) as shop:
        server = Server(build_app(shop.settings, shop.clock))
        yield Story(sign_up(server, database, "Mary's shop"), Client(server, "", {}), shop)
        server.close()


def test_three_images_find_their_way_and_the_merchant_sees_each_step(story: Story) -> None:
    order = story.create_order()
    assert story.check(order) == (False, ["NoItemsInOrder"], {})

    fine = story.add_image(order, story.host.at("/fine.jpg", holds(A_PICTURE)))
    small = story.add_image(order, story.host.at("/small.jpg", holds(a_jpeg(300, 450))))
    wrong = story.add_image(order, story.host.at("/wrong.jpg", holds(NOT_A_PICTURE)))

    assert story.see_statuses(order) == ["NotYetDownloaded"] * 3
    assert story.check(order) == (
        True,
        [],
        dict.fromkeys((fine, small, wrong), ([], NOT_KNOWN_YET)),
    )
    assert all(image["previewUrl"] is None for image in story.see_images(order).values())

    story.shop.drain()

    assert story.see_statuses(order) == ["Ok", "Ok", "Invalid"]
    assert story.check(order) == (
        False,
        ["ItemsContainingErrors"],
        {small: ([], ["PictureSizeTooSmall"]), wrong: (["InvalidImageFile"], [])},
    )
    shown = story.see_images(order)
    assert shown[fine]["md5Hash"] == hashlib.md5(A_PICTURE).hexdigest()
    assert shown[fine]["errorMessage"] is None
    assert shown[wrong]["errorMessage"].endswith(".")
    assert (shown[wrong]["previewUrl"], shown[wrong]["thumbnailUrl"]) == (None, None)


def test_an_image_that_is_not_there_yet_is_waited_for(story: Story) -> None:
    order = story.create_order()
    url = story.host.at("/late.jpg", answers("404 Not Found"), holds(A_PICTURE))
    late = story.add_image(order, url)

    story.shop.drain()

    seen = story.see_images(order)[late]
    assert (seen["status"], seen["errorMessage"]) == (
        "NotYetDownloaded",
        "There is nothing at the address.",
    )
    assert story.check(order) == (True, [], {late: ([], NOT_KNOWN_YET)})

    story.shop.pass_time(seconds=10)

    seen = story.see_images(order)[late]
    assert (seen["status"], seen["errorMessage"]) == ("Ok", None)
    assert story.check(order) == (True, [], {})


def test_an_image_that_never_comes_is_given_up_after_twenty_minutes(story: Story) -> None:
    order = story.create_order()
    never = story.add_image(order, story.host.at("/never.jpg", answers("404 Not Found")))

    story.shop.drain()
    for wait in DOWNLOAD_WAITS:
        assert story.check(order) == (True, [], {never: ([], NOT_KNOWN_YET)})
        story.shop.pass_time(seconds=wait.total_seconds())

    assert story.see_statuses(order) == ["FileNotFoundAtUrl"]
    assert story.check(order) == (
        False,
        ["ItemsContainingErrors"],
        {never: (["FileCouldNotBeDownloaded"], [])},
    )
    refused = story.merchant.post(f"/orders/{order}/status", {"status": "Submitted"})
    assert refused.status >= 400
    assert "FileCouldNotBeDownloaded" in refused.error


@pytest.mark.parametrize(
    ("size", "sizing", "warnings"),
    [
        pytest.param((600, 900), "Crop", [], id="fits"),
        pytest.param((900, 600), "Crop", [], id="is turned"),
        pytest.param((900, 900), "Crop", ["CroppingWillOccur"], id="is cropped"),
        pytest.param((900, 900), "ShrinkToFit", ["CroppingWillOccur"], id="gets margins"),
    ],
)
def test_proofs_have_the_shape_of_the_product(
    story: Story, size: tuple[int, int], sizing: str, warnings: list[str]
) -> None:
    order = story.create_order()
    url = story.host.at("/cat.jpg", holds(a_jpeg(*size)))
    image = story.add_image(order, url, sizing=sizing)

    story.shop.drain()

    seen = story.see_images(order)[image]
    preview = story.open_picture(seen["previewUrl"])
    thumbnail = story.open_picture(seen["thumbnailUrl"])
    # People see a print that is turned as they hold it.
    is_wide = size[0] > size[1]
    shape, small = (6 / 4, (240, 160)) if is_wide else (4 / 6, (160, 240))
    assert preview.width / preview.height == pytest.approx(shape, abs=0.005)
    assert (thumbnail.width, thumbnail.height) == small
    assert story.check(order) == (True, [], {image: ([], warnings)} if warnings else {})


def test_proofs_are_shown_to_nobody_who_guesses(story: Story) -> None:
    order = story.create_order()
    image = story.add_image(order, story.host.at("/cat.jpg", holds(A_PICTURE)))
    story.shop.drain()
    path = urlsplit(story.see_images(order)[image]["previewUrl"]).path
    signature = path.split("/")[3]

    guessed = path.replace(signature, signature[::-1])

    assert story.anybody.get(path).status == 200
    assert story.anybody.get(guessed).status == 404
