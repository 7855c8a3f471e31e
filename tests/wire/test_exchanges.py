"""The request log shows the shape of what was sent, and not whom it was about."""

import pytest

from printworks.wire.exchanges import (
    LONGEST_READ,
    LONGEST_SHOWN,
    describe_answer,
    describe_sent,
    find_order_in,
)

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def test_people_are_hidden_and_what_is_missing_is_seen() -> None:
    body = (
        b'{"RECIPIENTNAME": "Mary", "address1": "", "email": null, "copies": 2, "images": '
        b'[{"url": "https://u:p@shop.example/a?token=x", "md5Hash": "12"}], "packingSlipUrl": "x",'
        b' "commentary": "Mary said"}'
    )
    shown = describe_sent(JSON, body)
    assert '"RECIPIENTNAME": "(hidden)"' in shown
    assert '"address1": ""' in shown
    assert '"email": null' in shown
    assert '"copies": 2' in shown
    assert '"url": "https://shop.example/…"' in shown
    assert '"packingSlipUrl": "(hidden)"' in shown
    assert "Mary" not in shown
    assert "token" not in shown


def test_an_address_that_is_none_is_hidden() -> None:
    assert describe_sent(JSON, b'{"url": "https://[::1"}') == '{\n  "url": "(hidden)"\n}'
    assert describe_sent(JSON, b'{"url": 5}') == '{\n  "url": "(hidden)"\n}'


def test_a_form_is_shown_like_json() -> None:
    assert describe_sent(FORM, b"sku=A&recipientName=Mary") == (
        '{\n  "sku": "A",\n  "recipientName": "(hidden)"\n}'
    )
    assert describe_sent(FORM, b"&".join([b"a=1"] * 1001)).startswith("x=0&x=0")


@pytest.mark.parametrize("body", [b'{"name": "M\xc3\xa4ry 12",}', b"[" * 5000])
def test_of_what_cannot_be_read_only_the_signs_are_shown(body: bytes) -> None:
    shown = describe_sent(JSON, body)
    assert shown in ('{"xxxx": "xxxx 00",}', "[" * LONGEST_SHOWN)


def test_long_bodies_are_cut_or_only_measured() -> None:
    assert describe_sent(JSON, b"") == ""
    assert describe_sent(JSON, b'["' + b"a" * 9000 + b'"]').endswith("…")
    long = b" " * (LONGEST_READ + 1)
    assert describe_sent(JSON, long) == "(65,537 bytes: too long to be kept)"
    assert describe_answer(JSON, long) == "(65,537 bytes: too long to be kept)"


def test_answers_are_blanked_in_both_formats() -> None:
    assert (
        describe_answer(JSON, b'{"recipientName":"Mary","a":1}') == '{"recipientName":null,"a":1}'
    )
    xml = describe_answer("application/xml", b"<o><recipientName>Mary</recipientName></o>")
    assert "Mary" not in xml


@pytest.mark.parametrize(
    ("path", "order"),
    [("/v3.0/orders/42", 42), ("/v2.3/Orders/7/images", 7), ("/v3.0/orders", None), ("/x/9", None)],
)
def test_the_order_of_a_path_is_found(path: str, order: int | None) -> None:
    assert find_order_in(path) == order
