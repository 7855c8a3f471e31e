"""Old drafts are found in an index of drafts, however many orders there are."""

from sqlalchemy import Connection

from printworks.store.engine.database import Database
from printworks.store.orders.drafts import list_old_drafts
from tests.factories import NOON
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

INDEX = "ix_orders_drafts"


def ask(db: Connection) -> None:
    list_old_drafts(db, before=NOON, limit=50)


def test_sqlite_reads_drafts_alone(sqlite_database: Database) -> None:
    *_, steps = explain_on_sqlite(sqlite_database, ask).values()

    assert any(INDEX in line for line in steps), steps
    assert not any("TEMP B-TREE" in line for line in steps), steps


def test_postgresql_reads_drafts_alone(postgresql_database: Database) -> None:
    *_, plan = explain_on_postgresql(postgresql_database, ask).values()

    assert INDEX in plan
    assert "Sort" not in plan
