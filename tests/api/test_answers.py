"""How answers look: JSON unless XML is preferred, with the headers that every one carries."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.api.responses import prefers_xml, to_xml
from tests.api.client import Client
from tests.api.conftest import an_order


@pytest.mark.parametrize(
    ("accept", "is_xml"),
    [
        ("", False),
        ("*/*", False),
        ("application/json", False),
        ("text/html", False),
        ("nonsense", False),
        ("application/xml", True),
        ("text/xml", True),
        ("APPLICATION/XML", True),
        ("application/xml;q=0.9, application/json;q=0.8", True),
        ("application/xml;q=0.8, application/json;q=0.9", False),
        ("application/xml, application/json", False),
        ("application/json;q=0.5, text/xml", True),
        ("application/xml, */*;q=0.1", True),
        ("application/xml;q=0", False),
        ("application/xml;q=0.1, */*", False),
        ("application/xml;q=high", False),
        ("image/svg+xml", False),
    ],
)
def test_xml_is_for_those_who_rank_it_higher(accept: str, is_xml: bool) -> None:
    assert prefers_xml(accept) is is_xml


def test_an_order_can_be_read_as_xml(v3: Client) -> None:
    order = v3.post("/orders", an_order(recipientName="A & B <c>")).data

    answer = v3.get(f"/orders/{order['id']}", Accept="application/xml")

    assert answer.headers["content-type"] == "application/xml; charset=utf-8"
    document = ElementTree.fromstring(answer.body)
    assert document.findtext("data/recipientName") == "A & B <c>"
    assert document.findtext("data/id") == str(order["id"])
    assert document.findtext("statusCode") == "200"
    assert {element.tag for element in document.find("data") or []} == set(order)


def test_a_list_and_a_refusal_can_be_read_as_xml(v3: Client) -> None:
    v3.post("/orders", an_order())

    listed = ElementTree.fromstring(v3.get("/orders", Accept="text/xml").body)
    refused = ElementTree.fromstring(v3.get("/orders/999", Accept="text/xml").body)

    assert listed.findtext("data/content/item/recipientName") == "Mary Fox"
    assert refused.findtext("errorMessage") == "The order with the specified id was not found"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_every_line_break_survives_xml() -> None:
    address = "1 High Street\r\nFlat 2\rLeft\nDoor"

    read = ElementTree.fromstring(to_xml({"address1": address}))

    assert read.findtext("address1") == address


@given(json_values)
def test_whatever_there_is_to_say_it_is_well_formed_xml(value: object) -> None:
    ElementTree.fromstring(to_xml(value))


@pytest.mark.parametrize(
    "path", ["/orders", "/orders/999", "/nowhere", "/countries", "/docs", "/openapi.json"]
)
def test_every_answer_carries_a_request_id_and_demands_https(v3: Client, path: str) -> None:
    answer = v3.get(path)

    assert len(answer.headers["x-request-id"]) >= 16
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_request_id_of_the_clients_own_is_kept_if_it_is_harmless(v3: Client) -> None:
    kept = v3.request("GET", "/countries", headers={"X-Request-Id": "shop-42.a_b"})
    replaced = v3.request("GET", "/countries", headers={"X-Request-Id": "a b\x00" * 50})

    assert kept.headers["x-request-id"] == "shop-42.a_b"
    assert replaced.headers["x-request-id"].isalnum()


def test_answers_are_not_to_be_used_again_unasked(v3: Client) -> None:
    assert v3.get("/orders").headers["cache-control"] == "private, no-cache"
    assert v3.get("/orders/999").headers["cache-control"] == "no-store"


def test_another_method_is_refused_with_those_that_are_possible(v3: Client) -> None:
    answer = v3.request("DELETE", "/orders")

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, POST"
    assert answer.error == "DELETE is not possible here, only GET, HEAD, POST."


@pytest.mark.parametrize(
    "path", ["/nowhere", "/orders/1/2/3", "/orders//1", "//", "/orders/1/state"]
)
def test_there_is_nothing_at_another_address(v3: Client, path: str) -> None:
    answer = v3.get(path)

    assert answer.status == 404
    assert answer.error == "There is nothing at this address."


def test_head_answers_as_get_without_a_body(v3: Client) -> None:
    whole = v3.get("/countries")

    head = v3.request("HEAD", "/countries")

    assert head.status == 200
    assert head.body == b""
    assert head.headers["content-length"] == str(len(whole.body))
