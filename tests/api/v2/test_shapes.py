"""Every answer of the older versions, in success and in refusal, as it was when it was looked at."""

from typing import Any

import pytest

from printworks.rules.images import ImageStatus
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.images import judge, receive
from tests.api.v2.golden_files import check_golden
from tests.api.v2.shop import URL, add, an_order, create, see, seen, set_status


def test_an_order_with_a_photo(v2: Client, version: str, database: Database) -> None:
    order_id = create(v2, useTrackedShipping=True, address2="Flat 2", stateOrCounty="London")
    receive(database, add(v2, order_id, attributes={"finish": "matte"})["id"])

    check_golden(version, "order", see(v2, order_id))


def test_a_new_order(v2: Client, version: str) -> None:
    check_golden(version, "order-created", seen(v2.post("/Orders", an_order())))


def test_an_order_that_its_recipient_pays_for(v2: Client, version: str) -> None:
    created = v2.post("/Orders", an_order(payment="InvoiceRecipient", qualityLevel="Standard"))

    check_golden(version, "order-for-recipient", seen(created))


def test_a_list_of_orders(v2: Client, version: str) -> None:
    create(v2)
    create(v2, recipientName="Ann Lee")

    check_golden(version, "orders", seen(v2.get("/Orders")))


def test_a_photo(v2: Client, version: str, database: Database) -> None:
    order_id = create(v2)
    photo = add(v2, order_id, md5Hash="0" * 32)
    judge(database, photo["id"], ImageStatus.INVALID, error_message="This is no picture.")

    check_golden(version, "photo", seen(v2.get(f"/Orders/{order_id}/Photos/{photo['id']}")))
    check_golden(version, "photos", seen(v2.get(f"/Orders/{order_id}/Photos")))


def test_a_batch(v2: Client, version: str) -> None:
    order_id = create(v2)
    batch = [
        {"type": "4x6", "url": URL, "copies": 2},
        {"type": "4x18", "url": URL, "copies": 1, "sizing": "ShrinkToFit"},
    ]

    check_golden(version, "batch", seen(v2.post(f"/Orders/{order_id}/Photos/Batch", batch)))


def test_what_has_nothing_to_show(v2: Client, version: str) -> None:
    order_id = create(v2)
    photo_id = add(v2, order_id)["id"]

    deleted = seen(v2.delete(f"/Orders/{order_id}/Photos/{photo_id}"))
    cancelled = seen(set_status(v2, order_id, "Cancelled"))

    assert deleted == cancelled == {"errorMessage": None}


def test_a_submission_status(v2: Client, version: str, database: Database) -> None:
    order_id = int(seen(v2.post("/Orders", an_order()))["id"])
    add(v2, order_id)
    judge(database, add(v2, order_id)["id"], ImageStatus.INVALID)
    receive(database, add(v2, order_id)["id"], width=100, height=100)

    status = seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))

    check_golden(version, "submission-status", status)


def test_a_catalogue(v2: Client, version: str) -> None:
    catalogue = seen(v2.get("/Catalogue/GB/Pro"))
    shown = {
        **catalogue,
        "items": [each for each in catalogue["items"] if each["name"] in {"4x6", "4x18"}],
        "shippingRates": [each for each in catalogue["shippingRates"] if each["band"] == "Prints"],
    }

    check_golden(version, "catalogue", shown)


def test_a_country(v2: Client, version: str) -> None:
    [shown] = [each for each in seen(v2.get("/Country")) if each["countryCode"] == "GB"]

    check_golden(version, "country", shown)


def test_a_log(v2: Client, version: str) -> None:
    order_id = create(v2)
    set_status(v2, order_id, "Cancelled")

    check_golden(version, "logs", seen(v2.get(f"/Orders/{order_id}/Logs")))


def test_the_issues_of_an_order(v2: Client, version: str) -> None:
    order_id = create(v2)
    photo_id = add(v2, order_id)["id"]
    assert set_status(v2, order_id, "Submitted").status == 200
    complaint = {"issue": "LostInPost", "action": "Reprint", "affectedImages": str(photo_id)}

    created = v2.post(f"/Orders/{order_id}/Issues", complaint)

    check_golden(version, "issue", seen(created))
    check_golden(version, "issues", seen(v2.get(f"/Orders/{order_id}/Issues")))


# What each operation says of an order that nobody has.
NOT_FOUND: list[tuple[str, str, str, Any]] = [
    ("order", "GET", "/Orders/999", None),
    ("submission-status", "GET", "/Orders/999/SubmissionStatus", None),
    ("status", "POST", "/Orders/999/Status", {"status": "Cancelled"}),
    ("photo", "GET", "/Orders/999/Photos/1", None),
    ("photos", "GET", "/Orders/999/Photos", None),
    ("batch", "POST", "/Orders/999/Photos/Batch", []),
    ("deletion", "DELETE", "/Orders/999/Photos/1", None),
    ("logs", "GET", "/Orders/999/Logs", None),
    ("issue", "GET", "/Orders/999/Issues/1", None),
    ("issues", "GET", "/Orders/999/Issues", None),
    ("catalogue", "GET", "/Catalogue/QQ/Pro", None),
    ("address", "GET", "/Nothing/here", None),
]


@pytest.mark.parametrize(("name", "method", "path", "body"), NOT_FOUND)
def test_a_refusal_has_every_member_of_what_was_expected(
    v2: Client, version: str, name: str, method: str, path: str, body: Any
) -> None:
    asked = {"GET": v2.get, "DELETE": v2.delete}
    answer = asked[method](path) if method in asked else v2.post(path, body)

    assert answer.status == 404
    check_golden(version, f"refused-{name}", answer.json())


def test_a_stranger_is_told_in_every_place_where_clients_look(
    stranger: Client, version: str
) -> None:
    answer = stranger.get("/Orders/1")

    assert answer.status == 401
    assert answer.headers["www-authenticate"]
    check_golden(version, "refused-stranger", answer.json())
