"""Measure the pages of a large shop: their time and size.

Server time: from the request's arrival in the application to the last byte of its answer, without
TLS and without the network.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from printworks.rules.people import Realm, Role
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant
from printworks.store.accounts.people import NewPerson, insert_person
from printworks.store.accounts.sessions import begin_session
from printworks.store.engine.database import Database
from printworks.web.app import Application, build_app

REPEATS: Final = 15
COOKIES: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "__Host-printworks",
    Realm.OPERATOR: "__Host-printworks-console",
}


class Shown(NamedTuple):
    """The cost of a page."""

    milliseconds: float
    # Before it is compressed.
    size: int


def list_pages(newest_order: int) -> Mapping[str, tuple[Realm, str]]:
    """Return the pages that are measured."""
    return {
        "orders": (Realm.MERCHANT, "/orders"),
        "orders, deep": (Realm.MERCHANT, "/orders?before=1000"),
        "orders of a status": (Realm.MERCHANT, "/orders?status=Submitted"),
        "orders of a recipient": (Realm.MERCHANT, "/orders?q=Balin"),
        "an order": (Realm.MERCHANT, f"/orders/{newest_order}"),
        "account": (Realm.MERCHANT, "/account"),
        "integrations": (Realm.MERCHANT, "/integrations"),
        "console": (Realm.OPERATOR, "/console"),
        "console, production": (Realm.OPERATOR, "/console/production"),
        "console, an order": (Realm.OPERATOR, f"/console/orders/{newest_order}"),
    }


def measure_pages(
    database: Database, merchant: Merchant, newest_order: int, *, now: datetime
) -> dict[str, Shown]:
    """Return the median cost of each page."""
    cookies = _sign_in(database, merchant, now=now)
    with TemporaryDirectory(prefix="pages-") as folder, _running(database, Path(folder)) as client:
        return {
            name: _measure(client, path, cookies[realm])
            for name, (realm, path) in list_pages(newest_order).items()
        }


def _sign_in(database: Database, merchant: Merchant, *, now: datetime) -> dict[Realm, str]:
    cookies = {}
    with database.writing() as db:
        for realm, role in ((Realm.MERCHANT, Role.OWNER), (Realm.OPERATOR, Role.ADMIN)):
            person = insert_person(
                db,
                NewPerson(
                    realm=realm,
                    email="bench@example.com",
                    role=role,
                    merchant_id=merchant.id if realm is Realm.MERCHANT else None,
                    password_hash="",
                ),
                now=now,
            )
            token = begin_session(db, person, address="", user_agent="", now=now)
            cookies[realm] = f"{COOKIES[realm]}={token}"
    return cookies


class PageClient:
    """Calls an application in its own event loop."""

    def __init__(self, app: Application, loop: asyncio.AbstractEventLoop) -> None:
        self._app = app
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the loop."""
        self._loop.run_until_complete(work)

    def page(self, address: str, cookie: str) -> tuple[int, int]:
        """Return the status and the size of a page."""
        path, _, query = address.partition("?")
        sent: list[dict[str, Any]] = []
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "https",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(b"cookie", cookie.encode())],
            "server": ("localhost", 8443),
            "client": ("127.0.0.1", 50000),
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        self.run(self._app(scope, receive, send))
        return sent[0]["status"], sum(len(part.get("body", b"")) for part in sent[1:])


@contextmanager
def _running(database: Database, folder: Path) -> Iterator[PageClient]:
    url = database.url.render_as_string(hide_password=False)
    settings = Settings.load(folder, {"PRINTWORKS_DATABASE_URL": url})
    loop = asyncio.new_event_loop()
    app = build_app(settings)

    async def start() -> None:
        app.start()

    async def stop() -> None:
        app.stop()

    client = PageClient(app, loop)
    client.run(start())
    try:
        yield client
    finally:
        client.run(stop())
        loop.close()


def _measure(client: PageClient, path: str, cookie: str) -> Shown:
    laps, size = [], 0
    for _ in range(REPEATS):
        started = time.perf_counter()
        status, size = client.page(path, cookie)
        laps.append((time.perf_counter() - started) * 1000)
        if status != 200:
            message = f"{path} answered {status}."
            raise AssertionError(message)
    return Shown(median(laps), size)
