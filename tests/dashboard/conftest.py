"""A service with its pages, a merchant who orders, and people with browsers."""

from functools import partial
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from printworks.dashboard.auth import hashing_child
from printworks.dashboard.auth.hashing_child import Hasher
from printworks.dashboard.site import services
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.api.conftest import clock, server, settings, somebody_else, v3
from tests.dashboard.windows import Window, open_console, open_merchants_window

__all__ = ["clock", "server", "settings", "somebody_else", "v3"]


@pytest.fixture(autouse=True)
def _quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords here, in a thousandth of the time that they take anywhere else."""
    quick = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(hashing_child, "PasswordHasher", quick)

    def hash_here(_lock: Path, *, slots: int) -> Hasher:
        assert slots == 1
        return Hasher()

    monkeypatch.setattr(services, "HashingProcess", hash_here)


@pytest.fixture
def browser(server: Server) -> Client:
    """Somebody who has nothing but addresses."""
    return Client(server, "", {})


@pytest.fixture
def newcomer(browser: Client) -> Window:
    """Somebody whom nobody knows."""
    return Window(browser)


@pytest.fixture
def alice(server: Server, database: Database, v3: Client) -> Window:
    """Alice at her dashboard; her program is `alice.api`."""
    return open_merchants_window(server, database, v3)


@pytest.fixture
def bob(server: Server, database: Database, somebody_else: Client) -> Window:
    """Bob, another merchant, at his."""
    return open_merchants_window(server, database, somebody_else)


@pytest.fixture
def operator(server: Server, database: Database) -> Window:
    """An operator who may do everything, at the console."""
    return open_console(server, database)
