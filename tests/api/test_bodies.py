"""Whatever arrives: what can be understood is, and nothing else becomes an error of ours."""

import json
from typing import Any

import pytest

from printworks.api.bodies import parse_form
from tests.api.client import Client
from tests.api.conftest import an_order
from tests.api.images import an_image
from tests.api.malformed_bodies import (
    GOOD,
    GOOD_IMAGE,
    JSON,
    malformed_bodies,
    malformed_images,
)

pytestmark = pytest.mark.both_databases

MALFORMED = list(malformed_bodies())
MALFORMED_IMAGES = list(malformed_images())


def test_there_are_enough_malformed_bodies() -> None:
    assert len(MALFORMED) >= 150
    assert len({(content_type, body) for _, content_type, body in MALFORMED}) == len(MALFORMED)
    assert len(MALFORMED_IMAGES) >= 100


@pytest.mark.slow
def test_every_malformed_body_is_refused_and_changes_nothing(v3: Client) -> None:
    order = v3.post("/orders", an_order()).data
    accepted = []

    for name, content_type, body in MALFORMED:
        for method, path in (("POST", "/orders"), ("PUT", f"/orders/{order['id']}")):
            answer = v3.request(method, path, body, {"Content-Type": content_type})
            if answer.status not in (400, 413, 415) or not answer.error:
                accepted.append((name, method, answer.status))

    assert accepted == []
    assert v3.get("/orders").data["content"] == [order]


def test_no_malformed_body_gets_through_to_the_status(v3: Client) -> None:
    order = v3.post("/orders", an_order()).data
    path = f"/orders/{order['id']}/status"

    statuses = {
        v3.request("POST", path, body, {"Content-Type": content_type}).status
        for _, content_type, body in MALFORMED
    }

    assert statuses <= {400, 413, 415}
    assert v3.get(f"/orders/{order['id']}").data == order


@pytest.mark.parametrize("path", ["images", "images/batch"])
def test_no_malformed_body_adds_an_image(v3: Client, path: str) -> None:
    order = v3.post("/orders", an_order()).data
    # An empty batch adds nothing, as it was asked to.
    bodies = [each for each in MALFORMED if path == "images" or each[2] != b"[]"]

    answers = {
        name: v3.request(
            "POST", f"/orders/{order['id']}/{path}", body, {"Content-Type": content_type}
        )
        for name, content_type, body in bodies
    }

    accepted = {name: each for name, each in answers.items() if each.status not in (400, 413, 415)}
    assert accepted == {}
    assert all(answer.error for answer in answers.values())
    assert v3.get(f"/orders/{order['id']}").data == order


def test_no_malformed_image_is_added_alone_or_with_others(v3: Client) -> None:
    order = v3.post("/orders", an_order()).data
    path = f"/orders/{order['id']}/images"
    accepted: list[tuple[object, ...]] = []

    for name, image in MALFORMED_IMAGES:
        alone = v3.post(path, image)
        with_others = v3.post(f"{path}/batch", [GOOD_IMAGE, image])
        if alone.status != 400 or with_others.status != 400:
            accepted.append((name, alone.status, with_others.status))
        elif with_others.error != f"Element 2: {alone.error}":
            accepted.append((name, alone.error, with_others.error))

    assert accepted == []
    assert v3.get(f"/orders/{order['id']}").data == order


def test_no_malformed_body_is_a_picture_to_look_at(v3: Client) -> None:
    statuses = {
        v3.request("POST", "/images/check", body, {"Content-Type": content_type}).status
        for _, content_type, body in MALFORMED
    }

    assert statuses == {400, 415}


def test_no_malformed_body_is_a_question_for_prices(v3: Client) -> None:
    path = "/catalogue/service%20direct/destination/GB/prices"
    # A bare array of codes is none, even of none and of unknown ones.
    fine = (b"[]", b'["a","b"]')
    bodies = [each for each in MALFORMED if each[2] not in fine]

    answers = {
        name: v3.request("POST", path, body, {"Content-Type": content_type})
        for name, content_type, body in bodies
    }

    accepted = {name: each for name, each in answers.items() if each.status not in (400, 415)}
    assert accepted == {}
    assert all(answer.error for answer in answers.values())


def test_no_malformed_body_moves_the_clock(v3: Client) -> None:
    statuses = {
        v3.request("POST", "/sandbox/clock", body, {"Content-Type": content_type}).status
        for _, content_type, body in MALFORMED
    }

    assert statuses == {400, 415}
    assert v3.get("/sandbox/clock").data["aheadBySeconds"] == 0


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (JSON, json.dumps(GOOD).encode()),
        (f"{JSON}; charset=utf-8", json.dumps(GOOD).encode()),
        (f"{JSON};charset=UTF-8", json.dumps(GOOD).encode()),
        ("APPLICATION/JSON", json.dumps(GOOD).encode()),
        ("application/vnd.shop+json", json.dumps(GOOD).encode()),
        ("", json.dumps(GOOD).encode()),
        (JSON, b"\xef\xbb\xbf" + json.dumps(GOOD).encode()),
        (JSON, b"  \n" + json.dumps(GOOD).encode() + b"\n"),
        (f"{JSON}; charset=utf-16", json.dumps(GOOD).encode("utf-16")),
        (f"{JSON}; charset=iso-8859-1", json.dumps(GOOD).encode("latin-1")),
        (
            "application/x-www-form-urlencoded",
            b"recipientName=Mary+Fox&countryCode=GB&preferredShippingMethod=Standard",
        ),
        ("", b"recipientName=Mary%20Fox&countryCode=GB&preferredShippingMethod=Standard"),
        (
            "application/x-www-form-urlencoded; charset=utf-8",
            b"recipientName=wrong&recipientName=Mary+Fox&countryCode=GB&preferredShippingMethod=Standard&",
        ),
        (
            "multipart/form-data; boundary=XX",
            b'--XX\r\nContent-Disposition: form-data; name="recipientName"\r\n\r\nMary Fox\r\n'
            b'--XX\r\nContent-Disposition: form-data; name="countryCode"\r\n\r\nGB\r\n'
            b'--XX\r\nContent-Disposition: form-data; name="preferredShippingMethod"\r\n\r\n'
            b"Standard\r\n--XX--\r\n",
        ),
    ],
)
def test_every_reasonable_way_to_say_it_is_understood(
    v3: Client, content_type: str, body: bytes
) -> None:
    headers = {"Content-Type": content_type} if content_type else {}

    order = v3.request("POST", "/orders", body, headers).data

    assert order["recipientName"] == "Mary Fox"
    assert order["countryCode"] == "GB"


@pytest.mark.parametrize("charset", ["iso-8859-1", "Latin1", "windows-1252"])
def test_what_windows_writes_is_understood_under_either_name(v3: Client, charset: str) -> None:
    headers = {"Content-Type": f"application/x-www-form-urlencoded; charset={charset}"}
    body = b"recipientName=Zo%EB+O%92Brien&countryCode=GB&preferredShippingMethod=Standard"

    assert v3.request("POST", "/orders", body, headers).data["recipientName"] == "Zoë O\u2019Brien"


def test_a_query_that_nobody_asked_for_is_not_read(v3: Client) -> None:
    order = v3.post("/orders", an_order()).data["id"]

    statuses = [v3.get(f"/orders/{order}{query}").status for query in ("?x=%ff", "", "?x=%ff")]

    assert statuses == [200, 200, 200]


def test_text_of_every_script_survives(v3: Client) -> None:
    name = "Zoë 山田 Ωмега 🖼 <b>&amp;</b> 'x' \"y\""

    by_json = v3.post("/orders", an_order(recipientName=name)).data
    by_form = v3.post_form("/orders", an_order(recipientName=name)).data

    assert by_json["recipientName"] == by_form["recipientName"] == name


def test_a_body_over_the_limit_is_too_large(v3: Client) -> None:
    body = json.dumps(an_order(address1="x" * 1_000_001)).encode()

    answer = v3.request("POST", "/orders", body, {"Content-Type": JSON})

    assert answer.status == 413
    assert answer.error == "The body must have at most 1000000 bytes."


def test_a_body_that_announces_too_much_is_not_read(v3: Client) -> None:
    headers = {"Content-Type": JSON, "Content-Length": "1000000000000"}

    answer = v3.request("POST", "/orders", b"{}", headers)

    assert answer.status == 413
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("body", [b"", b"   ", b"{}"])
def test_an_empty_body_is_an_empty_object(v3: Client, body: bytes) -> None:
    answer = v3.request("POST", "/orders", body, {"Content-Type": JSON})

    assert answer.status == 400
    assert (
        answer.error == "`recipientName`, `countryCode` and `preferredShippingMethod` are required."
    )


def test_xml_is_not_parsed(v3: Client) -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'

    answer = v3.request("POST", "/orders", bomb, {"Content-Type": "application/xml"})

    assert answer.status == 415
    assert "application/json" in answer.error


def test_members_that_are_none_of_the_clients_business_are_ignored(v3: Client) -> None:
    hostile: dict[str, Any] = {
        "merchant_id": 1,
        "ordinal": 0,
        "__class__": "x",
        "payment_token": "x",
    }

    order = v3.post("/orders", an_order(**hostile)).data

    assert v3.get("/orders").data["content"] == [order]


def test_members_that_are_only_numbered_make_a_list() -> None:
    parsed = parse_form("images[]=1&images[]=2&attributes[finish]=matte")

    assert parsed == {"images": ["1", "2"], "attributes": {"finish": "matte"}}


@pytest.mark.parametrize(
    ("form", "parsed"),
    [
        ("skus=A", {"skus": "A"}),
        ("skus=A&skus=B&skus=C", {"skus": ["A", "B", "C"]}),
        ("skus[]=A", {"skus": ["A"]}),
        ("skus=A&skus[]=B", {"skus": ["A", "B"]}),
        ("a[x]=1&a[x]=2&a[y]=3", {"a": {"x": ["1", "2"], "y": "3"}}),
        ("a[x]=1&a=2", {"a": "2"}),
        ("a=2&a[x]=1", {"a": {"x": "1"}}),
    ],
)
def test_a_repeated_key_of_a_form_is_a_list(form: str, parsed: object) -> None:
    assert parse_form(form) == parsed


def test_of_a_member_that_is_one_value_the_last_counts(v3: Client) -> None:
    form = [("attributes[frameColour]", colour) for colour in ("white", "black")]
    image = {**an_image(sku="FRA-INSTA-30X30"), "attributes": ""}
    order_id = v3.post("/orders", an_order()).data["id"]

    added = v3.post_form(f"/orders/{order_id}/images", [*image.items(), ("copies", 3), *form])

    assert (added.data["copies"], added.data["attributes"]) == (3, {"frameColour": "black"})
    assert len(v3.get("/orders?limit=0&limit=1").data["content"]) == 1
