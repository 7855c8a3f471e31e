"""What has to be chosen of a product, through 3.0."""

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.images import PHOTO, add, an_image, create

HOODIE = "WEAR-HOODIE"
SIZES = "`attributes.size` is required. Valid values are: [S,M,L,XL,XXL]."
COLOURS = "`attributes.colour` is required. Valid values are: [white,black,grey,navy]."


@pytest.fixture
def order_id(v3: Client) -> int:
    """An order that lacks nothing but images."""
    return create(v3)


@pytest.mark.parametrize(
    ("attributes", "missing"),
    [
        (None, f"{SIZES} {COLOURS}"),
        ({"size": "M"}, COLOURS),
        ({"size": "", "colour": "navy"}, SIZES),
    ],
)
def test_what_has_no_default_must_be_chosen(
    v3: Client, order_id: int, attributes: Any, missing: str
) -> None:
    hoodie = an_image(sku=HOODIE, attributes=attributes)

    one = v3.post(f"/orders/{order_id}/images", hoodie)
    several = v3.post(f"/orders/{order_id}/images/batch", [an_image(), hoodie])

    assert (one.status, one.error) == (400, missing)
    assert (several.status, several.error) == (400, f"Element 2: {missing}")
    assert v3.get(f"/orders/{order_id}").data["images"] == []


def test_what_was_chosen_is_shown_as_it_is_spelled(v3: Client, order_id: int) -> None:
    image = add(v3, order_id, sku=HOODIE, attributes={"SIZE": "xl", "Colour": "NAVY"})

    assert image["attributes"] == {"size": "XL", "colour": "navy"}


def test_a_default_is_shown(v3: Client, order_id: int) -> None:
    answer = v3.post(f"/orders/{order_id}/images/batch", [an_image(sku=PHOTO)])

    assert answer.json()["items"][0]["attributes"] == {"finish": "lustre"}


@pytest.mark.parametrize("written", ["gloss", "Glossy", "GLOSS"])
def test_gloss_is_read_as_glossy(v3: Client, order_id: int, written: str) -> None:
    assert add(v3, order_id, attributes={"finish": written})["attributes"] == {"finish": "glossy"}


def test_blanks_around_a_sku_do_not_matter(v3: Client, order_id: int) -> None:
    assert add(v3, order_id, sku=f" {PHOTO.lower()} ")["sku"] == PHOTO


def test_everything_that_is_missing_is_named_at_once(v3: Client, order_id: int) -> None:
    order = v3.post("/orders", {"address1": "1 High Street"})
    changed = v3.put(f"/orders/{order_id}", {"recipientName": "Mary Fox"})
    image = v3.post(f"/orders/{order_id}/images", {})
    several = v3.post(f"/orders/{order_id}/images/batch", [an_image(), {"sku": PHOTO}])

    assert {each.status for each in (order, changed, image, several)} == {400}
    assert order.error == (
        "`recipientName`, `countryCode` and `preferredShippingMethod` are required."
    )
    assert changed.error == "`countryCode` and `preferredShippingMethod` are required."
    assert image.error == "`sku`, `url` and `copies` are required."
    assert several.error == "Element 2: `url` and `copies` are required."
