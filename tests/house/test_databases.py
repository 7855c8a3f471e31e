"""The databases that the other tests run on are those that the program promises."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import (
    CheckConstraint,
    Table,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import IntegrityError

from printworks.store.engine import sqlite
from printworks.store.engine.database import Database
from printworks.store.tables import api_keys, merchants, metadata, schema, secrets
from tests.factories import NOON

# The secrets are made by the migrations.
EVERY_TABLE = pytest.mark.parametrize(
    "table",
    [table for table in metadata.sorted_tables if table is not secrets],
    ids=lambda table: table.name,
)


def add_merchant(database: Database) -> int:
    """Write one row and return its number."""
    with database.writing() as db:
        added = db.execute(
            insert(merchants)
            .values(code="m", name="Somebody", created_at=NOON)
            .returning(merchants.c.id)
        )
        return int(added.scalar_one())


def test_the_migrated_tables_are_those_that_the_program_describes(database: Database) -> None:
    with database.reading() as db:
        context = MigrationContext.configure(db, opts={"compare_server_default": True})

        differences = compare_metadata(context, metadata)

    assert differences == []


def test_no_constraint_was_forgotten_in_the_migrations(database: Database) -> None:
    # Alembic's own comparison leaves check constraints out.
    with database.reading() as db:
        found = {
            (table, str(check["name"]))
            for table in metadata.tables
            for check in inspect(db).get_check_constraints(table)
        }

    assert found == {
        (table.name, str(constraint.name))
        for table in metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }


def test_the_newest_migration_is_the_one_that_the_program_asks_for(database: Database) -> None:
    folder = Path(schema.__file__).parent / "migrations" / "versions"

    newest = max(path.name for path in folder.glob("[0-9]*.py"))

    assert newest.startswith(f"{schema.LATEST}_")
    assert schema.find_revision(database) == schema.LATEST


def test_no_migration_imports_the_program() -> None:
    folder = Path(schema.__file__).parent / "migrations" / "versions"

    assert [path.name for path in folder.glob("*.py") if "printworks" in path.read_text()] == []


def test_migrating_a_blank_database_makes_it_current(blank_database_url: str) -> None:
    database = Database(blank_database_url)
    assert schema.find_revision(database) is None

    schema.migrate(database)

    assert schema.find_revision(database) == schema.LATEST
    database.close()


def test_no_number_is_ever_given_twice(sqlite_database: Database) -> None:
    promised = {
        table.name
        for table in metadata.tables.values()
        if table.dialect_options["sqlite"]["autoincrement"]
    }

    with sqlite_database.reading() as db:
        rows = db.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")).all()

    assert {row.name for row in rows if "AUTOINCREMENT" in (row.sql or "")} == promised


def test_migrating_again_changes_nothing(database: Database) -> None:
    kept = add_merchant(database)

    schema.migrate(database)

    with database.reading() as db:
        assert db.execute(select(merchants.c.id)).scalars().all() == [kept]


@EVERY_TABLE
def test_a_test_begins_with_empty_tables(database: Database, table: Table) -> None:
    with database.reading() as db:
        assert db.execute(select(func.count()).select_from(table)).scalar_one() == 0


@pytest.mark.parametrize("turn", ["first", "second"])
def test_what_another_test_wrote_is_forgotten(database: Database, turn: str) -> None:
    assert add_merchant(database) == 1


def test_a_row_cannot_point_to_nothing(database: Database) -> None:
    orphan = insert(api_keys).values(merchant_id=404, hash="h", hint="h", created_at=NOON)

    with pytest.raises(IntegrityError), database.writing() as db:
        db.execute(orphan)


def test_durations_and_moments_come_back_as_they_went_in(database: Database) -> None:
    ahead = timedelta(days=5, milliseconds=1)
    with database.writing() as db:
        db.execute(
            insert(merchants).values(code="m", name="n", clock_offset=ahead, created_at=NOON)
        )

    with database.reading() as db:
        row = db.execute(select(merchants.c.clock_offset, merchants.c.created_at)).one()

    assert tuple(row) == (ahead, NOON)


def test_a_block_that_raises_leaves_nothing_behind(database: Database) -> None:
    def write_and_fail() -> None:
        with database.writing() as db:
            db.execute(insert(merchants).values(code="m", name="n", created_at=NOON))
            raise ConnectionAbortedError

    with pytest.raises(ConnectionAbortedError):
        write_and_fail()

    with database.reading() as db:
        assert db.execute(select(func.count()).select_from(merchants)).scalar_one() == 0


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),  # FULL
        ("foreign_keys", 1),
        ("busy_timeout", 30000),
    ],
)
def test_sqlite_keeps_what_it_acknowledged(
    sqlite_database: Database, pragma: str, value: Any
) -> None:
    for connect in (sqlite_database.reading, sqlite_database.writing):
        with connect() as db:
            assert db.execute(text(f"PRAGMA {pragma}")).scalar_one() == value


def test_sqlite_is_a_release_without_the_wal_reset_bug(sqlite_database: Database) -> None:
    with sqlite_database.reading() as db:
        running = db.execute(text("SELECT sqlite_version()")).scalar_one()

    assert tuple(map(int, running.split("."))) == sqlite.VERSION
    assert sqlite.VERSION >= sqlite.OLDEST >= (3, 51, 3)


def test_postgresql_waits_for_its_log_before_it_answers(postgresql_database: Database) -> None:
    with postgresql_database.reading() as db:
        assert db.execute(text("SHOW synchronous_commit")).scalar_one() == "on"
        assert int(db.execute(text("SHOW server_version_num")).scalar_one()) >= 150000


def test_a_program_can_open_the_same_database(database_url: str) -> None:
    database = Database(database_url)
    add_merchant(database)
    database.close()

    said = subprocess.run(
        [sys.executable, "-c", COUNT_MERCHANTS, database_url],
        check=True,
        capture_output=True,
        env={"PATH": os.environ["PATH"]},
    )

    assert said.stdout == b"1\n"


COUNT_MERCHANTS = """
import sys
from sqlalchemy import text
from printworks.store.engine.database import Database
with Database(sys.argv[1]).reading() as db:
    print(db.execute(text("SELECT count(*) FROM merchants")).scalar_one())
"""
