"""The edge keeps its limits: of size, of time, and of how many may wait."""

import errno
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from printworks.api.bodies import UploadedFile
from printworks.api.endpoints import ApiFamily, Call, Endpoint, Unfinished
from printworks.api.v3.endpoints import V3_0
from printworks.errors import BadInput
from printworks.files.errors import FilesUnavailable
from printworks.settings import Settings
from printworks.store.accounts.merchants import hash_key
from printworks.store.engine.database import Database
from printworks.web import receiving
from printworks.web.app import build_app
from printworks.wire.v3.envelope import Envelope
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import MovableClock, sign_up
from tests.factories import NO_LIMITS


class Doors:
    """Endpoints that do what real ones must never do."""

    def __init__(self) -> None:
        self.may_leave = threading.Event()

    def wait(self, _call: Call) -> Envelope[str]:
        """Hold a thread until the test lets go."""
        self.may_leave.wait(30)
        return Envelope("done")

    def fail(self, _call: Call) -> Envelope[str]:
        """Fail with something that must not be shown."""
        message = "secret detail"
        raise RuntimeError(message)

    def lose_the_database(self, _call: Call) -> Envelope[str]:
        """Fail as a database does that is away."""
        message = "SELECT 1"
        raise OperationalError(message, {}, OSError("server closed the connection"))

    def fill_the_disk(self, _call: Call) -> Envelope[str]:
        """Fail as a disk does that is full."""
        raise OSError(errno.ENOSPC, "No space left on device")

    def lose_the_files(self, _call: Call) -> Envelope[str]:
        """Fail as the store of files does that is away."""
        message = "The disk of /somewhere is full; make room."
        raise FilesUnavailable(message)

    def measure(self, call: Call) -> Envelope[int]:
        """Say how large the uploaded file is."""
        assert isinstance(call.body, dict)
        file = next(value for value in call.body.values() if isinstance(value, UploadedFile))
        return Envelope(len(file.content.read()))

    def come_to_nothing(self, _call: Call) -> Unfinished[str]:
        """Refuse outside the transaction, and lose the database before that is cleared up."""

        def ask() -> str:
            message = "The server says no."
            raise BadInput(message)

        def otherwise(_db: Connection) -> None:
            message = "DELETE FROM claims"
            raise OperationalError(message, {}, OSError("server closed the connection"))

        return Unfinished(ask, otherwise=otherwise)

    def family(self) -> ApiFamily:
        """Return them as a version."""
        lines: list[dict[str, Any]] = [
            {"method": "GET", "path": "/wait", "handler": self.wait, "shows": Envelope[str]},
            {"method": "GET", "path": "/fail", "handler": self.fail, "shows": Envelope[str]},
            {"method": "POST", "path": "/fail", "handler": self.fail, "shows": Envelope[str]},
            {
                "method": "GET",
                "path": "/away",
                "handler": self.lose_the_database,
                "shows": Envelope[str],
            },
            {
                "method": "GET",
                "path": "/full",
                "handler": self.fill_the_disk,
                "shows": Envelope[str],
            },
            {
                "method": "GET",
                "path": "/files",
                "handler": self.lose_the_files,
                "shows": Envelope[str],
            },
            {
                "method": "POST",
                "path": "/nothing",
                "handler": self.come_to_nothing,
                "shows": Envelope[str],
            },
            {
                "method": "POST",
                "path": "/measure",
                "handler": self.measure,
                "shows": Envelope[int],
                "takes_file": True,
            },
        ]
        endpoints = tuple(Endpoint(**line) for line in lines)
        return ApiFamily(version="test", endpoints=endpoints, refuse=V3_0.refuse)


@pytest.fixture
def doors() -> Doors:
    return Doors()


@pytest.fixture
def client(sqlite_database: Database, tmp_path: Path, doors: Doors) -> Iterator[Client]:
    given = {
        **NO_LIMITS,
        "PRINTWORKS_WEB_THREADS": "2",
        "PRINTWORKS_WEB_QUEUE": "3",
        "PRINTWORKS_BODY_TIMEOUT": "1s",
        "PRINTWORKS_UPLOAD_LIMIT": "3000000",
    }
    settings = Settings.load(tmp_path, given)
    url = sqlite_database.url.render_as_string()
    settings = msgspec.structs.replace(settings, database_url=url)
    server = Server(build_app(settings, MovableClock(), (doors.family(),)))
    known = sign_up(server, sqlite_database, "Alice")
    yield Client(server, "/vtest", known.credentials)
    doors.may_leave.set()
    server.close()


def test_a_full_pool_answers_503_at_once_and_works_again_later(
    client: Client, doors: Doors
) -> None:
    with ThreadPoolExecutor(6) as callers:
        # One thread is kept for others. Five are taken: whichever comes last is one too many.
        asked = [callers.submit(client.get, "/wait") for _ in range(6)]
        refused = next(as_completed(asked)).result()
        doors.may_leave.set()
        answered = [each.result().status for each in asked]

    assert sorted(answered) == [200] * 5 + [503]
    assert refused.headers["retry-after"] == "1"
    assert refused.error == "The service is busy; try again in a second."
    assert client.get("/wait").status == 200


def test_a_failure_of_ours_shows_nothing_but_the_request_id(client: Client) -> None:
    for method in ("GET", "POST"):
        answer = client.request(method, "/fail")

        assert answer.status == 500
        assert (
            answer.error
            == f"Something went wrong here. Quote the request ID {answer.headers['x-request-id']}."
        )


@pytest.mark.parametrize("path", ["/away", "/full", "/files"])
def test_storage_that_is_away_is_no_failure_of_ours_but_a_reason_to_wait(
    client: Client, path: str
) -> None:
    answer = client.get(path)

    assert answer.status == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.error == "The service is temporarily unavailable; try again in a few seconds."


def test_a_database_that_goes_away_while_a_request_is_cleared_up_is_a_reason_to_wait(
    client: Client,
) -> None:
    answer = client.post("/nothing", {})

    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


def test_a_disk_that_fills_up_under_an_upload_is_a_reason_to_wait(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(receiving, "SpooledTemporaryFile", fill)
    headers = {"Content-Type": "multipart/form-data; boundary=XX"}

    assert client.request("POST", "/measure", b"--XX--\r\n", headers).status == 503


def test_a_line_of_the_log_says_who_asked_from_where_and_never_the_key(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    client.get("/away")
    client.request("GET", "/away", headers={"X-Service-REST-API-Key": "pw_sandbox_wrong"})

    lines = [line for line in capsys.readouterr().out.splitlines() if "event='request'" in line]
    key = client.credentials["X-Service-REST-API-Key"]
    assert f"key='{hash_key(key)[:8]}'" in lines[0]
    assert "merchant=" in lines[0]
    assert "client='127.0.0.1'" in lines[0]
    assert f"refused_key='{hash_key('pw_sandbox_wrong')[:8]}'" in lines[1]
    assert not [line for line in lines if key in line or "pw_sandbox" in line]


def test_a_failure_with_an_idempotency_key_may_be_tried_again(client: Client) -> None:
    statuses = [client.post("/fail", {}, Idempotency_Key="key-1").status for _ in range(2)]

    assert statuses == [500, 500]


def test_a_body_that_stalls_is_answered_408_and_the_connection_closed(client: Client) -> None:
    headers = {**client.credentials, "Content-Type": "application/json", "Content-Length": "100"}
    scope = make_scope("POST", "/vtest/fail", headers)
    half = {"type": "http.request", "body": b'{"half":', "more_body": True}

    answer = client.server.run(client.server.ask(scope, [half]))

    assert answer.status == 408
    assert answer.error == "The body did not arrive in time."
    assert answer.headers["connection"] == "close"


def test_a_client_that_goes_away_gets_nothing_and_breaks_nothing(client: Client) -> None:
    scope = make_scope("POST", "/vtest/fail", client.credentials)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    client.server.run(client.server.app(scope, receive, send))

    assert sent == []


class TestUploading:
    def body(self, size: int) -> tuple[bytes, dict[str, str]]:
        content = (
            b'--XX\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n'
            + b"x" * size
            + b"\r\n--XX--\r\n"
        )
        return content, {"Content-Type": "multipart/form-data; boundary=XX"}

    def test_a_large_file_arrives_whole(self, client: Client) -> None:
        content, headers = self.body(2_500_000)

        assert client.request("POST", "/measure", content, headers).data == 2_500_000

    def test_a_file_over_the_limit_is_too_large(self, client: Client) -> None:
        content, headers = self.body(3_000_000)

        assert client.request("POST", "/measure", content, headers).status == 413

    def test_a_strangers_file_is_not_even_read(self, client: Client) -> None:
        scope = make_scope("POST", "/vtest/measure", {"Content-Type": "multipart/form-data"})

        # Nothing of the body ever arrives: whoever waited for it would get 408.
        answer = client.server.run(client.server.ask(scope, []))

        assert answer.status == 401

    def test_an_upload_may_carry_an_idempotency_key(self, client: Client) -> None:
        content, headers = self.body(1_500_000)
        answers = [
            client.request("POST", "/measure", content, {**headers, "Idempotency-Key": "k"})
            for _ in range(2)
        ]

        assert json.loads(answers[1].body) == json.loads(answers[0].body)
        assert answers[1].headers["idempotent-replayed"] == "true"


def test_a_body_that_is_too_large_is_received_to_its_end(client: Client) -> None:
    scope = make_scope("POST", "/vtest/fail", client.credentials)
    pieces = [{"type": "http.request", "body": b"x" * 500_000, "more_body": True}] * 5
    last = {"type": "http.request", "body": b"", "more_body": False}
    waiting = iter([*pieces, last])

    answer = client.server.run(client.server.ask(scope, waiting))

    assert answer.status == 413
    assert next(waiting, None) is None


def test_a_client_that_asks_first_is_refused_at_once(client: Client) -> None:
    headers = {"Content-Length": "5000000", "Expect": "100-continue"}
    scope = make_scope("POST", "/vtest/fail", {**client.credentials, **headers})

    # Nothing of the body ever arrives: whoever waited for it would get 408.
    answer = client.server.run(client.server.ask(scope, []))

    assert answer.status == 413
