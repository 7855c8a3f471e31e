"""PATCH of an image, our addition to 3.0."""

from typing import Any

import pytest

from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.images import add, create, judge, move, promised

FRAME = "FRA-INSTA-30X30"


@pytest.fixture
def order_id(v3: Client) -> int:
    """An order of Alice's that takes images."""
    return create(v3)


@pytest.mark.both_databases
def test_an_image_is_changed_and_the_order_priced_again(v3: Client, order_id: int) -> None:
    image = add(v3, order_id)
    before = v3.get(f"/orders/{order_id}").data
    path = f"/orders/{order_id}/images/{image['id']}"
    placement = {"x": 0.25, "y": 0.0, "zoom": 1.5}

    answer = v3.patch(path, {"sku": FRAME, "copies": "2", "placement": placement})

    assert answer.status == 200
    assert answer.data["id"] == image["id"]
    assert answer.data["attributes"] == {"frameColour": "black"}
    assert (answer.data["copies"], answer.data["placement"]) == (2, placement)
    after = v3.get(f"/orders/{order_id}").data
    assert after["images"] == [answer.data]
    assert after["price"] > before["price"]
    assert after["shippingInfo"] != before["shippingInfo"]
    # The same again is no change.
    assert v3.patch(path, {"copies": 2}).data == answer.data
    assert v3.get(f"/orders/{order_id}").data == after


def test_null_stays_but_for_the_placement_which_is_the_middle(v3: Client, order_id: int) -> None:
    image = add(v3, order_id, copies=3, placement={"x": 1})
    path = f"/orders/{order_id}/images/{image['id']}"

    kept = v3.patch(path, {"copies": None, "sku": None, "sizing": None, "attributes": None})
    centred = v3.patch(path, {"placement": None})

    assert kept.data == image
    assert centred.data == {**image, "placement": None}


@pytest.mark.both_databases
def test_proofs_that_would_show_something_else_are_hidden_until_they_are_rendered_again(
    v3: Client, order_id: int, database: Database
) -> None:
    image = add(v3, order_id)
    judge(database, image["id"], ImageStatus.OK, width=600, height=900)
    path = f"/orders/{order_id}/images/{image['id']}"

    answer = v3.patch(path, {"sizing": "ShrinkToFit"})

    assert (answer.data["previewUrl"], answer.data["thumbnailUrl"]) == (None, None)
    assert promised(database, JobKind.RENDER_PROOFS) == [image["id"]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"copies": -1}, "`copies` must be a whole number from 0 to 100000."),
        ({"sku": "GONE"}, "SKU not in catalogue"),
        ({"placement": {"zoom": 0}}, "`placement.zoom` must be a number from 1 to 4."),
        ([], "The body must be an object with named members."),
    ],
)
def test_a_wrong_change_is_refused(v3: Client, order_id: int, body: Any, message: str) -> None:
    image = add(v3, order_id)

    answer = v3.patch(f"/orders/{order_id}/images/{image['id']}", body)

    assert (answer.status, answer.json()["errorMessage"]) == (400, message)
    assert v3.get(f"/orders/{order_id}").data["images"] == [image]


@pytest.mark.parametrize("status", [OrderStatus.SUBMITTED, OrderStatus.CANCELLED])
def test_an_order_that_is_no_longer_open_keeps_its_images(
    v3: Client, order_id: int, database: Database, status: OrderStatus
) -> None:
    image = add(v3, order_id)
    move(database, order_id, status)

    answer = v3.patch(f"/orders/{order_id}/images/{image['id']}", {"copies": 2})

    assert answer.status == 403
    assert f"an order that is {status} cannot be changed" in answer.json()["errorMessage"]


def test_an_image_of_somebody_else_is_not_there(
    v3: Client, somebody_else: Client, order_id: int
) -> None:
    image = add(v3, order_id)

    theirs = somebody_else.patch(f"/orders/{order_id}/images/{image['id']}", {"copies": 2})

    assert theirs.status == 404
    assert v3.patch(f"/orders/{order_id}/images/999999", {"copies": 2}).status == 404
