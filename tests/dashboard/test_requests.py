"""What programs asked in the last days: found by path, answer, method and request id."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from printworks.dashboard.merchant.integrations import requests
from printworks.store.accounts.merchants import get_merchant_by_code, hash_key, list_keys
from printworks.store.accounts.requests import NewRequest, write_requests
from printworks.store.engine.database import Database
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window
from tests.factories import NOON

pytestmark = pytest.mark.both_databases

HOSTILE = "/v3.0/<script>alert('x')</script>"


def ask(database: Database, window: Window, *asked: dict[str, Any]) -> None:
    """Write down requests of a merchant, oldest first."""
    with database.writing() as db:
        merchant = get_merchant_by_code(db, window.code)
        usual = {"method": "GET", "path": "/v3.0/orders", "status": 200, "milliseconds": 7}
        write_requests(
            db,
            [
                NewRequest(
                    merchant_id=merchant.id,
                    at=NOON + timedelta(seconds=number),
                    **{**usual, "request_id": f"id-{number}", **values},
                )
                for number, values in enumerate(asked)
            ],
        )


def ids_in(page: str) -> list[str]:
    """Return the request ids that a page shows, in order."""
    return re.findall(r'data-label="Request ID"[^>]*><span[^>]*>([^<]*)<', page)


def test_the_newest_are_shown_first_and_only_ones_own(
    alice: Window, bob: Window, database: Database
) -> None:
    ask(database, alice, {}, {"path": HOSTILE, "status": 404}, {"request_id": "<b>mine</b>"})
    ask(database, bob, {"path": "/v2.3/his"})

    page = alice.open("/requests")

    words, body = words_of(page), page.body.decode()
    assert "12:00:00 GET /v3.0/orders 200 OK 7 ms id-0" in words
    assert f"12:00:01 GET {HOSTILE} 404 Not Found 7 ms id-1" in words
    assert words.index("<b>mine</b>") < words.index("id-1") < words.index("id-0")
    assert "<script>alert" not in body
    assert "<b>mine" not in body
    assert "/v2.3/his" not in words
    assert "/v2.3/his" in bob.words("/requests")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("answer=errors", ["id-3", "id-2", "id-1"]),
        ("answer=refused", ["id-2", "id-1"]),
        ("answer=failed", ["id-3"]),
        ("method=POST", ["id-2"]),
        ("words=ORDERS/4", ["id-1"]),
        ("words=id-2", ["id-2"]),
        ("answer=errors&method=GET&words=orders", ["id-1"]),
        ("answer=nonsense&method=BREW&before=x", ["id-3", "id-2", "id-1", "id-0"]),
        ("words=%00%25_&method=GET", []),
    ],
)
def test_some_can_be_picked_out(
    alice: Window, database: Database, query: str, found: list[str]
) -> None:
    ask(
        database,
        alice,
        {},
        {"path": "/v3.0/orders/4", "status": 404},
        {"method": "POST", "path": "/v3.0/orders", "status": 400},
        {"path": "/v3.0/catalogue", "status": 500},
    )
    page = alice.open(f"/requests?{query}")

    assert ids_in(page.body.decode()) == found
    assert bool(found) != ("No requests found" in words_of(page))


def test_the_list_is_paged_and_only_its_beginning_looks_again(
    alice: Window, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "_ROWS", 2)
    ask(database, alice, {}, {}, {})

    first = alice.open("/requests?words=orders").body.decode()
    [older] = re.findall(r'href="([^"]+)" rel="next"', first)
    second = alice.open(html.unescape(older)).body.decode()
    [again] = re.findall(r'hx-get="([^"]*seen=[^"]*)"', first)
    quiet = alice.open(html.unescape(again), HX_Request="true")
    ask(database, alice, {"request_id": "news"})
    news = alice.open(html.unescape(again), HX_Request="true")

    assert (ids_in(first), ids_in(second)) == (["id-2", "id-1"], ["id-0"])
    assert "seen=" not in second
    assert (quiet.status, news.status) == (204, 200)
    assert ids_in(news.body.decode()) == ["news", "id-2"]


def test_whoever_has_asked_nothing_is_told_how(alice: Window) -> None:
    words = alice.words("/requests")

    assert "No requests yet" in words
    assert "curl -H 'X-Service-MerchantId:" in words
    assert alice.api.credentials["X-Service-REST-API-Key"] not in words


def test_a_refused_request_says_why_and_what_was_sent(
    alice: Window, bob: Window, database: Database
) -> None:
    with database.reading() as db:
        merchant = get_merchant_by_code(db, alice.code)
        [key] = list_keys(db, merchant.id, now=NOON)
    told = {"refusal": "`copies` must be a number.", "body": '{"copies": "x"}', "answer": HOSTILE}
    key_hash = hash_key(alice.api.credentials["X-Service-REST-API-Key"])
    ask(
        database,
        alice,
        {"path": "/v3.0/fine"},
        {"status": 400, "key_hash": key_hash, "address": "192.0.2.7", **told},
    )
    listed = alice.open("/requests")
    assert "`copies` must be a number." in words_of(listed)
    refused, fine = re.findall(r'class="row-link" href="(/requests/[0-9]+)"', listed.body.decode())

    said = alice.words(refused)
    for text in (*told.values(), "192.0.2.7", key.hint, "400 Bad Request", "7 ms"):
        assert text in said, text
    assert "Bodies are kept only for refused requests." in alice.words(fine)
    assert bob.open(refused).status == alice.open("/requests/999999").status == 404
    by_key = alice.open(f"/requests?key={key.id}").body.decode()
    assert ids_in(by_key) == ["id-1"]
