"""Jobs as whoever runs the business lists them, a page at a time, newest first."""

from typing import Final

import msgspec
from sqlalchemy import ColumnElement, Connection, select

from printworks.rules.jobs import JobState
from printworks.store.engine.columns import beside_index, spelled_out
from printworks.store.orders.orders import LARGEST_ID
from printworks.store.queue.jobs import JobRow
from printworks.store.tables import jobs, merchants

# So many jobs are looked at for one page; the next page goes on from there.
JOBS_LOOKED_AT: Final = 5000


class JobPage(msgspec.Struct, frozen=True):
    """Some jobs."""

    jobs: list[JobRow]
    # Before which number the next page begins; None if there are no older ones. A page can be
    # short, or empty, although there are.
    next: int | None


_JOBS: Final = select(jobs, merchants.c.code.label("merchant")).join_from(
    jobs, merchants, isouter=True
)
# Few compared with the others, among which somebody looks a part at a time.
_FEW: Final = frozenset({JobState.SCHEDULED, JobState.DUE, JobState.RUNNING, JobState.FAILED})


def search_jobs(
    db: Connection,
    *,
    state: JobState | None = None,
    kind: str | None = None,
    before: int | None = None,
    limit: int,
) -> JobPage:
    """Return jobs in this state and of this kind, newest first.

    `before` is what the page before this one named as its `next`.
    """
    last = min(before or LARGEST_ID, LARGEST_ID)
    fits: list[ColumnElement[bool]] = []
    if state is not None:
        fits.append(jobs.c.state == spelled_out(state))
    if kind is not None:
        # A kind with a zero byte is nobody's, and an error to PostgreSQL.
        fits.append(jobs.c.kind == kind.replace("\0", ""))
    if state in _FEW:
        return _list_few_jobs(db, state, fits, last=last, limit=limit)
    return _look_through_jobs(db, fits, last=last, limit=limit)


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
        # SQLite would walk through all jobs in their order, although the state has an index.
        number = beside_index(jobs.c.id)
    few = _JOBS.where(*fits, number < last).order_by(number.desc())
    rows = list(db.execute(few.limit(limit + 1)).all())
    return JobPage(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)


def _look_through_jobs(
    db: Connection, fits: list[ColumnElement[bool]], *, last: int, limit: int
) -> JobPage:
    """Look for jobs that fit among the newest before one, and say where to go on."""
    looked_at = (
        select(jobs.c.id)
        .where(jobs.c.id < last)
        .order_by(jobs.c.id.desc())
        .limit(1)
        .offset(JOBS_LOOKED_AT)
    )
    end = db.execute(looked_at).scalar() or 0
    newest = _JOBS.where(jobs.c.id < last, jobs.c.id > end, *fits).order_by(jobs.c.id.desc())
    rows = list(db.execute(newest.limit(limit + 1)).all())
    if len(rows) > limit:
        return JobPage(rows[:limit], rows[limit - 1].id)
    return JobPage(rows, end + 1 if end else None)
