"""The database may be one release ahead of the program: going back needs no restore."""

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from printworks.store.engine.database import Database, DatabaseUnusable
from printworks.store.tables import schema
from printworks.store.tables.schema import SchemaFit, SchemaState
from tests.factories import a_merchant
from tests.next_release import NEXT, write_additions, write_next_release


@pytest.fixture
def current(blank_database_url: str) -> Iterator[Database]:
    """A database of this release that the test may change."""
    database = Database(blank_database_url)
    schema.migrate(database)
    yield database
    database.close()


@pytest.mark.parametrize(
    ("state", "fit"),
    [
        (SchemaState(None, None), SchemaFit.TOO_OLD),
        (SchemaState("0000", "0000"), SchemaFit.TOO_OLD),
        (SchemaState(schema.LATEST, schema.LATEST), SchemaFit.CURRENT),
        (SchemaState(NEXT, schema.LATEST), SchemaFit.AHEAD),
        (SchemaState(NEXT, NEXT), SchemaFit.TOO_NEW),
        (SchemaState(NEXT, None), SchemaFit.TOO_NEW),
    ],
)
def test_a_program_knows_whether_the_tables_are_for_it(state: SchemaState, fit: SchemaFit) -> None:
    assert state.fit is fit
    assert state.is_usable == (fit in {SchemaFit.CURRENT, SchemaFit.AHEAD})


def test_a_database_says_which_programs_it_serves(current: Database, tmp_path: Path) -> None:
    schema.migrate(current, write_additions(tmp_path))

    found = schema.find_schema(current)

    assert found == SchemaState(NEXT, schema.LATEST)
    assert found.describe() == (
        f"revision {NEXT}, which serves programs from revision {schema.LATEST} on"
    )


def test_open_connections_go_on_through_a_migration(current: Database, tmp_path: Path) -> None:
    with current.writing() as db:
        a_merchant(db, "before")

    schema.migrate(current, write_additions(tmp_path))

    with current.writing() as db:
        a_merchant(db, "after")
    with current.reading() as db:
        rows = db.execute(text("SELECT name, tier FROM merchants ORDER BY id")).all()
    assert [tuple(row) for row in rows] == [("before", "plain"), ("after", "plain")]


def test_a_migration_that_fails_changes_nothing(current: Database, tmp_path: Path) -> None:
    adds_and_fails = 'op.add_column("orders", sa.Column("gift", sa.Text()))\nraise OSError("no")\n'
    migrations = write_next_release(tmp_path, adds_and_fails, serves_from="0001", step="expand")

    with pytest.raises(OSError, match="no"):
        schema.migrate(current, migrations)

    assert schema.find_revision(current) == schema.LATEST
    with pytest.raises(Exception, match="gift"), current.reading() as db:
        db.execute(text("SELECT gift FROM orders"))


def test_machines_that_migrate_at_the_same_time_do_it_once(
    blank_database_url: str, tmp_path: Path
) -> None:
    migrations = write_additions(tmp_path)
    failures: list[Exception] = []

    def migrate() -> None:
        database = Database(blank_database_url)
        try:
            schema.migrate(database, migrations)
        except Exception as error:  # noqa: BLE001
            failures.append(error)
        finally:
            database.close()

    threads = [threading.Thread(target=migrate) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    database = Database(blank_database_url)
    assert schema.find_revision(database) == NEXT
    database.close()


def test_a_migration_gives_way_to_a_long_transaction(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "LOCK_TIMEOUT", "10ms")
    monkeypatch.setattr(schema, "ATTEMPTS", 2)
    migrations = write_additions(tmp_path)
    database = Database(postgresql_url)
    address = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as busy:
        busy.execute("SELECT count(*) FROM orders")

        with pytest.raises(DatabaseUnusable, match="long transaction"):
            schema.migrate(database, migrations)

        assert schema.find_revision(database) == schema.LATEST
    schema.migrate(database, migrations)
    assert schema.find_revision(database) == NEXT
    database.close()
