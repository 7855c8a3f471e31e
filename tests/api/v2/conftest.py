"""Alice and Bob with programs of the older versions: every test that asks runs on each of them."""

from dataclasses import replace

import pytest

from printworks.store.engine.database import Database
from printworks.wire.v2.versions import Version
from tests.api.client import Client, Server
from tests.api.conftest import sign_up


@pytest.fixture(params=list(Version))
def version(request: pytest.FixtureRequest) -> str:
    """The version that a test speaks."""
    return str(request.param)


@pytest.fixture
def v3(server: Server, database: Database) -> Client:
    """Alice, who also has a program for 3.0."""
    return sign_up(server, database, "Alice")


@pytest.fixture
def v2(v3: Client, version: str) -> Client:
    """Alice, who asks for her own orders through one of the older versions."""
    return replace(v3, prefix=f"/v{version}")


@pytest.fixture
def v2_3(v3: Client) -> Client:
    """Alice through 2.3."""
    return replace(v3, prefix="/v2.3")


@pytest.fixture
def v2_5(v3: Client) -> Client:
    """Alice through 2.5."""
    return replace(v3, prefix="/v2.5")


@pytest.fixture
def v2_6(v3: Client) -> Client:
    """Alice through 2.6."""
    return replace(v3, prefix="/v2.6")


@pytest.fixture
def somebody_else(server: Server, database: Database, version: str) -> Client:
    """Bob, another merchant."""
    return replace(sign_up(server, database, "Bob"), prefix=f"/v{version}")


@pytest.fixture
def stranger(server: Server, version: str) -> Client:
    """Somebody without credentials."""
    return Client(server, f"/v{version}", {})
