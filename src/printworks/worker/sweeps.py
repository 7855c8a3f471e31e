"""Forgetting what has been kept long enough, a little at a time."""

from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy import delete, select, tuple_

from printworks.rules.jobs import JobKind
from printworks.store.accounts.invitations import forget_invitations
from printworks.store.accounts.requests import forget_requests
from printworks.store.accounts.sessions import forget_sessions
from printworks.store.callbacks.callbacks import forget_attempts
from printworks.store.engine.database import Database
from printworks.store.images.packing_slips import forget_packing_slips
from printworks.store.images.pictures import forget_pictures
from printworks.store.issues.photos import forget_photos
from printworks.store.queue.jobs import Job, enqueue
from printworks.store.tables import idempotency_keys, jobs
from printworks.worker.loop import Context
from printworks.worker.tools import infrastructure_errors

# Few enough that nobody waits long for the database behind one of these transactions.
ROWS_AT_ONCE: Final = 500
PICTURES_AT_ONCE: Final = 100
# For whoever wants to know later who was invited, and whether they came.
KEEP_INVITATIONS: Final = timedelta(days=30)

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


async def forget_callback_attempts(context: Context, _job: Job) -> None:
    """Forget how old tries of callbacks went. Harmless twice: what is gone is gone."""
    before = context.clock() - context.settings.keep_callbacks
    forgotten = 0
    while deleted := await context.in_thread(_forget_attempts, context.database, before):
        forgotten += deleted
    log.info("callback attempts forgotten", count=forgotten)


def _forget_attempts(database: Database, before: datetime) -> int:
    with database.writing() as db:
        return forget_attempts(db, before=before, limit=ROWS_AT_ONCE)


async def forget_old_requests(context: Context, _job: Job) -> None:
    """Forget what programs asked long ago. Harmless twice: what is gone is gone."""
    before = context.clock() - context.settings.keep_requests
    forgotten = 0
    while deleted := await context.in_thread(_forget_requests, context.database, before):
        forgotten += deleted
    log.info("requests forgotten", count=forgotten)


def _forget_requests(database: Database, before: datetime) -> int:
    with database.writing() as db:
        return forget_requests(db, before=before, limit=ROWS_AT_ONCE)


async def forget_old_sessions(context: Context, _job: Job) -> None:
    """Forget sessions and invitations that have ended. Harmless twice: what is gone is gone."""
    now = context.clock()
    forgotten = 0
    while deleted := await context.in_thread(_forget_sessions, context.database, now):
        forgotten += deleted
    log.info("sessions forgotten", count=forgotten)


def _forget_sessions(database: Database, now: datetime) -> int:
    with database.writing() as db:
        ended = forget_sessions(db, now=now, limit=ROWS_AT_ONCE)
        before = now - KEEP_INVITATIONS
        return ended + forget_invitations(db, before=before, limit=ROWS_AT_ONCE)


async def forget_old_pictures(context: Context, _job: Job) -> None:
    """Forget pictures and packing slips of orders, and photographs of issues, that ended long ago.

    Their files go too. Harmless twice: what is gone is gone.
    """
    now = context.clock()
    before = now - context.settings.keep_originals
    forgotten = 0
    while batch := await context.in_thread(_forget_pictures, context.database, before, now):
        forgotten += batch
    log.info("pictures forgotten", count=forgotten)


def _forget_pictures(database: Database, before: datetime, now: datetime) -> int:
    with database.writing() as db:
        forgotten = forget_pictures(db, before=before, limit=PICTURES_AT_ONCE)
        for picture in forgotten:
            log.info("picture forgotten", sha256=picture.sha256, files=picture.files)
        slips = forget_packing_slips(db, before=before, limit=PICTURES_AT_ONCE)
        files = [key for picture in forgotten for key in picture.files]
        files += [key for key in slips if key]
        photos = forget_photos(db, before=before, limit=PICTURES_AT_ONCE)
        files += photos
        if files:
            enqueue(db, JobKind.REMOVE_FILES, {"files": files}, merchant=None, now=now)
        return len(forgotten) + len(slips) + len(photos)


async def remove_files(context: Context, job: Job) -> None:
    """Delete files that nothing refers to. Harmless twice: what is gone is gone."""
    files = context.outside.files
    with infrastructure_errors():
        for key in job.args["files"]:
            await context.in_cpu_pool(files.delete, key)
            log.info("file removed", file=key)


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
