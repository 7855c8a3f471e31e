"""An order whose recipient was erased is still an order to every program that reads it."""

from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest

from printworks.actions.privacy.erasing import erase_order
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.conftest import MovableClock, an_order
from tests.api.production import hear, submit
from tests.factories import NOON, a_system_work

pytestmark = pytest.mark.both_databases

VERSIONS: Final = ("/v3.0", "/v2.6", "/v2.5", "/v2.3")
PERSON: Final = {
    "recipientName": "Mary Canary",
    "address1": "1 Canary Street",
    "addressTownOrCity": "Canaryville",
    "postalOrZipCode": "YO1 1AA",
    "mobileTelephone": "0800 canary",
}
BLANK: Final = (*PERSON, "address2", "stateOrCounty", "paymentUrl")


@pytest.fixture
def erased(v3: Client, database: Database) -> int:
    """An order that is complete, and whose recipient was erased."""
    order_id = submit(v3, **PERSON, merchantOrderId="A-7")
    hear(database, v3, order_id, LabState.DISPATCHED, tracking_number="CANARY1")
    with database.writing() as db:
        erase_order(a_system_work(db, now=NOON), order_id, asked_by="the recipient")
    return order_id


@pytest.mark.parametrize("prefix", VERSIONS)
def test_every_version_shows_it_without_the_recipient(v3: Client, erased: int, prefix: str) -> None:
    client = Client(v3.server, prefix, v3.credentials)

    # The client holds it to the document of its version.
    answer = client.get(f"/orders/{erased}")

    order: dict[str, Any] = answer.data if prefix == "/v3.0" else answer.json()
    assert answer.status == 200
    assert (order["id"], order["status"]) == (erased, "Complete")
    assert [order[name] for name in BLANK if name in order] == [None] * sum(
        name in order for name in BLANK
    )
    assert order["price"] > 0
    [image] = order["images"] if prefix == "/v3.0" else order["photos"]
    assert (image["url"], image["previewUrl"], image["md5Hash"]) == (None, None, None)
    assert image["copies"] == 1
    [shipment] = order["shippingInfo"]["shipments"]
    assert (shipment["trackingNumber"], shipment["photoIds"]) == (None, [image["id"]])
    assert b"canary" not in answer.body.lower()


@pytest.mark.parametrize("prefix", VERSIONS)
def test_so_does_xml(v3: Client, erased: int, prefix: str) -> None:
    client = Client(v3.server, prefix, v3.credentials)

    answer = client.get(f"/orders/{erased}", Accept="application/xml")

    name = ET.fromstring(answer.body).find(".//recipientName")
    assert name is not None
    assert (name.get("nil"), name.text) == ("true", None)
    assert b"canary" not in answer.body.lower()


def test_it_is_found_by_its_reference_and_in_the_list(v3: Client, erased: int) -> None:
    found = v3.get("/orders?merchantOrderId=A-7").data["content"]

    assert [order["id"] for order in found] == [erased]
    assert [order["id"] for order in v3.get("/orders").data["content"]] == [erased]


def test_whoever_has_seen_it_is_shown_it_anew(v3: Client, database: Database) -> None:
    order_id = submit(v3, **PERSON)
    hear(database, v3, order_id, LabState.DISPATCHED)
    seen = {"If-None-Match": v3.get(f"/orders/{order_id}").headers["etag"]}
    assert v3.get(f"/orders/{order_id}", **seen).status == 304
    with database.writing() as db:
        erase_order(a_system_work(db, now=NOON), order_id, asked_by="the recipient")

    answer = v3.get(f"/orders/{order_id}", **seen)

    assert (answer.status, answer.data["recipientName"]) == (200, None)


@pytest.mark.parametrize("accept", ["application/json", "application/xml"])
@pytest.mark.parametrize("prefix", ["/v3.0", "/v2.6"])
def test_a_request_that_comes_again_gets_its_answer_without_the_recipient(
    v3: Client, database: Database, clock: MovableClock, prefix: str, accept: str
) -> None:
    client = Client(v3.server, prefix, v3.credentials)
    members = an_order(**PERSON)
    if prefix == "/v2.6":
        del members["preferredShippingMethod"]
        members |= {
            "destinationCountryCode": "GB",
            "payment": "InvoiceMe",
            "qualityLevel": "Standard",
        }
    first = client.post("/orders", members, Idempotency_Key="one", Accept=accept)
    order_id = v3.get("/orders").data["content"][0]["id"]
    url = {"url": "https://shop.example/canary.jpg"}
    sku = {"sku": "M-STI-4X6"} if prefix == "/v3.0" else {"type": "4x6"}
    images = "images" if prefix == "/v3.0" else "photos"
    image = {**url, **sku, "copies": 1, "sizing": "Crop"}
    added = client.post(f"/orders/{order_id}/{images}", image, Idempotency_Key="two", Accept=accept)
    assert b"canary" in first.body.lower()
    assert (added.status, b"canary" in added.body.lower()) == (200, True)
    v3.post(f"/orders/{order_id}/status", {"status": "Cancelled"})
    with database.writing() as db:
        erase_order(a_system_work(db, now=NOON), order_id, asked_by="the recipient")
    clock.advance(days=1)

    again = client.post("/orders", members, Idempotency_Key="one", Accept=accept)
    also = client.post(f"/orders/{order_id}/{images}", image, Idempotency_Key="two", Accept=accept)

    assert [again.status, also.status] == [200, 200]
    assert again.headers["idempotent-replayed"] == "true"
    assert b"canary" not in (again.body + also.body).lower()
    assert v3.get("/orders").data["count"] == 1
