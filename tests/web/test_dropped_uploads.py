"""A file for which there is no thread just now can be sent again in a second, as the answer says."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import msgspec
import pytest

from printworks.api.endpoints import ApiFamily, Call, Endpoint, Unfinished
from printworks.api.v3.endpoints import V3_0
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from printworks.web.families import FAMILIES
from printworks.wire.v3.envelope import Envelope
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, sign_up
from tests.api.v2.shop import add, create, fill, seen
from tests.factories import NO_LIMITS
from tests.worker.shops import A_PICTURE


class Queue:
    """An endpoint that takes a thread of those for pictures until the test lets go."""

    def __init__(self) -> None:
        self.may_leave = threading.Event()

    def wait(self, _call: Call) -> Unfinished[Envelope[str]]:
        """Wait outside the transaction, as a picture is validated."""

        def ask() -> Envelope[str]:
            self.may_leave.wait(30)
            return Envelope("done")

        return Unfinished(ask)

    def family(self) -> ApiFamily:
        """Return it as a version."""
        line = Endpoint(method="GET", path="/wait", handler=self.wait, shows=Envelope[str])
        return ApiFamily(version="test", endpoints=(line,), refuse=V3_0.refuse)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def v2(sqlite_database: Database, tmp_path: Path, queue: Queue) -> Iterator[Client]:
    """Alice through 2.6, with a service in which at most three pictures are validated or wait."""
    settings = Settings.load(tmp_path, {**NO_LIMITS, "PRINTWORKS_WEB_QUEUE": "1"})
    url = sqlite_database.url.render_as_string()
    settings = msgspec.structs.replace(settings, database_url=url)
    server = Server(build_app(settings, MovableClock(), (*FAMILIES, queue.family())))
    known = sign_up(server, sqlite_database, "Alice")
    yield Client(server, "/v2.6", known.credentials)
    queue.may_leave.set()
    server.close()


def test_a_file_that_was_dropped_is_taken_when_it_comes_again(v2: Client, queue: Queue) -> None:
    order_id = create(v2)
    path = f"/Orders/{order_id}/Photos/{add(v2, order_id, url='')['id']}"
    waiting = Client(v2.server, "/vtest", v2.credentials)
    with ThreadPoolExecutor(4) as callers:
        # Three are taken: whichever comes last is one too many.
        asked = [callers.submit(waiting.get, "/wait") for _ in range(4)]
        assert next(as_completed(asked)).result().status == 503
        dropped = fill(v2, path, A_PICTURE)
        queue.may_leave.set()

    photo = seen(fill(v2, path, A_PICTURE))

    assert (dropped.status, dropped.headers["retry-after"]) == (503, "1")
    assert dropped.error == "The service is busy; try again in a second."
    assert photo["status"] == "Ok"
