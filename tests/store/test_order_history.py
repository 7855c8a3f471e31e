"""What happened to one order is read by small steps, however much happened to the others."""

from printworks.store.engine.database import Database
from printworks.store.orders.history import (
    list_attempts_of_order,
    list_entries_of_order,
    list_latest_events,
    read_etag,
)
from tests.factories import a_merchant, an_order
from tests.store.plans import explain_on_sqlite

# Each of them begins with a merchant, whose everything would be walked through.
WHOLE_LEDGERS = ("autoindex_ledger_entries", "ix_ledger_entries_merchant_id")


def test_sqlite_reads_nothing_of_other_orders(sqlite_database: Database) -> None:
    with sqlite_database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant)

    plans: dict[str, list[str]] = {}
    for ask in (
        lambda db: list_entries_of_order(db, merchant.id, order.id, limit=10),
        lambda db: list_attempts_of_order(db, merchant.id, order.id, limit=10),
        lambda db: list_latest_events(db, merchant.id, order.id, limit=10),
        lambda db: read_etag(db, merchant.id, order.id),
    ):
        plans |= explain_on_sqlite(sqlite_database, ask)

    steps = [step for plan in plans.values() for step in plan]
    assert len(plans) >= 4
    assert not [step for step in steps if step.startswith("SCAN")]
    assert not [step for step in steps if any(index in step for index in WHOLE_LEDGERS)]
