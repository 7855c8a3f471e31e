"""Several statements that must see the same moment."""

import pytest
from sqlalchemy import Connection

from printworks.errors import NotFound
from printworks.store.accounts.merchants import Merchant, get_merchant_by_code, list_merchants
from printworks.store.engine.database import Database, consistent_snapshot
from tests.factories import a_merchant


def add(database: Database, name: str) -> None:
    """Let a merchant in meanwhile."""
    with database.writing() as db:
        a_merchant(db, name)


def names(merchants: list[Merchant]) -> list[str]:
    """Return what merchants are called."""
    return [merchant.name for merchant in merchants]


def test_what_others_commit_meanwhile_is_seen_after_the_block_only(database: Database) -> None:
    add(database, "First")
    with database.reading() as db:
        with consistent_snapshot(db):
            before = names(list_merchants(db))
            add(database, "Second")
            meanwhile = names(list_merchants(db))
        after = names(list_merchants(db))

    assert before == meanwhile == ["First"]
    assert after == ["First", "Second"]


def test_the_connection_is_as_it_was_after_a_failure(database: Database) -> None:
    with database.reading() as db:
        with pytest.raises(NotFound), consistent_snapshot(db):
            get_merchant_by_code(db, "nobody")
        add(database, "Second")
        assert names(list_merchants(db)) == ["Second"]


class TestWritingBeside:
    def test_what_is_written_while_reading_is_seen_at_once(self, database: Database) -> None:
        with database.reading() as db:
            with database.writing_beside(db) as writer:
                a_merchant(writer, "First")
            assert names(list_merchants(db)) == ["First"]

        with database.reading() as db:
            assert names(list_merchants(db)) == ["First"]

    def write_and_fail(self, database: Database, db: Connection) -> None:
        """Add a merchant, and fail in the same transaction."""
        with database.writing_beside(db) as writer:
            a_merchant(writer, "First")
            get_merchant_by_code(writer, "nobody")

    def test_raising_means_that_nothing_was_written(self, database: Database) -> None:
        with database.reading() as db:
            with pytest.raises(NotFound):
                self.write_and_fail(database, db)
            assert names(list_merchants(db)) == []
            add(database, "Second")
            assert names(list_merchants(db)) == ["Second"]
