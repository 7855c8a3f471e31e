"""Operators correct addresses and replace pictures for merchants, by the merchants' own rules."""

from pathlib import Path

import pytest

from printworks.rules.images import ImageStatus
from printworks.rules.people import Role
from printworks.rules.production import LabState
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images, update_image
from printworks.store.orders.events import list_events
from tests.actions.complaints import a_draft
from tests.api.client import Server
from tests.dashboard.scenes import hand_in, hear, last_entry, see_order
from tests.dashboard.test_order_address import ADDRESS
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of, open_console
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE

POUND = {**ADDRESS, "shipping_method": "Standard"}


@pytest.mark.both_databases
def test_an_address_is_corrected_as_the_merchant_could(
    operator: Window, alice: Window, database: Database
) -> None:
    order, shipment = hand_in(database, alice)
    page = f"/console/orders/{order.id}"
    assert f'href="{page}/address"' in operator.open(page).body.decode()

    answer = operator.do(f"{page}/address", "support-address", **POUND)

    assert "The address and shipping were changed." in operator.follow(answer)
    after = see_order(database, order)
    assert (after.recipient_name, after.postal_code) == ("Ada Lovelace", "LS1 1AA")
    entry = last_entry(database)
    assert (entry.action, entry.who) == ("change-shipping", "admin@works.example")
    assert entry.merchant_id == order.merchant_id
    with database.reading() as db:
        kinds = [type(event).__name__ for event in list_events(db, order.id)]
    # The merchant is told of the new shipment, as after a request of its own.
    assert kinds[-2:] == ["OrderChanged", "ShipmentsChanged"]
    assert shipment.state is LabState.OFFERED


def test_what_a_lab_has_begun_keeps_its_address(
    operator: Window, alice: Window, database: Database
) -> None:
    order, shipment = hand_in(database, alice)
    for state in (LabState.ACCEPTED, LabState.IN_PRODUCTION):
        hear(database, shipment, state)
    page = f"/console/orders/{order.id}/address"

    assert "can no longer be changed" in operator.words(page)
    token = operator.token("/console/orders")
    fields = {"form_token": token, "do": "support-address", **POUND}
    refused = operator.send(page, fields)

    assert refused.status == 400
    assert see_order(database, order).recipient_name == order.recipient_name


def test_an_address_with_nothing_in_it_is_refused(
    operator: Window, alice: Window, database: Database
) -> None:
    order, _ = hand_in(database, alice)

    refused = operator.do(
        f"/console/orders/{order.id}/address", "support-address", **{**POUND, "address1": ""}
    )

    assert refused.status == 400
    assert "Ada Lovelace" in refused.body.decode()


@pytest.mark.both_databases
def test_a_picture_is_replaced_by_address_and_by_file(
    operator: Window, alice: Window, database: Database
) -> None:
    with database.writing() as db:
        order = a_draft(db, merchant_of(db, alice), images=2)
        first, second = list_images(db, order.id)
    page = f"/console/orders/{order.id}/images"

    by_address = operator.do(
        f"{page}/{first.id}", "replace-picture", url="https://shop.example/new.jpg"
    )
    by_file = operator.upload(
        f"{page}/{second.id}", "replace-picture", [("picture", "a.jpg", A_PICTURE)]
    )

    assert "The picture was replaced." in operator.follow(by_address)
    assert "The picture was replaced." in operator.follow(by_file)
    with database.reading() as db:
        third, fourth = list_images(db, order.id)
    assert (third.url, third.status) == (
        "https://shop.example/new.jpg",
        ImageStatus.NOT_YET_DOWNLOADED,
    )
    assert (fourth.status, fourth.copies) == (ImageStatus.OK, second.copies)
    entry = last_entry(database)
    assert (entry.action, entry.details) == ("replace-picture", {"image": second.id})


def test_a_file_that_cannot_be_printed_changes_nothing(
    operator: Window, alice: Window, database: Database
) -> None:
    order, _ = hand_in(database, alice)
    with database.writing() as db:
        [image, *_] = list_images(db, order.id)
        update_image(db, image, {"status": ImageStatus.INVALID, "error_message": "Broken."})
    page = f"/console/orders/{order.id}/images/{image.id}"
    assert "Broken." in operator.words(page)

    for _ in range(2):
        refused = operator.upload(page, "replace-picture", [("picture", "a", NOT_A_PICTURE)])
        assert refused.status == 400
        assert "already sending" not in words_of(refused)
    nothing = operator.do(page, "replace-picture")
    private = operator.do(page, "replace-picture", url="http://10.0.0.5/a.jpg")

    assert "Enter the address of a picture, or choose one file." in words_of(nothing)
    assert private.status == 400
    with database.reading() as db:
        assert list_images(db, order.id)[0].status is ImageStatus.INVALID


def test_a_picture_that_is_fine_cannot_be_replaced_any_more(
    operator: Window, alice: Window, database: Database, server: Server
) -> None:
    order, _ = hand_in(database, alice)
    with database.reading() as db:
        image = list_images(db, order.id)[0]
    page = f"/console/orders/{order.id}/images/{image.id}"

    assert "only a picture that could not be fetched" in operator.words(page)
    assert operator.open(f"/console/orders/{order.id}/images/99").status == 404
    viewer = open_console(server, database, role=Role.VIEWER)
    assert "<form" not in viewer.open(page).body.decode().split("<main")[1]
    assert "Only support can" in viewer.words(f"/console/orders/{order.id}/address")


def test_once_files_can_be_stored_again_the_same_picture_is_taken(
    operator: Window, alice: Window, database: Database, settings: Settings
) -> None:
    order, _ = hand_in(database, alice)
    with database.writing() as db:
        [image, *_] = list_images(db, order.id)
        update_image(db, image, {"status": ImageStatus.INVALID, "error_message": "Broken."})
    page = f"/console/orders/{order.id}/images/{image.id}"
    in_the_way = Path(settings.files)
    in_the_way.write_bytes(b"This is no folder.")
    refused = operator.upload(page, "replace-picture", [("picture", "a.jpg", A_PICTURE)])
    in_the_way.unlink()

    answer = operator.upload(page, "replace-picture", [("picture", "a.jpg", A_PICTURE)])

    assert refused.status == 503
    assert "The picture was replaced." in operator.follow(answer)
    with database.reading() as db:
        assert list_images(db, order.id)[0].status is ImageStatus.OK
