"""Measure the pages of a large shop: their time and size.

Server time: from the request's arrival in the application to the last byte of its answer, without
TLS and without the network.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, text

from bench.workload import PHOTO, USUAL_SETTINGS
from printworks.actions.accounts.secrets import prepare_secrets
from printworks.dashboard.console import PAGES as CONSOLE_PAGES
from printworks.dashboard.merchant import PAGES as MERCHANT_PAGES
from printworks.rules.people import Realm, Role
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant
from printworks.store.accounts.people import NewPerson, Person, insert_person
from printworks.store.accounts.sessions import NewSession, begin_session
from printworks.store.engine.database import Database
from printworks.vault import Vault
from printworks.web.app import Application, build_app

# A round of a page is the median of some walks past it.
ROUNDS: Final = 11
WALKS: Final = 3
COOKIES: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "__Host-printworks",
    Realm.OPERATOR: "__Host-printworks-console",
}


class Shown(NamedTuple):
    """The cost of a page."""

    # One figure for each round.
    rounds: tuple[float, ...]
    # Before it is compressed.
    size: int

    @property
    def milliseconds(self) -> float:
        """The usual time."""
        return median(self.rounds)


# Lists that are read from elsewhere than from their beginning.
SEARCHES: Final[Mapping[str, tuple[Realm, str]]] = {
    "orders, deep": (Realm.MERCHANT, "/orders?before=1000"),
    "orders of a status": (Realm.MERCHANT, "/orders?status=Submitted"),
    "orders of a recipient": (Realm.MERCHANT, "/orders?q=Newcomer"),
    "orders to a town": (Realm.MERCHANT, "/orders?q=London&status=Complete"),
    "orders with a product": (Realm.MERCHANT, f"/orders?q={PHOTO}"),
    # One that the service itself has made: shops of any size have it.
    "order of a shipment": (Realm.MERCHANT, "/orders?q=JD0005"),
}
# Files, prints and downloads, and the pages of things of which these shops have none.
LEFT_OUT: Final = (
    *(
        "{photo}",
        "{image}",
        "/sheet",
        "/slip",
        ".csv",
        "/issues/{id}",
        "/mail/{id}",
        "/privacy/{id}",
    ),
    *("/lots/{id}", "/requests/{id}", "{form}"),
)
# What stands for the parameters after an ID.
PARTS: Final[Mapping[str, str]] = {
    "/edit/new/{part}": "/edit/new/products",
    "/edit/{part}/{name}": "/edit/labs/gb-leeds",
    "/edit/{part}": "/edit/products",
}


def list_pages(db: Connection) -> dict[str, tuple[Realm, str]]:
    """Return every page of both areas, with IDs from the database where they need one."""
    found = dict(SEARCHES)
    for realm, pages in ((Realm.MERCHANT, MERCHANT_PAGES), (Realm.OPERATOR, CONSOLE_PAGES)):
        paths = [page.path for page in pages if not any(part in page.path for part in LEFT_OUT)]
        found |= {path: (realm, _fill_in(db, path)) for path in paths}
    return found


def _fill_in(db: Connection, path: str) -> str:
    """Write an ID for the parameter of a path."""
    before, mark, after = path.partition("{")
    if not mark:
        return path
    subject = before.rstrip("/").rpartition("/")[2]
    query = EXAMPLES[subject]
    if subject == "orders" and after != "id}":
        query = EXAMPLES["open orders"]
    value = db.execute(text(query)).scalar_one()
    rest = after.partition("}")[2]
    return f"{before}{value}{PARTS.get(rest, rest)}"


# How to find one of each subject that has a page of its own.
EXAMPLES: Final = {
    "orders": "SELECT max(order_id) FROM shipments",
    "open orders": "SELECT max(id) FROM orders WHERE status = 'NotYetSubmitted'",
    "callbacks": "SELECT max(id) FROM callbacks",
    "shipments": "SELECT max(id) FROM shipments WHERE state IS NOT NULL",
    "jobs": "SELECT max(id) FROM jobs",
    "catalogue": f"SELECT '{PHOTO}'",
    "labs": "SELECT max(lab) FROM shipments WHERE state = 'offered'",
    "merchants": "SELECT code FROM merchants WHERE id = 1",
    "people": "SELECT max(id) FROM people WHERE realm = 'operator'",
    "versions": "SELECT max(id) FROM catalogue_versions",
    "prices": "SELECT max(id) FROM price_lists",
}


def measure_pages(
    shops: Mapping[str, tuple[Database, Merchant]], rounds: int = ROUNDS, *, now: datetime
) -> dict[str, dict[str, Shown]]:
    """Return the cost of each page of each shop.

    The shops take turns on every walk through all pages: a moment in which the machine is slow
    costs both of them, on a few pages, and on one walk.
    """
    with ExitStack() as ends:
        visits = {
            (shop, page): visit
            for shop, (database, merchant) in shops.items()
            for page, visit in _plan_visits(ends, database, merchant, now=now).items()
        }
        by_page = sorted(visits, key=lambda place: place[1])
        laps: dict[tuple[str, str], list[float]] = {place: [] for place in by_page}
        sizes = {}
        for _ in range(rounds * WALKS):
            for place in by_page:
                lap, sizes[place] = _time(visits[place])
                laps[place].append(lap)
    return {
        shop: {
            page: Shown(_summarize(walked), sizes[shop, page])
            for (where, page), walked in laps.items()
            if where == shop
        }
        for shop in shops
    }


def _summarize(walked: list[float]) -> tuple[float, ...]:
    return tuple(median(walked[at : at + WALKS]) for at in range(0, len(walked), WALKS))


@dataclass(frozen=True)
class _Visit:
    """A page of a shop, and the session of somebody who may see it."""

    client: "AppClient"
    path: str
    cookie: str


def _plan_visits(
    ends: ExitStack, database: Database, merchant: Merchant, *, now: datetime
) -> dict[str, _Visit]:
    """Start the application of a shop, and sign in for each of its pages."""
    people = _add_people(database, merchant, now=now)
    with database.reading() as db:
        pages = list_pages(db)
    client = ends.enter_context(running_app(database))
    return {
        name: _Visit(client, path, _sign_in(database, people[realm], now=now))
        for name, (realm, path) in pages.items()
    }


def _add_people(database: Database, merchant: Merchant, *, now: datetime) -> dict[Realm, Person]:
    people = {}
    with database.writing() as db:
        for realm, role in ((Realm.MERCHANT, Role.OWNER), (Realm.OPERATOR, Role.ADMIN)):
            new = NewPerson(
                realm=realm,
                email="bench@example.com",
                role=role,
                merchant_id=merchant.id if realm is Realm.MERCHANT else None,
                password_hash="",
            )
            people[realm] = insert_person(db, new, now=now)
    return people


def _sign_in(database: Database, person: Person, *, now: datetime) -> str:
    """Return the cookie of a session: one for each page, since a session may not view too many."""
    with database.writing() as db:
        token = begin_session(db, person, NewSession("", ""), now=now)
    return f"{COOKIES[person.realm]}={token}"


class AppClient:
    """Calls an application in its own event loop."""

    def __init__(self, app: Application, loop: asyncio.AbstractEventLoop) -> None:
        self._app = app
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the loop."""
        self._loop.run_until_complete(work)

    def get(self, address: str, headers: Mapping[str, str]) -> tuple[int, int]:
        """Return the status and the size of a page or another resource."""
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
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
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
def running_app(database: Database) -> Iterator[AppClient]:
    """Run the application of a web process in this one, until the block ends."""
    url = database.url.render_as_string(hide_password=False)
    loop = asyncio.new_event_loop()
    with TemporaryDirectory(prefix="app-") as folder:
        settings = Settings.load(Path(folder), {**USUAL_SETTINGS, "PRINTWORKS_DATABASE_URL": url})
        prepare_secrets(database, Vault(settings.secret_keys))
        app = build_app(settings)

        async def start() -> None:
            app.start()

        async def stop() -> None:
            app.stop()

        client = AppClient(app, loop)
        client.run(start())
        try:
            yield client
        finally:
            client.run(stop())
            loop.close()


def _time(visit: _Visit) -> tuple[float, int]:
    """Return the milliseconds that a page takes, and its size."""
    started = time.perf_counter()
    status, size = visit.client.get(visit.path, {"cookie": visit.cookie})
    lap = (time.perf_counter() - started) * 1000
    if status != 200:
        message = f"{visit.path} answered {status}."
        raise AssertionError(message)
    return lap, size
