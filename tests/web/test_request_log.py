"""What programs asked is written down, and no request waits for it or fails because of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs
from structlog.typing import EventDict

from printworks.actions.accounts.merchants import rotate_key
from printworks.api.messages import Caller, Identity, Request, Response
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant, get_merchant_by_code, list_keys
from printworks.store.accounts.requests import ApiRequest, WholeRequest, get_request, list_requests
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from printworks.web.request_log import BATCH, LISTENER, MOST_READS, RequestLog
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import MovableClock, an_order, sign_up
from tests.factories import NO_LIMITS, NOON, a_merchant, a_work_by_code
from tests.worker.hosts import wait_until

ID = "X-Service-MerchantId"
KEY = "X-Service-REST-API-Key"
FINE = Response(200, "application/json", b"{}")


@pytest.fixture
def logged() -> Iterator[list[EventDict]]:
    """Everything that is logged during the test."""
    with capture_logs() as lines:
        yield lines


@contextmanager
def running(database: Database, data: Path) -> Iterator[Client]:
    """Run a service with one merchant; when the block ends, what was collected is written."""
    given = {"PRINTWORKS_PUBLIC_URL": "https://print.example", **NO_LIMITS}
    settings = Settings.load(data, given)
    url = database.url.render_as_string(hide_password=False)
    server = Server(build_app(msgspec.structs.replace(settings, database_url=url), MovableClock()))
    try:
        yield sign_up(server, database, "Alice")
    finally:
        server.close()


def read_log(database: Database, client: Client) -> list[ApiRequest]:
    """Return what a merchant's programs asked, oldest first."""
    with database.reading() as db:
        merchant = get_merchant_by_code(db, client.credentials[ID])
        return list_requests(db, merchant.id, limit=10_000).requests[::-1]


def read_whole(database: Database, client: Client) -> list[WholeRequest]:
    """Return all that is known of them."""
    with database.reading() as db:
        merchant = get_merchant_by_code(db, client.credentials[ID])
        found = list_requests(db, merchant.id, limit=100).requests[::-1]
        return [get_request(db, merchant.id, one.id) for one in found]


class TestReasons:
    def test_a_refusal_has_its_sentence_what_was_sent_and_what_was_answered(
        self, database: Database, tmp_path: Path
    ) -> None:
        with running(database, tmp_path) as client:
            order = client.post("/orders", an_order()).data["id"]
            sent = {**an_order(recipientName="Mary Fox"), "preferredShippingMethod": "Rocket"}
            answer = client.post("/orders", sent)
            client.put(f"/orders/{order}", {"status": "Complete"})
        fine, refused, moved = read_whole(database, client)
        assert (fine.refusal, fine.body, fine.answer) == (None, None, None)
        assert fine.key_hint == client.credentials[KEY][-len(fine.key_hint or "") :]
        assert refused.refusal == answer.json()["errorMessage"]
        assert refused.body is not None
        assert '"preferredShippingMethod": "Rocket"' in refused.body
        assert '"recipientName": "(hidden)"' in refused.body
        assert "Mary" not in refused.body
        assert (refused.refusal or "?") in (refused.answer or "")
        assert (moved.status >= 400, moved.body is not None) == (True, True)

    def test_no_body_is_kept_where_none_is_wanted(
        self, sqlite_database: Database, merchant: Merchant
    ) -> None:
        requests = RequestLog(sqlite_database, with_bodies=False)
        asked = a_request(merchant, 1)
        asked.caller.refusal = "No."
        requests.note(asked, Response(400, "application/json", b"{}"), 0.001, "192.0.2.7")
        requests.close()
        with sqlite_database.reading() as db:
            [listed] = list_requests(db, merchant.id, limit=9).requests
            whole = get_request(db, merchant.id, listed.id)
        assert (whole.refusal, whole.body, whole.address) == ("No.", None, "192.0.2.7")

    def test_who_only_listens_does_not_fill_the_log(
        self, sqlite_database: Database, merchant: Merchant
    ) -> None:
        requests = RequestLog(sqlite_database)
        listening = msgspec.structs.replace(
            a_request(merchant, 1), path="/v3.0/events", headers={"user-agent": LISTENER}
        )
        requests.note(listening, FINE, 0.001)
        requests.note(listening, Response(403, "application/json", b"{}"), 0.001)
        requests.note(msgspec.structs.replace(listening, headers={}), FINE, 0.001)
        requests.close()
        with sqlite_database.reading() as db:
            statuses = [one.status for one in list_requests(db, merchant.id, limit=9).requests]
        assert statuses == [200, 403]


class TestService:
    def test_of_very_many_reads_some_are_kept_and_of_all_else_everything(
        self, sqlite_database: Database, merchant: Merchant
    ) -> None:
        requests, asked = RequestLog(sqlite_database), a_request(merchant, 1)
        read = msgspec.structs.replace(asked, method="GET")
        for _ in range(100 * MOST_READS):
            requests.note(read, FINE, 0.001)
        requests.note(read, Response(404, "application/json", b"{}"), 0.001)
        requests.note(asked, FINE, 0.001)
        requests.close()
        with sqlite_database.reading() as db:
            found = list_requests(db, merchant.id, limit=100_000).requests[::-1]
        *reads, refused, written = found
        # Written in between, there is room for more.
        assert MOST_READS <= len(reads) < 50 * MOST_READS
        assert (refused.status, written.method) == (404, "POST")

    def test_a_stop_writes_down_what_was_asked(self, database: Database, tmp_path: Path) -> None:
        with running(database, tmp_path) as client:
            made = client.post("/orders", an_order(), X_Request_Id="mine")
            order = made.data["id"]
            client.get(f"/Orders/{order}?secret=1&start=2")
            client.get("/orders/999999")
            client.post("/orders", {})

        found = read_log(database, client)
        assert [(one.method, one.path, one.status) for one in found] == [
            ("POST", "/v3.0/orders", 200),
            ("GET", f"/v3.0/Orders/{order}", 200),
            ("GET", "/v3.0/orders/999999", 404),
            ("POST", "/v3.0/orders", 400),
        ]
        assert found[0].request_id == "mine"
        assert {one.at for one in found} == {NOON}
        assert all(0 <= one.milliseconds < 60_000 for one in found)

    def test_the_id_is_the_one_that_the_answer_showed(
        self, database: Database, tmp_path: Path
    ) -> None:
        with running(database, tmp_path) as client:
            answer = client.get("/orders")

        [found] = read_log(database, client)
        assert found.request_id == answer.headers["x-request-id"]

    def test_the_key_that_was_shown_and_no_other_has_a_last_use(
        self, database: Database, tmp_path: Path
    ) -> None:
        with running(database, tmp_path) as client:
            with database.writing() as db:
                rotate_key(
                    a_work_by_code(db, client.credentials[ID], now=NOON),
                    old_key_valid_for=timedelta(days=1),
                )
            client.get("/orders")

        with database.reading() as db:
            merchant = get_merchant_by_code(db, client.credentials[ID])
            newest, oldest = list_keys(db, merchant.id, now=NOON)
        assert oldest.hint == client.credentials[KEY][-4:]
        assert oldest.last_used_at == NOON
        assert newest.last_used_at is None

    def test_each_merchant_has_its_own(self, database: Database, tmp_path: Path) -> None:
        with running(database, tmp_path) as client:
            bob = sign_up(client.server, database, "Bob")
            client.get("/orders")
            bob.get("/orders/1")

        assert [one.path for one in read_log(database, client)] == ["/v3.0/orders"]
        assert [one.path for one in read_log(database, bob)] == ["/v3.0/orders/1"]

    def test_strangers_belong_to_nobody(self, database: Database, tmp_path: Path) -> None:
        with running(database, tmp_path) as client:
            for credentials in ({}, {**client.credentials, KEY: "pw_sandbox_wrong"}):
                stranger = Client(client.server, "/v3.0", credentials)
                assert stranger.get("/orders").status == 401
                assert stranger.post("/orders", an_order()).status == 401
            client.get("/nothing/here")

        assert read_log(database, client) == []

    @pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": "k"}])
    def test_neither_does_a_key_that_was_right_a_moment_ago(
        self, database: Database, tmp_path: Path, headers: dict[str, str]
    ) -> None:
        with running(database, tmp_path) as client:
            assert client.get("/orders").status == 200
            with database.writing() as db:
                code = client.credentials[ID]
                wait = timedelta(0)
                rotate_key(a_work_by_code(db, code, now=NOON), old_key_valid_for=wait)
            assert client.post("/orders", an_order(), **headers).status == 401

        assert [one.status for one in read_log(database, client)] == [200]

    def test_an_upload_that_is_too_large_is_known_by_whose_it_is(
        self, database: Database, tmp_path: Path
    ) -> None:
        with running(database, tmp_path) as client:
            headers = {
                **client.credentials,
                "Content-Type": "multipart/form-data; boundary=XX",
                "Content-Length": "5000000000",
                "Expect": "100-continue",
            }
            scope = make_scope("POST", "/v3.0/images/check", headers)
            # Who would stay is given time to read the answer.
            gone = {"type": "http.disconnect"}
            assert client.server.run(client.server.ask(scope, [gone])).status == 413

        assert [one.status for one in read_log(database, client)] == [413]

    @pytest.mark.parametrize(
        ("path", "stored"),
        [
            ("/orders/<script>alert(1)</script>", "/v3.0/orders/<script>alert(1)<"),
            ("/orders/%00", "/v3.0/orders/\ufffd"),
            ("/orders/'; DROP TABLE api_requests --", "/v3.0/orders/'; DROP TABLE"),
            ("/orders/%F0%9F%8E%A8", "/v3.0/orders/🎨"),
        ],
    )
    def test_hostile_paths_are_only_text(
        self, database: Database, tmp_path: Path, path: str, stored: str
    ) -> None:
        with running(database, tmp_path) as client:
            client.get(path)
            client.get("/orders")

        found = read_log(database, client)
        assert found[-1].path == "/v3.0/orders"
        assert all(one.path.startswith(stored) for one in found[:-1])

    def test_a_path_with_broken_text_and_no_end_is_cut_and_mended(
        self, database: Database, tmp_path: Path
    ) -> None:
        with running(database, tmp_path) as client:
            scope = make_scope("GET", "/v3.0/orders/1", client.credentials)
            scope["path"] = "/v3.0/orders/\udcff\x00" + "x" * 30_000
            client.server.run(client.server.ask(scope, []))

        [found] = read_log(database, client)
        assert found.path.startswith("/v3.0/orders/\ufffd\ufffdxx")
        assert len(found.path) == 500

    def test_what_was_asked_can_be_seen_soon_without_a_stop(
        self, database: Database, tmp_path: Path
    ) -> None:
        with running(database, tmp_path) as client:
            client.get("/orders")
            wait_until(lambda: read_log(database, client))
            client.get("/orders")
            wait_until(lambda: len(read_log(database, client)) == 2)

    @pytest.mark.slow
    def test_while_the_log_cannot_be_written_reads_are_answered_as_ever(
        self, database: Database, tmp_path: Path
    ) -> None:
        with running(database, tmp_path) as client:
            assert client.get("/orders").status == 200
            # On SQLite nobody else can write either; on PostgreSQL only the log cannot.
            with database.writing() as db:
                if not database.is_sqlite:
                    db.execute(text("LOCK TABLE api_requests IN ACCESS EXCLUSIVE MODE"))
                    assert client.post("/orders", an_order()).status == 200
                # Reads that are refused, because all of those are kept.
                statuses = {client.get("/orders/7").status for _ in range(2 * BATCH)}
                assert client.get("/orders").status == 200
            assert statuses == {404}

        assert len(read_log(database, client)) == 2 * BATCH + (2 if database.is_sqlite else 3)


def a_request(merchant: Merchant, number: int) -> Request:
    """Return a request of a merchant who was recognised."""
    known = Identity(merchant.id, "hash", NOON)
    return Request("POST", f"/{number}", "", {}, b"", f"r{number}", caller=Caller(known))


@pytest.fixture
def merchant(sqlite_database: Database) -> Merchant:
    with sqlite_database.writing() as db:
        return a_merchant(db)


def read_paths(database: Database, merchant: Merchant) -> list[str]:
    """Return the paths that were written, oldest first."""
    with database.reading() as db:
        found = list_requests(db, merchant.id, limit=100_000).requests
    return [one.path for one in reversed(found)]


def rename(database: Database, old: str, new: str) -> None:
    """Take a table away, as an outage does, or bring it back."""
    with database.writing() as db:
        db.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))


class TestOutage:
    def test_what_could_not_be_written_is_written_later_in_order(
        self, sqlite_database: Database, merchant: Merchant, logged: list[EventDict]
    ) -> None:
        requests = RequestLog(sqlite_database)
        rename(sqlite_database, "api_requests", "away")
        for number in range(BATCH + 1):
            requests.note(a_request(merchant, number), FINE, 0.001)
        wait_until(lambda: logged)
        rename(sqlite_database, "away", "api_requests")
        requests.note(a_request(merchant, BATCH + 1), FINE, 0.001)
        requests.close()

        assert read_paths(sqlite_database, merchant) == [f"/{n}" for n in range(BATCH + 2)]
        assert [line["event"] for line in logged] == ["requests not written yet"]

    def test_the_oldest_are_dropped_and_counted_when_there_are_too_many(
        self, sqlite_database: Database, merchant: Merchant, logged: list[EventDict]
    ) -> None:
        requests = RequestLog(sqlite_database, most_stored=10)
        rename(sqlite_database, "api_requests", "away")
        requests.note(a_request(merchant, 0), FINE, 0.001)
        wait_until(lambda: logged)
        for number in range(1, 26):
            requests.note(a_request(merchant, number), FINE, 0.001)
        rename(sqlite_database, "away", "api_requests")
        requests.close()

        assert read_paths(sqlite_database, merchant) == [f"/{number}" for number in range(16, 26)]
        assert logged[-1] == {"event": "requests lost", "count": 16, "log_level": "warning"}

    def test_a_stop_during_an_outage_ends_soon_and_says_what_is_lost(
        self, sqlite_database: Database, merchant: Merchant, logged: list[EventDict]
    ) -> None:
        requests = RequestLog(sqlite_database)
        rename(sqlite_database, "api_requests", "away")
        for number in range(3):
            requests.note(a_request(merchant, number), FINE, 0.001)
        requests.close()
        rename(sqlite_database, "away", "api_requests")

        assert read_paths(sqlite_database, merchant) == []
        assert logged[-1] == {"event": "requests lost", "count": 3, "log_level": "warning"}

    def test_what_can_never_be_written_does_not_hold_up_the_rest(
        self, sqlite_database: Database, merchant: Merchant, logged: list[EventDict]
    ) -> None:
        requests = RequestLog(sqlite_database)
        nobody = msgspec.structs.replace(merchant, id=999_999)
        for number in range(BATCH):
            requests.note(a_request(nobody, number), FINE, 0.001)
        wait_until(lambda: logged)
        requests.note(a_request(merchant, 1), FINE, 0.001)
        requests.close()

        assert read_paths(sqlite_database, merchant) == ["/1"]
        assert {"event": "requests lost", "count": BATCH, "log_level": "warning"} in logged


def test_a_log_without_an_entry_ends_at_once(
    sqlite_database: Database, logged: list[EventDict]
) -> None:
    requests = RequestLog(sqlite_database)
    assert len(requests.native_ids) == 1

    requests.close()
    requests.close()

    assert logged == []
