"""Bodies that are none: the older versions refuse them as 3.0 does, and never stumble."""

import pytest

from tests.api.client import Client
from tests.api.malformed_bodies import malformed_bodies
from tests.api.v2.shop import ADDRESS, add, create, see, seen

MALFORMED = list(malformed_bodies())
REFUSED = {400, 413, 415}


@pytest.mark.parametrize("path", ["/Orders", "/Orders/1/Status", "/Orders/1/Photos/"])
@pytest.mark.every_version
def test_what_needs_a_member_refuses_a_body_without_it(v2: Client, path: str) -> None:
    order_id = create(v2)
    before = see(v2, order_id)
    assert order_id == 1

    statuses = {
        v2.request("POST", path, body, {"Content-Type": content_type}).status
        for _, content_type, body in MALFORMED
    }

    assert statuses <= REFUSED
    assert seen(v2.get("/Orders")) == [before]


@pytest.mark.parametrize("path", ["/Photos/Batch", "/Issues", "/Hold", "/Shipping", "/Cancel"])
@pytest.mark.parametrize("version", ["2.6"], indirect=True)
def test_no_body_makes_an_operation_stumble(v2: Client, path: str) -> None:
    order_id = create(v2)

    statuses = {
        v2.request("POST", f"/Orders/{order_id}{path}", body, {"Content-Type": content_type}).status
        for _, content_type, body in MALFORMED
    }

    # What needs no body takes one that says nothing to it.
    assert statuses <= REFUSED | {200}


@pytest.mark.every_version
def test_no_body_of_a_put_makes_it_stumble(v2: Client) -> None:
    order_id = create(v2)

    statuses = {
        v2.request("PUT", f"/Orders/{order_id}", body, {"Content-Type": content_type}).status
        for _, content_type, body in MALFORMED
    }

    assert statuses <= REFUSED | {200}


def test_a_body_is_ignored_where_none_is_expected(v2: Client) -> None:
    order_id = create(v2)

    answer = v2.request("GET", f"/Orders/{order_id}", b"{nonsense", {"Content-Type": "x/y"})

    assert answer.status == 200


def test_numbers_may_come_as_text_and_text_as_numbers(v2_5: Client) -> None:
    order_id = create(v2_5, merchantOrderId=17, invoiceAmountNet="12.5", invoiceTax=2.4)

    shown = see(v2_5, order_id)
    assert shown["merchantOrderId"] == "17"
    assert (shown["invoiceAmountNet"], shown["invoiceTax"]) == (13, 2)
    assert add(v2_5, order_id, copies="2.0")["copies"] == 2


def test_a_file_without_a_name_is_no_file(v2: Client) -> None:
    order_id = create(v2)
    body = (
        '--XX\r\nContent-Disposition: form-data; name="type"\r\n\r\n4x6\r\n'
        '--XX\r\nContent-Disposition: form-data; name="copies"\r\n\r\n1\r\n'
        '--XX\r\nContent-Disposition: form-data; name="file"; filename=""\r\n'
        "Content-Type: application/octet-stream\r\n\r\n\r\n--XX--\r\n"
    )

    answer = v2.request(
        "POST",
        f"/Orders/{order_id}/Photos/",
        body.encode(),
        {"Content-Type": "multipart/form-data; boundary=XX"},
    )

    assert seen(answer)["status"] == "AwaitingUrlOrData"
    assert see(v2, order_id)["address1"] == ADDRESS["address1"]
