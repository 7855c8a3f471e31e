"""What every test can ask for: an empty database of each kind, and a moment to call now."""

import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import psycopg
import pytest
import structlog
from sqlalchemy import make_url

from printworks.store.engine.database import Database
from printworks.store.tables import metadata, schema, secrets
from tests import postgres
from tests.factories import NOON

BACKENDS: Final = ("sqlite", "postgresql")

# A transaction that an earlier test left open would bring its rows back.
END_FORGOTTEN: Final = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
RESTART_NUMBERS: Final = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'"

_run = pytest.StashKey[postgres.Run]()
_lifeline = pytest.StashKey[postgres.Lifeline]()


def pytest_configure(config: pytest.Config) -> None:
    """Agree on one folder for the server, whichever process will need it first; log plainly."""
    # The usual form draws every value of every frame of a traceback, which takes half a minute.
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
    )
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None:
        config.stash[_run] = postgres.Run(Path(given["postgres"]))
        return
    config.stash[_lifeline] = postgres.Lifeline()
    config.stash[_run] = postgres.Run(config.stash[_lifeline].folder)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each xdist worker where the server is or will be."""
    node.workerinput["postgres"] = str(node.config.stash[_run].folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the server with the run."""
    if _lifeline in config.stash:
        config.stash[_lifeline].let_go()
        del config.stash[_lifeline]


@pytest.fixture
def now() -> datetime:
    """A moment to call now."""
    return NOON


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Name of the database that this test runs on; each test that asks runs on every one."""
    return str(request.param)


@pytest.fixture
def database(backend: str, request: pytest.FixtureRequest) -> Database:
    """A migrated database without a row."""
    found = request.getfixturevalue(f"{backend}_database")
    assert isinstance(found, Database)
    return found


@pytest.fixture
def database_url(backend: str, request: pytest.FixtureRequest) -> str:
    """Address of a migrated database without a row, for a program to open."""
    return str(request.getfixturevalue(f"{backend}_url"))


@pytest.fixture
def blank_database_url(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[str]:
    """Address of a database without a table."""
    if backend == "sqlite":
        yield f"sqlite:///{tmp_path / 'blank.db'}"
    else:
        yield from _temporary_postgresql(request.config.stash[_run], template="template0")


@pytest.fixture
def sqlite_database(sqlite_url: str) -> Iterator[Database]:
    """A migrated SQLite database without a row."""
    database = Database(sqlite_url)
    yield database
    database.close()


@pytest.fixture
def sqlite_url(_sqlite_template: Path, tmp_path: Path) -> str:
    """Address of a migrated SQLite file without a row."""
    path = tmp_path / "printworks.db"
    shutil.copyfile(_sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def postgresql_database(_postgresql_shared: str) -> Iterator[Database]:
    """A migrated PostgreSQL database without a row, shared by the tests of one process."""
    _empty(_postgresql_shared)
    database = Database(_postgresql_shared)
    yield database
    database.close()


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest, _postgresql_template: str) -> Iterator[str]:
    """Address of a migrated PostgreSQL database that no other test uses."""
    yield from _temporary_postgresql(request.config.stash[_run], template=_postgresql_template)


@pytest.fixture(scope="session")
def _postgresql_shared(pytestconfig: pytest.Config, _postgresql_template: str) -> Iterator[str]:
    yield from _temporary_postgresql(pytestconfig.stash[_run], template=_postgresql_template)


@pytest.fixture(scope="session")
def _postgresql_template(pytestconfig: pytest.Config) -> str:
    name = f"template_{os.getpid()}"
    run = pytestconfig.stash[_run]
    _administer(run, f'CREATE DATABASE "{name}" TEMPLATE template0')
    _migrate(run.url(name))
    return name


def _temporary_postgresql(run: postgres.Run, *, template: str) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    _administer(run, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    yield run.url(name)
    _administer(run, f'DROP DATABASE "{name}" WITH (FORCE)')


def _administer(run: postgres.Run, statement: str) -> None:
    with _connect(run.url("postgres")) as connection:
        connection.execute(statement.encode())


def _connect(url: str) -> psycopg.Connection:
    address = make_url(url)
    return psycopg.connect(
        host=str(address.query["host"]),
        user=address.username,
        dbname=address.database,
        autocommit=True,
    )


def _migrate(url: str) -> None:
    database = Database(url)
    schema.migrate(database)
    database.close()


def _empty(url: str) -> None:
    # Four times quicker than TRUNCATE, which makes new files for every table and index.
    # The secrets came with the migrations, and are the same for every test. What a database was
    # begun as did not.
    emptied = [table for table in reversed(metadata.sorted_tables) if table is not secrets]
    deletions = [f"DELETE FROM {table.name}" for table in emptied]
    deletions.append("DELETE FROM secrets WHERE name = 'environment'")
    with _connect(url) as connection:
        connection.execute("; ".join([END_FORGOTTEN, *deletions, RESTART_NUMBERS]).encode())
