"""A service on each database, with a merchant who asks and another who must not see it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from printworks.actions.accounts.merchants import add_merchant
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.factories import NO_LIMITS, NOON, a_system_work
from tests.worker.catalogues import change_labs


class MovableClock:
    """A clock that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now

    def advance(self, **by: float) -> None:
        """Let time pass."""
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> MovableClock:
    """The time of the service under test."""
    return MovableClock()


@pytest.fixture
def settings(tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """The settings of the service under test; a test may give its labs another line."""
    given = {"PRINTWORKS_PUBLIC_URL": "https://print.example", **NO_LIMITS}
    if hasattr(request, "param"):
        given["PRINTWORKS_CATALOGUE"] = str(change_labs(tmp_path, every=request.param))
    return Settings.load(tmp_path, given)


@pytest.fixture
def server(database: Database, settings: Settings, clock: MovableClock) -> Iterator[Server]:
    """A running service."""
    url = database.url.render_as_string(hide_password=False)
    app = build_app(msgspec.structs.replace(settings, database_url=url), clock)
    server = Server(app)
    yield server
    server.close()


@pytest.fixture
def v3(server: Server, database: Database) -> Client:
    """Alice, who asks for her own orders through 3.0."""
    return sign_up(server, database, "Alice")


@pytest.fixture
def somebody_else(server: Server, database: Database) -> Client:
    """Bob, another merchant."""
    return sign_up(server, database, "Bob")


@pytest.fixture
def stranger(server: Server) -> Client:
    """Somebody without credentials."""
    return Client(server, "/v3.0", {})


def sign_up(server: Server, database: Database, name: str) -> Client:
    """Let a merchant in and return its program."""
    with database.writing() as db:
        added = add_merchant(a_system_work(db, now=NOON, environment="sandbox"), name)
    credentials = {
        "X-Service-MerchantId": added.merchant.code,
        "X-Service-REST-API-Key": added.api_key,
    }
    return Client(server, "/v3.0", credentials)


def an_order(**members: Any) -> dict[str, Any]:
    """Say what makes a valid order."""
    return {
        "recipientName": "Mary Fox",
        "countryCode": "GB",
        "preferredShippingMethod": "Standard",
        **members,
    }
