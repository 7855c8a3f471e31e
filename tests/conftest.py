"""What every test can ask for: an empty database of each kind, and a time to call now."""

import fcntl
import gc
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import hypothesis
import psycopg
import pytest
import structlog
from sqlalchemy import event, make_url

from printworks.actions.accounts.secrets import prepare_secrets
from printworks.store.engine.database import Database
from printworks.store.tables import metadata, schema, secrets
from tests import forks, postgres
from tests.compiled_statements import share_compiled_statements
from tests.factories import KEY_FILE, NOON, VAULT
from tests.preload import preload, share_routes
from tests.scale import IS_FULL, IS_QUICK
from tests.scratch import use_memory
from tests.statements import Places, find_untried, watch_statements, write_places
from tests.zygotes import share_zygotes

BACKENDS: Final = ("sqlite", "postgresql")
ONE: Final = BACKENDS[:1]
# What is tested here lies above the store: how a request is read, allowed, refused and answered.
# It does not know which database there is. See `backend`.
ON_ONE_DATABASE: Final = frozenset({"api", "backup", "cli", "dashboard"})
# Programs, browsers, archives and whole journeys: they take longest.
ALL_SLOW: Final = frozenset({"backup", "browser", "journeys", "release"})
# Each process would start a browser of its own.
ALL_TOGETHER: Final = frozenset({"browser"})

# With fewer tests, it takes longer to do in advance what only some of them need.
MANY: Final = 1000

# A transaction that an earlier test left open would bring its rows back.
END_FORGOTTEN: Final = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND NOT (state = 'idle' AND pid = ANY(%s))
        AND pid <> pg_backend_pid()
"""
RESTART_NUMBERS: Final = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'"

# Each is the address of a database that is dropped with its block.
Copies = Callable[[], AbstractContextManager[str]]

_run = pytest.StashKey[postgres.Run]()
_lifeline = pytest.StashKey[postgres.Lifeline]()
_sent = pytest.StashKey[Places]()
_places = pytest.StashKey[list[tuple[str, str]]]()


def pytest_configure(config: pytest.Config) -> None:
    """Agree on one folder for the server, whichever process will need it first; log plainly."""
    use_memory()
    share_compiled_statements()
    share_routes()
    share_zygotes()
    # No deadline: how long an example takes says more about the machine than about the code.
    # No chance: the same commit passes twice, and what is new is found by the full run.
    hypothesis.settings.register_profile(
        "printworks",
        max_examples=500 if IS_FULL else 20 if IS_QUICK else 50,
        deadline=None,
        derandomize=not IS_FULL,
    )
    hypothesis.settings.load_profile("printworks")
    config.stash[_sent] = watch_statements()
    config.stash[_places] = []
    # The usual form draws every value of every frame of a traceback, which takes half a minute.
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
    )
    config.stash[_lifeline] = postgres.Lifeline()
    config.stash[_run] = postgres.Run(config.stash[_lifeline].folder)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the garbage collector what stays until the end: all modules and all tests."""
    if len(session.items) >= MANY and session.config.getoption("processes", 0) > 1:
        preload()
    gc.collect()
    gc.freeze()
    # Tests leave little that is in a circle, and looking for it takes a twentieth of their time.
    gc.set_threshold(10_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_process_summary(config: pytest.Config) -> tuple[str, Any]:
    """Tell which places of the program the tests of a process sent statements from."""
    return "places", write_places(config.stash[_sent])


@pytest.hookimpl(optionalhook=True)
def pytest_process_ended(config: pytest.Config, summary: dict[str, Any]) -> None:
    """Collect the places that a process has found."""
    config.stash[_places].extend(summary["places"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a complete run in which a place of the program never spoke to PostgreSQL."""
    config = session.config
    config.stash[_places].extend(write_places(config.stash[_sent]))
    if session.exitstatus == pytest.ExitCode.OK and _untried(config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the places that never spoke to PostgreSQL."""
    for place in _untried(config):
        terminalreporter.write_line(f"PostgreSQL was never sent the statement at {place}", red=True)


def _untried(config: pytest.Config) -> list[str]:
    is_part = config.option.keyword or config.option.markexpr or config.args != ["tests"]
    return [] if is_part or IS_QUICK else find_untried(config.stash[_places])


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the server with the run."""
    if _lifeline in config.stash:
        config.stash[_lifeline].let_go()
        del config.stash[_lifeline]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that needs a database on each that it has something to prove on."""
    if "backend" in metafunc.fixturenames and not is_parametrized(metafunc, "backend"):
        metafunc.parametrize("backend", _choose_backends(metafunc.definition), indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Mark as slow what is slow by where it is, and let it begin first."""
    for item in items:
        if _folder_of(item) in ALL_SLOW:
            item.add_marker(pytest.mark.slow)
        if _folder_of(item) in ALL_TOGETHER:
            item.add_marker(forks.TOGETHER)
    if IS_QUICK:
        first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
        chosen = set(first.values())
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]
    yield
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def is_parametrized(metafunc: pytest.Metafunc, name: str) -> bool:
    """Say whether the test itself chooses the values of a fixture."""
    marks = metafunc.definition.iter_markers("parametrize")
    return any(name in (mark.args[0] if mark.args else mark.kwargs["argnames"]) for mark in marks)


def _choose_backends(test: pytest.Function) -> Sequence[str]:
    if IS_QUICK:
        return ONE
    is_marked = test.get_closest_marker("both_databases") is not None
    return BACKENDS if IS_FULL or is_marked or _folder_of(test) not in ON_ONE_DATABASE else ONE


def _folder_of(test: pytest.Item) -> str:
    return test.nodeid.split("/")[1]


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A folder of the test's own that can be a data folder: it has the key of the databases."""
    shutil.copy(KEY_FILE, tmp_path / KEY_FILE.name)
    return tmp_path


@pytest.fixture
def now() -> datetime:
    """A time to call now."""
    return NOON


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    """Name of the database that this test runs on.

    Tests of whatever speaks SQL, competes for rows or happens later (`tests/store`, `actions`,
    `worker`, `journeys` and the like) run on both. Those of the layers above it
    (`ON_ONE_DATABASE`) run on SQLite: they reach the database through the same functions of
    `printworks.store`, and read, refuse and answer before or after it. The databases could
    differ there only in the statements that they are sent and in the values that they take, so
    the tests marked `both_databases` send each resource's statements and all hostile values to
    PostgreSQL, too, and `tests/statements.py` fails the run if any place of the program
    sent a statement to SQLite alone. `make test-full` runs all of them on both.
    """
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
def sqlite_url(migrated_file: Path, tmp_path: Path) -> str:
    """Address of a migrated SQLite file without a row."""
    path = tmp_path / "printworks.db"
    shutil.copyfile(migrated_file, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def migrated_file(pytestconfig: pytest.Config) -> Path:
    """A migrated SQLite file without a row, to be copied."""
    path = pytestconfig.stash[_run].folder / "template.db"
    with _first_of_run(pytestconfig, "sqlite") as is_first:
        if is_first:
            _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def postgresql_database(postgresql_shared: "SharedDatabase") -> Database:
    """A migrated PostgreSQL database without a row, shared by the tests of one process."""
    return postgresql_shared.empty()


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest, _postgresql_template: str) -> Iterator[str]:
    """Address of a migrated PostgreSQL database that no other test uses."""
    yield from _temporary_postgresql(request.config.stash[_run], template=_postgresql_template)


@pytest.fixture(scope="session")
def postgresql_shared(
    pytestconfig: pytest.Config, _postgresql_template: str
) -> Iterator["SharedDatabase"]:
    """The PostgreSQL database that the tests of this process share."""
    run = pytestconfig.stash[_run]
    for url in _temporary_postgresql(run, template=_postgresql_template):
        shared = SharedDatabase(url)
        yield shared
        shared.close()


@pytest.fixture(scope="session")
def _postgresql_template(pytestconfig: pytest.Config) -> str:
    name, run = "printworks_template", pytestconfig.stash[_run]
    with _first_of_run(pytestconfig, "postgresql") as is_first:
        if is_first:
            _administer(run, f'CREATE DATABASE "{name}" TEMPLATE template0')
            _migrate(run.url(name))
    return name


@contextmanager
def _first_of_run(config: pytest.Config, what: str) -> Iterator[bool]:
    """Let one process of a run make what all of them use; the others wait for it."""
    done = config.stash[_run].folder / f"{what}.made"
    with done.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        is_first = not done.stat().st_size
        yield is_first
        file.write("made")


@pytest.fixture(scope="session")
def postgresql_copies(pytestconfig: pytest.Config, _postgresql_template: str) -> Copies:
    """Makes migrated PostgreSQL databases without a row, for tests that share one they fill."""
    run = pytestconfig.stash[_run]
    return contextmanager(lambda: _temporary_postgresql(run, template=_postgresql_template))


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
    prepare_secrets(database, VAULT)
    database.close()


class SharedDatabase:
    """A PostgreSQL database whose connections stay open from test to test.

    A new connection costs the server as much as emptying all tables: it forks, reads the
    catalogue of tables, and plans every statement for the first time.
    """

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self._kept: list[int] = []
        event.listen(self.database.engine, "connect", self._keep)
        self._url = url
        self._own = _connect(url)
        # Four times quicker than TRUNCATE, which makes new files for every table and index.
        # The secrets were made with the template, and are the same for every test. What else the
        # processes of a deployment share was not.
        emptied = [table for table in reversed(metadata.sorted_tables) if table is not secrets]
        deletions = [f"DELETE FROM {table.name}" for table in emptied]
        deletions.append("DELETE FROM secrets WHERE name NOT IN ('links', 'sealing-key')")
        self._statement = "; ".join([*deletions, RESTART_NUMBERS]).encode()

    def empty(self) -> Database:
        """Return the database without a row or an open transaction of the tests before."""
        try:
            self._own.execute(END_FORGOTTEN, [self._kept])
        except psycopg.OperationalError:
            # A test has ended all connections.
            self._own.close()
            self._own = _connect(self._url)
        self._own.execute(self._statement)
        return self.database

    def close(self) -> None:
        """Close every connection."""
        self._own.close()
        self.database.close()

    def _keep(self, driver: psycopg.Connection, _: object) -> None:
        self._kept.append(driver.info.backend_pid)
