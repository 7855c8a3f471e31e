"""The API of this release goes on while the database moves to the next one, and after it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from printworks.actions.accounts.secrets import prepare_secrets
from printworks.store.engine.database import Database
from printworks.store.tables import schema
from tests.api.client import Client
from tests.api.conftest import an_order
from tests.api.production import set_status
from tests.factories import VAULT
from tests.next_release import NEXT, write_additions


@pytest.fixture
def database(blank_database_url: str) -> Iterator[Database]:
    """A database of its own, whose tables this test changes."""
    database = Database(blank_database_url)
    schema.migrate(database)
    prepare_secrets(database, VAULT)
    yield database
    database.close()


@pytest.mark.both_databases
def test_requests_are_answered_before_and_after_the_database_moves_ahead(
    v3: Client, database: Database, tmp_path: Path
) -> None:
    before = v3.post("/orders", an_order()).data["id"]

    schema.migrate(database, write_additions(tmp_path))

    after = v3.post("/orders", an_order()).data["id"]
    changed = v3.put(f"/orders/{before}", an_order(recipientName="Mary Wolf")).data
    listed = v3.get("/orders").data["content"]
    cancelled = set_status(v3, after, "Cancelled")
    assert schema.find_revision(database) == NEXT
    assert changed["recipientName"] == "Mary Wolf"
    assert {order["id"] for order in listed} == {before, after}
    assert cancelled.status == 200
    assert v3.get(f"/orders/{after}").data["status"] == "Cancelled"
