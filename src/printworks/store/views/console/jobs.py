"""Jobs for operators: lists, a page at a time, and what can be done with a job."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, or_, select, update

from printworks.errors import NotFound, WrongState
from printworks.rules.jobs import MAY_CANCEL, MAY_RETRY, PERIODIC, JobState
from printworks.store.engine.columns import beside_index, spelled_out
from printworks.store.engine.rows import LARGEST_ID, cut_page, possible_id
from printworks.store.queue.jobs import wake_workers
from printworks.store.tables import jobs, merchants

# This many jobs are read for one page; the next page continues from there.
JOBS_READ: Final = 5000


JobRow: TypeAlias = Row[Any]


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs to list; what is not set does not matter."""

    state: JobState | None = None
    kind: str | None = None
    # The code of a merchant.
    merchant: str | None = None
    # Without a kind, those that run by themselves again and again may be left out, unless they
    # failed.
    with_periodic: bool = True


EVERY_JOB: Final = JobFilter()


class JobPage(msgspec.Struct, frozen=True):
    jobs: list[JobRow]
    # The id below which the next page begins; None if there is none. A page can be short, or
    # empty, and still not be the last.
    next: int | None


_JOBS: Final = select(jobs, merchants.c.code.label("merchant")).join_from(
    jobs, merchants, isouter=True
)
_IS_OF_INTEREST: Final = or_(
    jobs.c.kind.not_in(sorted(PERIODIC)), jobs.c.state == spelled_out(JobState.FAILED)
)
# Few compared with the others, which are read a part at a time.
_FEW: Final = frozenset({JobState.SCHEDULED, JobState.DUE, JobState.RUNNING, JobState.FAILED})


def search_jobs(
    db: Connection, wanted: JobFilter = EVERY_JOB, *, before: int | None = None, limit: int
) -> JobPage:
    """Return a page of jobs, newest first; `before` is the `next` of the previous page."""
    last, fits = min(before or LARGEST_ID, LARGEST_ID), _fit(wanted)
    if wanted.state in _FEW:
        return _list_few_jobs(db, wanted.state, fits, last=last, limit=limit)
    return _filter_jobs(db, fits, last=last, limit=limit)


def _fit(wanted: JobFilter) -> list[ColumnElement[bool]]:
    fits: list[ColumnElement[bool]] = []
    if wanted.state is not None:
        fits.append(jobs.c.state == spelled_out(wanted.state))
    if wanted.kind is not None:
        # PostgreSQL raises an error for a zero byte, and no kind has one.
        fits.append(jobs.c.kind == wanted.kind.replace("\0", ""))
    if wanted.merchant is not None:
        fits.append(merchants.c.code == wanted.merchant)
    if not wanted.with_periodic and wanted.kind is None:
        fits.append(_IS_OF_INTEREST)
    return fits


def _list_few_jobs(
    db: Connection,
    state: JobState | None,
    fits: list[ColumnElement[bool]],
    *,
    last: int,
    limit: int,
) -> JobPage:
    number: ColumnElement[int] = jobs.c.id
    if state is not JobState.FAILED:
        # SQLite would read all jobs by id, although the state has an index.
        number = beside_index(jobs.c.id)
    few = _JOBS.where(*fits, number < last).order_by(number.desc())
    rows = db.execute(few.limit(limit + 1)).all()
    return JobPage(*cut_page(rows, limit, lambda job: job.id))


def _filter_jobs(
    db: Connection, fits: list[ColumnElement[bool]], *, last: int, limit: int
) -> JobPage:
    """Read jobs below an id until a page is full or enough were read."""
    limit_of_page = (
        select(jobs.c.id)
        .where(jobs.c.id < last)
        .order_by(jobs.c.id.desc())
        .limit(1)
        .offset(JOBS_READ)
    )
    end = db.execute(limit_of_page).scalar() or 0
    newest = _JOBS.where(jobs.c.id < last, jobs.c.id > end, *fits).order_by(jobs.c.id.desc())
    rows = db.execute(newest.limit(limit + 1)).all()
    shown, older = cut_page(rows, limit, lambda job: job.id)
    return JobPage(shown, older or (end + 1 if end else None))


def get_job(db: Connection, job_id: int) -> JobRow:
    """Return everything about a job; `merchant` is the merchant's code."""
    row = db.execute(_JOBS.where(jobs.c.id == possible_id(job_id))).one_or_none()
    if row is None:
        raise NotFound(f"There is no job {job_id}.")
    return row


def list_jobs(db: Connection, wanted: JobFilter = EVERY_JOB, *, limit: int) -> Sequence[JobRow]:
    """Return the newest jobs, newest first."""
    newest = _JOBS.where(*_fit(wanted)).order_by(jobs.c.id.desc())
    return db.execute(newest.limit(limit)).all()


def retry_job(db: Connection, job_id: int, *, now: datetime) -> None:
    """Let a job that failed, was cancelled or is scheduled run now, with all its attempts."""
    _change(db, job_id, MAY_RETRY, to=JobState.DUE, due_at=now, attempts=0, finished_at=None)
    wake_workers(db)


def cancel_job(db: Connection, job_id: int, *, now: datetime) -> None:
    """Cancel a job that has not begun, or that failed."""
    _change(db, job_id, MAY_CANCEL, to=JobState.CANCELLED, finished_at=now)


def _change(
    db: Connection, job_id: int, allowed: frozenset[JobState], *, to: JobState, **changes: Any
) -> None:
    # Raises if there is no such job.
    get_job(db, job_id)
    changed = db.execute(
        update(jobs)
        .where(jobs.c.id == job_id, jobs.c.state.in_(allowed))
        .values(state=to, **changes)
    )
    if changed.rowcount == 0:
        raise WrongState(f"A job that is {get_job(db, job_id).state} cannot become {to}.")
