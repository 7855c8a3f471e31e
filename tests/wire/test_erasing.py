"""Stored answers without what they tell of a person."""

import json

from printworks.wire.erasing import blank_answer


def test_members_become_null_wherever_they_are() -> None:
    answer = {
        "data": {"id": 7, "recipientName": "Mary", "images": [{"url": "https://a", "copies": 2}]},
        "commentary": "Mary is not pleased",
        "statusCode": 200,
    }

    blank = json.loads(blank_answer("application/json; charset=utf-8", json.dumps(answer).encode()))

    assert blank == {
        "data": {"id": 7, "recipientName": None, "images": [{"url": None, "copies": 2}]},
        "commentary": "",
        "statusCode": 200,
    }


def test_so_do_elements() -> None:
    answer = b"<r><id>7</id><recipientName>Mary &amp; Tom</recipientName><url nil='true'/></r>"

    assert blank_answer("application/xml; charset=utf-8", answer) == (
        b"<r><id>7</id><recipientName nil=\"true\"/><url nil='true'/></r>"
    )
    assert blank_answer("text/xml", b"<r><commentary>Mary</commentary></r>") == (
        b"<r><commentary></commentary></r>"
    )


def test_what_cannot_be_read_is_not_kept() -> None:
    assert blank_answer("application/json", b"{Mary") == b""
