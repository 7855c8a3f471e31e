"""An image that must be a JPEG is one, however its file comes and whoever had it before."""

from typing import Any

import pytest

from printworks.rules.images import AcceptedFiles, ImageStatus
from printworks.store.images.images import Image
from tests.imaging.pictures import a_noisy_picture, drawn_apart
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE, Shop

_S = ImageStatus
A_PNG = drawn_apart(lambda: a_noisy_picture(600, 900).write_to_buffer(".png"))
ONLY_JPEG = "The file is not a picture of a format that is accepted: JPEG."


def fetch(shop: Shop, url: str, **values: Any) -> Image:
    """Add an image to a new order, let the worker do what is due, and see what became of it."""
    [image_id] = shop.add_images(shop.add_order(), url, **values)
    shop.drain()
    return shop.image(image_id)


def fetch_jpeg(shop: Shop, url: str) -> Image:
    """Do the same with one that must be a JPEG."""
    return fetch(shop, url, formats=AcceptedFiles.JPEG)


def test_a_jpeg_is_ok(shop: Shop) -> None:
    image = fetch_jpeg(shop, shop.host.at("/cat", holds(A_PICTURE)))

    assert (image.status, image.formats) == (_S.OK, AcceptedFiles.JPEG)


@pytest.mark.parametrize("content", [A_PNG, NOT_A_PICTURE])
def test_anything_else_is_invalid_and_leaves_nothing(shop: Shop, content: bytes) -> None:
    image = fetch_jpeg(shop, shop.host.at("/cat.jpg", holds(content)))

    assert (image.status, image.error_message) == (_S.INVALID, ONLY_JPEG)
    assert shop.list_files() == []
    assert shop.count_pictures() == 0


def test_an_empty_file_is_still_called_empty(shop: Shop) -> None:
    image = fetch_jpeg(shop, shop.host.at("/cat.jpg", holds(b"")))

    assert (image.status, image.error_message) == (_S.INVALID, "The file is empty.")


def test_the_same_file_is_fine_for_an_image_that_may_be_anything(shop: Shop) -> None:
    url = shop.host.at("/cat", holds(A_PNG))

    refused, taken = fetch_jpeg(shop, url), fetch(shop, url)

    assert (refused.status, taken.status) == (_S.INVALID, _S.OK)


def test_a_picture_that_is_known_is_no_more_welcome(shop: Shop) -> None:
    url = shop.host.at("/cat", holds(A_PNG))

    taken, refused = fetch(shop, url), fetch_jpeg(shop, url)

    assert (taken.status, refused.status) == (_S.OK, _S.INVALID)
    assert refused.error_message == ONLY_JPEG


def test_a_picture_that_has_not_changed_since_is_no_more_welcome(shop: Shop) -> None:
    url = shop.host.at("/cat", holds(A_PNG, etag='"1"'))

    taken, refused = fetch(shop, url), fetch_jpeg(shop, url)

    assert (taken.status, refused.status) == (_S.OK, _S.INVALID)
    assert refused.error_message == ONLY_JPEG
