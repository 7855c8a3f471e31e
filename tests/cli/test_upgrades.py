"""Commands of this release on the database of the next one, and on one that is too old."""

import json
from pathlib import Path

import pytest

from printworks.store.engine.database import Database
from printworks.store.tables import schema
from tests.cli.program import run
from tests.next_release import NEXT, write_additions, write_next_release

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]


def upgrade(url: str, migrations: Path) -> None:
    database = Database(url)
    schema.migrate(database, migrations)
    database.close()


@pytest.fixture
def url(blank_database_url: str, tmp_path: Path) -> str:
    """A database of this release, in use."""
    migrated = run("migrate", "--data", tmp_path, database_url=blank_database_url)
    assert migrated.code == 0, migrated
    added = run("merchant", "add", "Ann", "--data", tmp_path, database_url=blank_database_url)
    assert added.code == 0, added
    return blank_database_url


def test_commands_go_on_when_the_database_is_one_release_ahead(url: str, tmp_path: Path) -> None:
    upgrade(url, write_additions(tmp_path))

    added = run("merchant", "add", "Bob", "--data", tmp_path, database_url=url)
    listed = run("merchant", "list", "--data", tmp_path, database_url=url)
    examined = run("doctor", "--data", tmp_path, database_url=url)

    assert (added.code, listed.code) == (0, 0), added
    assert "Ann" in listed.said
    assert "Bob" in listed.said
    serves = f"revision {NEXT}, which serves programs from revision {schema.LATEST} on"
    assert f"ok    schema         {serves}" in examined.said


def test_migrating_back_by_one_release_changes_nothing(url: str, tmp_path: Path) -> None:
    upgrade(url, write_additions(tmp_path))

    ended = run("migrate", "--json", "--data", tmp_path, database_url=url)

    assert ended.code == 0
    assert json.loads(ended.said) == {"ok": True, "revision": NEXT, "before": NEXT}
    said = run("migrate", "--data", tmp_path, database_url=url).said
    assert "is ahead of this program and serves it" in said


def test_a_program_that_is_too_old_for_the_database_says_so(url: str, tmp_path: Path) -> None:
    takes_away = 'op.drop_column("orders", "packing_slip_url")'
    upgrade(url, write_next_release(tmp_path, takes_away, serves_from=NEXT, step="contract"))

    for words in (["merchant", "list"], ["migrate"]):
        ended = run(*words, "--data", tmp_path, database_url=url)
        assert ended.code == 1
        assert "install a newer program" in ended.complained
    examined = run("doctor", "--data", tmp_path, database_url=url)
    assert examined.code == 1
    assert "install a newer one" in examined.said
