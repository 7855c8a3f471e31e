"""Load balancers learn whether a process is alive and ready, without credentials or details."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.watch.readiness import Readiness
from printworks.web import probes as module
from printworks.web.app import build_app
from printworks.web.probes import Probes
from tests.api.client import Server, make_scope
from tests.factories import some_services
from tests.running import Answer


@pytest.fixture
def server(sqlite_database: Database, tmp_path: Path) -> Iterator[Server]:
    """A service in which strangers may ask once."""
    given = {"PRINTWORKS_STRANGER_BURST": "1", "PRINTWORKS_STRANGER_RATE": "1"}
    url = sqlite_database.url.render_as_string()
    settings = msgspec.structs.replace(Settings.load(tmp_path, given), database_url=url)
    server = Server(build_app(settings))
    yield server
    server.close()


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> Answer:
    """Ask as a balancer does."""
    scope = make_scope(method, path, headers)
    return server.run(server.ask(scope, [{"type": "http.request", "body": b""}]))


def test_probes_need_no_credentials_and_count_for_nobody(server: Server) -> None:
    for path in ("/livez", "/readyz") * 5:
        answer = ask(server, path)

        assert (answer.status, answer.body) == (200, b'{"status":"ok"}')
        assert answer.headers["cache-control"] == "no-store"


def test_with_credentials_the_answer_is_the_same(server: Server) -> None:
    headers = {"X-Service-MerchantId": "m", "X-Service-REST-API-Key": "k"}

    assert ask(server, "/readyz", **headers).status == 200


def test_only_reading_is_possible(server: Server) -> None:
    refused = ask(server, "/livez", "POST")

    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


def test_what_failed_is_named_without_a_reason(server: Server, sqlite_database: Database) -> None:
    with sqlite_database.writing() as db:
        db.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")

    answer = ask(server, "/readyz")

    assert answer.status == 503
    assert answer.json() == {"status": "unavailable", "failed": ["migrations"]}
    assert ask(server, "/livez").status == 200


def test_a_process_that_stops_says_so_first_and_answers_on(server: Server) -> None:
    server.app.begin_draining()

    assert ask(server, "/readyz").json()["failed"] == ["stopping"]
    assert ask(server, "/livez").status == 200
    assert ask(server, "/v3.0/countries").status != 503


def test_a_check_that_hangs_is_not_waited_for_and_not_repeated(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS_TO_CHECK", 0.01)
    may_end = threading.Event()
    asked = 0

    class Hanging(Readiness):
        def find_failed(self) -> tuple[str, ...]:
            nonlocal asked
            asked += 1
            may_end.wait(30)
            return ()

    async def play() -> None:
        probes = Probes(Hanging(some_services(sqlite_database, Settings(data=tmp_path))))
        assert [await probes._find_failed() for _ in range(3)] == [("time",)] * 3
        may_end.set()
        probes.close()

    asyncio.run(play())

    assert asked == 1
