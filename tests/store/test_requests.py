"""What programs asked lately: each merchant sees its own, newest first."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, update

from printworks.actions.accounts.merchants import NewMerchant, add_merchant
from printworks.errors import NotFound
from printworks.store.accounts import requests as store
from printworks.store.accounts.merchants import Merchant, hash_key, list_keys
from printworks.store.accounts.requests import (
    LONGEST_PATH,
    NewRequest,
    RequestFilter,
    get_request,
    list_requests,
    make_storable,
    note_key_uses,
    purge_requests,
    write_requests,
)
from printworks.store.engine.database import Database
from printworks.store.tables import api_keys
from tests.factories import NOON, a_merchant, a_system_work

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def a_request(merchant: Merchant, **values: Any) -> NewRequest:
    """Say what makes a request."""
    usual: dict[str, Any] = {
        "merchant_id": merchant.id,
        "at": NOON,
        "method": "GET",
        "path": "/v3.0/orders",
        "status": 200,
        "milliseconds": 3,
        "request_id": "r",
    }
    return NewRequest(**{**usual, **values})


def ask(database: Database, merchant: Merchant, *requests: dict[str, Any]) -> None:
    """Write down requests, oldest first."""
    with database.writing() as db:
        write_requests(db, [a_request(merchant, **values) for values in requests])


def find_paths(database: Database, merchant: Merchant, **wanted: Any) -> list[str]:
    """Return the paths of what a filter lets through."""
    with database.reading() as db:
        page = list_requests(db, merchant.id, limit=100, wanted=RequestFilter(**wanted))
    return [request.path for request in page.requests]


def test_what_was_written_is_read_again_in_every_detail(
    database: Database, merchant: Merchant
) -> None:
    at = datetime.fromisoformat("2026-11-15T13:00:00.123456+01:00")
    told = {"address": "192.0.2.7", "refusal": "No \x00.", "body": "{}", "answer": "ü"}
    path = "/v3.0/orders/ünï 日"
    written = a_request(merchant, at=at, path=path, status=402, request_id="a-1", **told)
    with database.writing() as db:
        write_requests(db, [written])

    with database.reading() as db:
        [listed] = list_requests(db, merchant.id, limit=9).requests
        read = get_request(db, merchant.id, listed.id)
        with pytest.raises(NotFound):
            get_request(db, merchant.id + 1, listed.id)
    for name in ("at", "path", "status", "request_id", "address", "body", "answer"):
        assert getattr(read, name) == getattr(written, name), name
    assert read.refusal == "No \N{REPLACEMENT CHARACTER}."
    assert (read.key_id, read.key_name) == (None, None)


def test_writing_nothing_is_possible(database: Database, merchant: Merchant) -> None:
    ask(database, merchant)

    assert find_paths(database, merchant) == []


def test_pages_show_the_newest_first_and_each_request_once(
    database: Database, merchant: Merchant
) -> None:
    ask(database, merchant, *({"path": f"/{number}"} for number in range(7)))

    seen: list[str] = []
    before, pages = None, 0
    while pages == 0 or before is not None:
        with database.reading() as db:
            page = list_requests(db, merchant.id, before=before, limit=3)
        seen += [request.path for request in page.requests]
        before, pages = page.older, pages + 1

    assert seen == ["/6", "/5", "/4", "/3", "/2", "/1", "/0"]
    assert pages == 3


def test_a_page_that_is_just_full_is_the_last_one(database: Database, merchant: Merchant) -> None:
    ask(database, merchant, {}, {})

    with database.reading() as db:
        assert list_requests(db, merchant.id, limit=2).older is None


@pytest.mark.parametrize("before", [0, -1, -(10**30), 10**30])
def test_a_cursor_that_points_nowhere_breaks_nothing(
    database: Database, merchant: Merchant, before: int
) -> None:
    ask(database, merchant, {})

    with database.reading() as db:
        found = list_requests(db, merchant.id, before=before, limit=9).requests
    assert len(found) == (1 if before > 0 else 0)


def test_nobody_sees_what_others_asked(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        bob = a_merchant(db, "Bob")
    ask(database, merchant, {"path": "/mine", "request_id": "same"})
    ask(database, bob, {"path": "/theirs", "request_id": "same"}, {"request_id": "theirs"})

    assert find_paths(database, merchant) == ["/mine"]


class TestFilter:
    @pytest.fixture(autouse=True)
    def _requests(self, database: Database, merchant: Merchant) -> None:
        ask(
            database,
            merchant,
            {"path": "/v3.0/orders/100%", "status": 200, "method": "GET", "request_id": "one"},
            {"path": "/v3.0/Orders/1", "status": 404, "method": "PUT", "request_id": "two"},
            {"path": "/v2.3/ORDERS/ÉÉ", "status": 499, "method": "GET", "request_id": "three"},
            {"path": "/v3.0/clock", "status": 503, "method": "POST", "request_id": "four_four"},
        )

    @pytest.mark.parametrize(
        ("wanted", "paths"),
        [
            ({}, ["/v3.0/clock", "/v2.3/ORDERS/ÉÉ", "/v3.0/Orders/1", "/v3.0/orders/100%"]),
            ({"status_class": 4}, ["/v2.3/ORDERS/ÉÉ", "/v3.0/Orders/1"]),
            ({"status_class": 5}, ["/v3.0/clock"]),
            ({"status_class": 1}, []),
            ({"status_class": -(10**30)}, []),
            ({"status_class": 10**30}, []),
            ({"method": "put"}, ["/v3.0/Orders/1"]),
            ({"method": "\x00"}, []),
            ({"words": "orders"}, ["/v2.3/ORDERS/ÉÉ", "/v3.0/Orders/1", "/v3.0/orders/100%"]),
            ({"words": " ORDERS/1 "}, ["/v3.0/Orders/1", "/v3.0/orders/100%"]),
            ({"words": "ÉÉ"}, ["/v2.3/ORDERS/ÉÉ"]),
            ({"words": "100%"}, ["/v3.0/orders/100%"]),
            ({"words": "%"}, ["/v3.0/orders/100%"]),
            ({"words": "_"}, []),
            ({"words": "four_four"}, ["/v3.0/clock"]),
            ({"words": "four"}, []),
            ({"words": "' OR 1=1 --"}, []),
            ({"words": "\x00"}, []),
            ({"words": "\ud800"}, []),
            ({"words": "x" * 100_000}, []),
            ({"words": "orders", "status_class": 4, "method": "GET"}, ["/v2.3/ORDERS/ÉÉ"]),
        ],
    )
    def test_it_lets_through_what_was_asked_for(
        self, database: Database, merchant: Merchant, wanted: dict[str, Any], paths: Sequence[str]
    ) -> None:
        assert find_paths(database, merchant, **wanted) == paths

    def test_it_looks_through_so_many_at_once_and_says_where_to_go_on(
        self, database: Database, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(store, "MOST_FILTERED", 2)
        wanted = RequestFilter(words="/1")

        with database.reading() as db:
            first = list_requests(db, merchant.id, limit=9, wanted=wanted)
            second = list_requests(db, merchant.id, limit=9, before=first.older, wanted=wanted)

        assert first.requests == []
        assert [request.request_id for request in second.requests] == ["two", "one"]
        assert second.older is None

    def test_it_fills_a_page_and_goes_on_after_its_last(
        self, database: Database, merchant: Merchant
    ) -> None:
        wanted = RequestFilter(words="orders")

        with database.reading() as db:
            first = list_requests(db, merchant.id, limit=2, wanted=wanted)
            second = list_requests(db, merchant.id, limit=2, before=first.older, wanted=wanted)

        found = [request.request_id for request in (*first.requests, *second.requests)]
        assert found == ["three", "two", "one"]


@pytest.mark.parametrize(
    ("words", "storable"),
    [
        ("/v3.0/orders", "/v3.0/orders"),
        ("ünï 日 🎨", "ünï 日 🎨"),
        ("a\x00b", "a\ufffdb"),
        ("a\udcffb", "a\ufffdb"),
        ("\ud800", "\ufffd"),
        ("\ud83c\udfa8", "🎨"),
    ],
)
def test_what_no_database_can_hold_is_replaced(
    database: Database, merchant: Merchant, words: str, storable: str
) -> None:
    assert make_storable(words) == storable

    ask(database, merchant, {"path": words})

    assert find_paths(database, merchant) == [storable]


def test_a_long_path_is_cut(database: Database, merchant: Merchant) -> None:
    ask(database, merchant, {"path": "/" + "é" * 10_000})

    [path] = find_paths(database, merchant)
    assert path == "/" + "é" * (LONGEST_PATH - 1)


def test_only_old_requests_are_forgotten_and_only_so_many_at_once(
    database: Database, merchant: Merchant
) -> None:
    ask(
        database,
        merchant,
        *({"at": NOON - (3 - number) * SECOND, "path": f"/{number}"} for number in range(4)),
    )

    def forget() -> int:
        with database.writing() as db:
            return purge_requests(db, before=NOON, limit=2)

    assert forget() == 2
    assert find_paths(database, merchant) == ["/3", "/2"]
    assert [forget(), forget()] == [1, 0]
    assert find_paths(database, merchant) == ["/3"]


class TestLastUseOfKeys:
    @pytest.fixture
    def new(self, database: Database) -> NewMerchant:
        with database.writing() as db:
            return add_merchant(a_system_work(db, now=NOON, environment="sandbox"), "Alice")

    def note(self, database: Database, new: NewMerchant, at: datetime) -> datetime | None:
        """Note a use, and return what is remembered then."""
        with database.writing() as db:
            note_key_uses(db, {hash_key(new.api_key): at})
            [key] = list_keys(db, new.merchant.id, now=NOON)
            return key.last_used_at

    def test_a_key_that_was_never_shown_has_none(
        self, database: Database, new: NewMerchant
    ) -> None:
        with database.writing() as db:
            note_key_uses(db, {})
            [key] = list_keys(db, new.merchant.id, now=NOON)
        assert key.last_used_at is None

    def test_it_is_noted_when_a_minute_has_passed_and_not_before(
        self, database: Database, new: NewMerchant
    ) -> None:
        assert self.note(database, new, NOON) == NOON
        assert self.note(database, new, NOON + MINUTE - SECOND) == NOON
        assert self.note(database, new, NOON - MINUTE) == NOON
        assert self.note(database, new, NOON + MINUTE) == NOON + MINUTE

    def test_each_key_has_its_own_and_unknown_ones_are_nobodys(
        self, database: Database, new: NewMerchant
    ) -> None:
        with database.writing() as db:
            bob = add_merchant(a_system_work(db, now=NOON, environment="sandbox"), "Bob")
            lately = NOON - SECOND
            set_last_use(db, bob, lately)

            note_key_uses(
                db, {hash_key(new.api_key): NOON + MINUTE, hash_key(bob.api_key): NOON, "?": NOON}
            )

            [hers] = list_keys(db, new.merchant.id, now=NOON)
            [his] = list_keys(db, bob.merchant.id, now=NOON)
        assert hers.last_used_at == NOON + MINUTE
        assert his.last_used_at == lately

    def test_nobody_waits_for_somebody_who_is_changing_the_key(
        self, postgresql_database: Database
    ) -> None:
        # Not on SQLite, which lets one write at a time.
        database = postgresql_database
        with database.writing() as db:
            new = add_merchant(a_system_work(db, now=NOON, environment="sandbox"), "Alice")
        with database.writing() as slow:
            set_last_use(slow, new, None)

            with database.writing() as db:
                note_key_uses(db, {hash_key(new.api_key): NOON})

        with database.reading() as db:
            [key] = list_keys(db, new.merchant.id, now=NOON)
        assert key.last_used_at is None


def set_last_use(db: Connection, new: NewMerchant, at: datetime | None) -> None:
    """Pretend that a key was last shown then."""
    mine = update(api_keys).where(api_keys.c.hash == hash_key(new.api_key))
    db.execute(mine.values(last_used_at=at))
