"""All ledgers are verified once a day, and a fault is told."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from sqlalchemy import update
from structlog.typing import EventDict

from printworks.store.engine.database import Database
from printworks.store.money.verifications import LEDGER, Verification, list_verifications
from printworks.store.tables import merchants
from printworks.worker.context import Context
from printworks.worker.ledger import EVERY, verify_ledger
from tests.factories import NOON, some_services
from tests.worker.queues import add_merchant, claim_one, enqueue_one


def verify(database: Database, now: datetime) -> list[Verification]:
    """Run the job then, and return what is known afterwards."""

    async def play() -> None:
        with ThreadPoolExecutor(1) as threads:
            context = Context(some_services(database, clock=lambda: now), threads)
            await verify_ledger(context, job)

    enqueue_one(database)
    job = claim_one(database)
    asyncio.run(play())
    with database.reading() as db:
        return list_verifications(db)


def test_ledgers_are_verified_once_a_day_and_faults_are_told(
    database: Database, logged: list[EventDict]
) -> None:
    add_merchant(database)
    assert verify(database, NOON) == [Verification(LEDGER, NOON, 0)]
    with database.writing() as db:
        db.execute(update(merchants).values(balance=1))

    assert verify(database, NOON + timedelta(hours=23)) == [Verification(LEDGER, NOON, 0)]
    assert logged == []
    (found,) = verify(database, NOON + EVERY)

    assert found.at == NOON + EVERY
    assert found.faults > 0
    assert {line["event"] for line in logged} == {"ledger does not add up"}
