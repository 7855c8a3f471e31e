"""A worker that is killed while it issues invoices leaves no gap, and invoices nothing twice."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import func, select

from printworks.rules.invoices import Invoicing
from printworks.store.engine.database import Database
from printworks.store.money.invoices import list_causes, list_documents
from printworks.store.tables import invoices
from tests.actions.complaints import cancel, submitted
from tests.actions.invoicing import a_customer, a_shop, find_problems
from tests.scale import scaled
from tests.worker import invoice_victim
from tests.worker.forks import forked
from tests.worker.hosts import wait_until

KILLS: Final = scaled(30, part=10)
ORDERS: Final = KILLS * 5


def live(database_url: str, folder: Path, until: Callable[[], object] | None = None) -> None:
    """Run a worker until something is so, and kill it; or to its own end."""
    with forked(invoice_victim.live, database_url, folder) as worker:
        if until is not None:
            wait_until(until)
            worker.kill()
        worker.join()
    assert worker.exitcode == (0 if until is None else -signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_kills_leave_no_gap_and_no_charge_without_its_invoice(
    database_url: str, tmp_path: Path
) -> None:
    database = Database(database_url)
    with database.writing() as db:
        merchants = [a_shop(db), a_customer(db), a_customer(db, Invoicing.MONTHLY)]
    for number in range(ORDERS):
        merchant = merchants[number % 3]
        with database.writing() as db:
            order = submitted(db, merchant)
            if number % 5 == 0:
                cancel(db, merchant, order)

    def count() -> int:
        with database.reading() as db:
            return db.execute(select(func.count()).select_from(invoices)).scalar_one()

    # Of the third merchant there is one invoice of the month, and a credit note for each refund.
    for kill in range(1, KILLS + 1):
        wanted = ORDERS * 2 // 3 * kill // (KILLS + 1)
        live(database_url, tmp_path, lambda wanted=wanted: count() >= wanted)  # type: ignore[misc]
    live(database_url, tmp_path)

    with database.reading() as db:
        numbers = [document.sequence for _, document in list_documents(db, None)]
        waiting = [
            cause
            for merchant in merchants
            for cause in list_causes(db, merchant.id)
            if cause.invoice_id is None
        ]
    problems = find_problems(database)
    database.close()
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert waiting == []
    assert problems == []
