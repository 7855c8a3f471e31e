"""The request log shows the shape of what was sent, and not whom it was about."""

import msgspec
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


def test_what_nobody_knows_is_hidden_whatever_it_is_called() -> None:
    body = (
        b'{"customer": {"surname": "Fox", "phone": 441904123, "isVip": true, "notes": ["Mary"]},'
        b' "Mary Fox": {"sku": "A"}, "attributes": {"engraving": "Mary"}, "placement": {"x": 0.5},'
        b' "message": "Mary", "photoIds": [1, 2], "status": null}'
    )
    shown = msgspec.json.decode(describe_sent(JSON, body))
    assert shown == {
        "customer": {
            "surname": "(hidden)",
            "phone": "(hidden)",
            "isVip": True,
            "notes": ["(hidden)"],
        },
        "(hidden)": {"sku": "A"},
        "attributes": {"engraving": "(hidden)"},
        "placement": {"x": 0.5},
        "message": "(hidden)",
        "photoIds": [1, 2],
        "status": None,
    }
    assert describe_sent(JSON, b'"Mary"') == '"(hidden)"'
    assert describe_sent(JSON, b'{"sku": "%s"}' % (b"x" * 1001)) == '{\n  "sku": "(hidden)"\n}'
    assert describe_sent(FORM, b"surname=Fox&copies=2") == (
        '{\n  "surname": "(hidden)",\n  "copies": "2"\n}'
    )


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
    assert describe_sent(JSON, b"[" + b"1," * 9000 + b"1]").endswith("…")
    long = b" " * (LONGEST_READ + 1)
    assert describe_sent(JSON, long) == "(65,537 bytes: too long to be kept)"
    assert describe_answer(JSON, long) == "(65,537 bytes: too long to be kept)"


def test_answers_are_shown_by_the_same_table_in_both_formats() -> None:
    body = b'{"errorMessage":"No.","data":{"recipientName":"Mary","town":"York"},"statusCode":400}'
    assert describe_answer(JSON, body) == (
        '{"errorMessage":"No.","data":{"recipientName":"(hidden)","town":"(hidden)"},'
        '"statusCode":400}'
    )
    xml = describe_answer(
        "application/xml",
        b"<r><errorMessage>No.</errorMessage><who>Mary</who><url>https://a.example/x</url></r>",
    )
    assert xml == (
        "<r><errorMessage>No.</errorMessage><who>(hidden)</who><url>https://a.example/\u2026</url></r>"
    )
    assert describe_answer("text/plain", b"Mary") == ""


@pytest.mark.parametrize(
    ("path", "order"),
    [("/v3.0/orders/42", 42), ("/v2.3/Orders/7/images", 7), ("/v3.0/orders", None), ("/x/9", None)],
)
def test_the_order_of_a_path_is_found(path: str, order: int | None) -> None:
    assert find_order_in(path) == order
