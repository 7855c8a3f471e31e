"""Forgetting what has been kept long enough, a little at a time."""

from datetime import datetime
from typing import Final

import structlog
from sqlalchemy import delete, select, tuple_

from printworks.store.database import Database
from printworks.store.jobs import Job
from printworks.store.tables import idempotency_keys, jobs
from printworks.worker.loop import Context

# Few enough that nobody waits long for the database behind one of these transactions.
ROWS_AT_ONCE: Final = 500

log = structlog.get_logger()


async def forget_jobs(context: Context, _job: Job) -> None:
    """Delete jobs that ended long ago. Harmless twice: what is gone is gone."""
    before = context.clock() - context.settings.keep_finished_jobs
    forgotten = 0
    while deleted := await context.in_thread(_delete_jobs, context.database, before):
        forgotten += deleted
    log.info("jobs forgotten", count=forgotten)


async def forget_idempotency_keys(context: Context, _job: Job) -> None:
    """Delete idempotency keys that are too old. Harmless twice: what is gone is gone."""
    before = context.clock() - context.settings.keep_idempotency_keys
    forgotten = 0
    while deleted := await context.in_thread(_delete_keys, context.database, before):
        forgotten += deleted
    log.info("idempotency keys forgotten", count=forgotten)


def _delete_jobs(database: Database, before: datetime) -> int:
    oldest = (
        select(jobs.c.id)
        .where(jobs.c.finished_at < before)
        .order_by(jobs.c.finished_at)
        .limit(ROWS_AT_ONCE)
    )
    with database.writing() as db:
        return db.execute(delete(jobs).where(jobs.c.id.in_(oldest))).rowcount


def _delete_keys(database: Database, before: datetime) -> int:
    key = tuple_(idempotency_keys.c.merchant_id, idempotency_keys.c.key)
    oldest = (
        select(idempotency_keys.c.merchant_id, idempotency_keys.c.key)
        .where(idempotency_keys.c.created_at < before)
        .order_by(idempotency_keys.c.created_at)
        .limit(ROWS_AT_ONCE)
    )
    with database.writing() as db:
        return db.execute(delete(idempotency_keys).where(key.in_(oldest))).rowcount
