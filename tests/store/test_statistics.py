"""SQLite plans without statistics: those of a quiet minute would mislead it for good."""

from contextlib import closing
from pathlib import Path

from sqlalchemy import text

from printworks.actions.accounts.merchants import add_merchant
from printworks.cli.opening import prepare_schema
from printworks.store.engine.database import Database
from printworks.store.engine.statistics import forget_statistics
from tests.factories import a_system_work


def plan(database: Database) -> str:
    """Return how a few of many rows would be found."""
    query = "SELECT name FROM merchants WHERE id IN (SELECT value FROM json_each('[1, 2]'))"
    with database.reading() as db:
        return " ".join(row[3] for row in db.execute(text(f"EXPLAIN QUERY PLAN {query}")))


def make_statistics(url: str) -> None:
    """Do what an administrator does in a quiet minute, with a tool of their own."""
    with closing(Database(url)) as database, database.writing() as db:
        db.execute(text("ANALYZE"))


def test_a_command_that_opens_a_file_forgets_the_statistics_in_it(
    sqlite_database: Database, sqlite_url: str
) -> None:
    with sqlite_database.writing() as db:
        add_merchant(a_system_work(db), "The only one")
    before = plan(sqlite_database)
    make_statistics(sqlite_url)
    with closing(Database(sqlite_url)) as misled:
        assert "SCAN merchants" in plan(misled)

        prepare_schema(misled)

    with closing(Database(sqlite_url)) as opened:
        assert "SEARCH merchants" in plan(opened) == before


def test_nothing_is_written_where_there_are_none(sqlite_database: Database) -> None:
    assert not forget_statistics(sqlite_database)


def test_a_new_file_has_none(tmp_path: Path) -> None:
    with closing(Database(f"sqlite:///{tmp_path / 'new.db'}")) as database:
        prepare_schema(database)

        assert not forget_statistics(database)


def test_those_of_postgresql_stay(postgresql_database: Database) -> None:
    with postgresql_database.writing() as db:
        db.execute(text("ANALYZE jobs"))

    assert not forget_statistics(postgresql_database)
