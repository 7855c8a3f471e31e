"""Verifies all ledgers once a day, so that a fault is noticed before somebody looks for it."""

from datetime import timedelta
from typing import Final

import structlog

from printworks.actions.payments.ledger import note_ledger_check, verify_ledgers
from printworks.store.money.verifications import LEDGER, list_verifications
from printworks.store.queue.jobs import Job
from printworks.worker.context import Context

# It reads everything from the beginning.
EVERY: Final = timedelta(hours=24)

log = structlog.get_logger()


async def verify_ledger(context: Context, _job: Job) -> None:
    """Verify all ledgers if that is due. Idempotent: it changes nothing but the result."""
    await context.in_thread(_verify, context)


def _verify(context: Context) -> None:
    with context.database.reading() as db:
        done = [each for each in list_verifications(db) if each.what == LEDGER]
        # A little early: the job comes once an hour, and not to the second.
        if done and context.clock() - done[0].at < EVERY - timedelta(minutes=30):
            return
        check = verify_ledgers(db)
    with context.database.writing() as db:
        note_ledger_check(context.system_work(db), check)
    for fault in check.faults:
        log.error("ledger does not add up", merchant=fault.whose, fault=fault.fault.kind)
