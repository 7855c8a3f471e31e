"""Alice and Bob with programs of the older versions."""

import inspect
from dataclasses import replace
from typing import Final

import pytest

from printworks.store.engine.database import Database
from printworks.wire.v2.versions import Version
from tests.api.client import Client, Server
from tests.api.conftest import sign_up
from tests.conftest import is_parametrized
from tests.scale import IS_FULL

EVERY_VERSION: Final = tuple(Version)
NEWEST: Final = EVERY_VERSION[-1:]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let a test speak each version in which it has something to prove."""
    if "version" in metafunc.fixturenames and not is_parametrized(metafunc, "version"):
        metafunc.parametrize("version", _choose_versions(metafunc.definition), indirect=True)


def _choose_versions(test: pytest.Function) -> tuple[Version, ...]:
    asks = "version" in inspect.signature(test.function).parameters
    return EVERY_VERSION if IS_FULL or asks or test.get_closest_marker("every_version") else NEWEST


@pytest.fixture
def version(request: pytest.FixtureRequest) -> str:
    """The version that a test speaks.

    A test that asks for it by name, or is marked `every_version`, runs on each. One that only
    asks for `v2` speaks 2.6: the versions are one table of operations with one handler each,
    mounted three times, and differ in nothing but the members of their shapes, the operations
    they have, the list of orders and the format of callbacks. Those are tested on each version
    (`test_shapes`, `test_differences`, `test_raw_requests`, and what is marked).
    `make test-full` runs every test on every version.
    """
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
