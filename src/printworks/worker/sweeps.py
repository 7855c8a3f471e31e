"""Deletes what has been stored long enough, a little at a time."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol

import structlog
from sqlalchemy import Connection

from printworks.actions.orders.drafts import cancel_old_drafts
from printworks.actions.privacy.erasing import erase_waiting
from printworks.actions.privacy.retention import erase_old_recipients, remove_old_proofs
from printworks.actions.work import SystemWork
from printworks.rules.jobs import JobKind, RetryLater
from printworks.rules.sign_in import FORGOTTEN_AFTER
from printworks.settings import Settings
from printworks.store.accounts.forms import (
    KEEP_ANSWERS,
    forget_answers,
    purge_kept_forms,
    purge_sent_forms,
)
from printworks.store.accounts.idempotency import purge_idempotency_keys
from printworks.store.accounts.invitations import purge_invitations
from printworks.store.accounts.passkeys import purge_challenges
from printworks.store.accounts.privacy.sweeps import record_sweep
from printworks.store.accounts.requests import purge_requests
from printworks.store.accounts.sessions import purge_sessions
from printworks.store.accounts.tries import purge_tries
from printworks.store.callbacks.callbacks import purge_attempts
from printworks.store.images.packing_slips import purge_packing_slips
from printworks.store.images.pictures import purge_pictures, unlink_old_images
from printworks.store.issues.photos import purge_photos
from printworks.store.mail.mails import end_late_mails, purge_mails
from printworks.store.money.cards import purge_setups
from printworks.store.orders.lots import purge_lots
from printworks.store.queue.jobs import Job, purge_jobs
from printworks.store.tables.transfer.holds import find_hold
from printworks.store.views.home.news import purge_news
from printworks.worker.context import Context, Handler
from printworks.worker.resources import infrastructure_errors

# Few enough that other transactions do not wait long.
ROWS_AT_ONCE: Final = 500
PICTURES_AT_ONCE: Final = 100
# Few enough that a job is done within its time.
FILES_AT_ONCE: Final = 200
DRAFTS_AT_ONCE: Final = 50
ORDERS_AT_ONCE: Final = 50
# So that an operator can still see who was invited, and whether they accepted.
KEEP_INVITATIONS: Final = timedelta(days=30)
# So that an operator can still see why a merchant could not save a card.
KEEP_CARD_SETUPS: Final = timedelta(days=30)

# How soon to look again whether a backup is done.
AFTER_BACKUP: Final = timedelta(minutes=1)

log = structlog.get_logger()


class Sweep(NamedTuple):
    """What is deleted, how, and how long it is stored before."""

    what: str
    # Deletes some of what is older, and returns how many rows that were.
    delete: Callable[[SystemWork, datetime], int]
    # None keeps it for good.
    keep: Callable[[Settings], timedelta | None]


class Purge(Protocol):
    """Deletes the oldest rows of a table."""

    def __call__(self, db: Connection, *, before: datetime, limit: int) -> int:
        """Delete at most so many that are older; return how many."""


def _rows(purge: Purge) -> Callable[[SystemWork, datetime], int]:
    def delete(work: SystemWork, before: datetime) -> int:
        return purge(work.db, before=before, limit=ROWS_AT_ONCE)

    return delete


def _idempotency_keys(work: SystemWork, before: datetime) -> int:
    """Delete the answers to keyed requests, and to forms."""
    keys = purge_idempotency_keys(work.db, before=before, limit=ROWS_AT_ONCE)
    return keys + purge_sent_forms(work.db, before=before, limit=ROWS_AT_ONCE)


def _sessions(work: SystemWork, before: datetime) -> int:
    ended = purge_sessions(work.db, before=before, limit=ROWS_AT_ONCE)
    invited = purge_invitations(work.db, before=before - KEEP_INVITATIONS, limit=ROWS_AT_ONCE)
    tried = purge_tries(work.db, before=before - FORGOTTEN_AFTER, limit=ROWS_AT_ONCE)
    signed = purge_challenges(work.db, before=before, limit=ROWS_AT_ONCE)
    kept = purge_kept_forms(work.db, before=before, limit=ROWS_AT_ONCE)
    shown = forget_answers(work.db, before=before - KEEP_ANSWERS, limit=ROWS_AT_ONCE)
    cards = purge_setups(work.db, before=before - KEEP_CARD_SETUPS, limit=ROWS_AT_ONCE)
    return ended + invited + tried + signed + kept + shown + cards


def _pictures(work: SystemWork, before: datetime) -> int:
    """Delete print files, pictures and packing slips of orders."""
    unlinked = unlink_old_images(work.db, before=before, limit=ROWS_AT_ONCE)
    pictures = purge_pictures(work.db, before=before, limit=PICTURES_AT_ONCE)
    for picture in pictures:
        log.info("picture deleted", sha256=picture.sha256, files=picture.files)
    slips = purge_packing_slips(work.db, before=before, limit=PICTURES_AT_ONCE)
    files = [*unlinked.files, *(key for picture in pictures for key in picture.files)]
    _remove(work, [*files, *(key for key in slips if key)])
    return unlinked.amount + len(pictures) + len(slips)


def _remove(work: SystemWork, files: Sequence[str]) -> None:
    """Enqueue the removal of files, in jobs that are not too long."""
    for first in range(0, len(files), FILES_AT_ONCE):
        some = files[first : first + FILES_AT_ONCE]
        work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": some})


def _issue_photos(work: SystemWork, before: datetime) -> int:
    photos = purge_photos(work.db, before=before, limit=PICTURES_AT_ONCE)
    _remove(work, photos)
    return len(photos)


def _proofs(work: SystemWork, before: datetime) -> int:
    return remove_old_proofs(work, before=before, limit=ORDERS_AT_ONCE)


def _recipients(work: SystemWork, before: datetime) -> int:
    return erase_old_recipients(work, before=before, limit=ORDERS_AT_ONCE)


def _waiting_erasures(work: SystemWork, _: datetime) -> int:
    return erase_waiting(work, limit=ORDERS_AT_ONCE)


def _drafts(work: SystemWork, before: datetime) -> int:
    return cancel_old_drafts(work, before=before, limit=DRAFTS_AT_ONCE)


def _mails(work: SystemWork, before: datetime) -> int:
    """End mails that nobody sends any more; delete the old ones, and old news."""
    late = end_late_mails(work.db, now=work.real_now, limit=ROWS_AT_ONCE)
    news = purge_news(work.db, before=before, limit=ROWS_AT_ONCE)
    return late + news + purge_mails(work.db, before=before, limit=ROWS_AT_ONCE)


SWEEPS: Final[Mapping[JobKind, Sweep]] = {
    JobKind.PURGE_JOBS: Sweep(
        "jobs", _rows(purge_jobs), lambda settings: settings.keep_finished_jobs
    ),
    JobKind.PURGE_IDEMPOTENCY_KEYS: Sweep(
        "idempotency keys",
        _idempotency_keys,
        lambda settings: settings.keep_idempotency_keys,
    ),
    JobKind.PURGE_CALLBACK_ATTEMPTS: Sweep(
        "callback attempts", _rows(purge_attempts), lambda settings: settings.keep_callbacks
    ),
    JobKind.PURGE_REQUESTS: Sweep(
        "requests", _rows(purge_requests), lambda settings: settings.keep_requests
    ),
    JobKind.PURGE_LOTS: Sweep("lots", _rows(purge_lots), lambda settings: settings.keep_lots),
    JobKind.PURGE_SESSIONS: Sweep("sessions", _sessions, lambda _: timedelta(0)),
    JobKind.PURGE_MAILS: Sweep("mails", _mails, lambda settings: settings.keep_mails),
    JobKind.CANCEL_DRAFTS: Sweep("drafts", _drafts, lambda settings: settings.keep_drafts),
    JobKind.PURGE_PICTURES: Sweep("pictures", _pictures, lambda settings: settings.keep_originals),
    JobKind.PURGE_PROOFS: Sweep("proofs", _proofs, lambda settings: settings.keep_proofs),
    JobKind.PURGE_ISSUE_PHOTOS: Sweep(
        "photos of issues", _issue_photos, lambda settings: settings.keep_issue_photos
    ),
    JobKind.ERASE_OLD_RECIPIENTS: Sweep(
        "recipients", _recipients, lambda settings: settings.keep_recipients
    ),
    JobKind.ERASE_WAITING: Sweep("erasures", _waiting_erasures, lambda _: timedelta(0)),
}


def sweep(kind: JobKind) -> Handler:
    """Return the handler for a kind of sweep. Idempotent: it deletes what is left."""
    what, delete, keep = SWEEPS[kind]

    async def handle(context: Context, _job: Job) -> None:
        kept = keep(context.settings)
        if kept is None:
            return
        before = context.clock() - kept
        deleted = 0
        while some := await context.in_thread(_delete, context, delete, before):
            deleted += some
        await context.in_thread(_record, context, kind, deleted)
        log.info("swept", what=what, count=deleted)

    return handle


async def wait_for_backup(context: Context) -> None:
    """Raise `RetryLater` while a backup needs files that are to be deleted."""
    backup = await context.in_thread(_find_hold, context)
    if backup is not None:
        raise RetryLater(f"The backup {backup} still needs files.", wait=AFTER_BACKUP)


def _find_hold(context: Context) -> str | None:
    with context.database.reading() as db:
        return find_hold(db, now=context.clock())


def _record(context: Context, kind: JobKind, deleted: int) -> None:
    with context.database.writing() as db:
        record_sweep(db, kind, deleted, now=context.clock())


def _delete(
    context: Context, delete: Callable[[SystemWork, datetime], int], before: datetime
) -> int:
    with context.database.writing() as db:
        return delete(context.system_work(db), before)


async def remove_files(context: Context, job: Job) -> None:
    """Delete files that nothing refers to. Idempotent: missing files are ignored.

    A backup that is being taken may still need them: its rows are of an earlier time. It said so
    before it read them, and what had been enqueued by then it does not need.
    """
    files = context.resources.files
    with infrastructure_errors():
        await wait_for_backup(context)
        for key in job.args["files"]:
            await context.in_cpu_pool(files.delete, key)
            log.info("file removed", file=key)
