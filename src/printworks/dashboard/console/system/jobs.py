"""The queue of jobs: waiting, running and failed ones."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
from starlette.responses import Response

from printworks.actions.jobs import cancel_job, retry_job
from printworks.dashboard.shared.bulk import BulkReport, do_each, is_choosing, read_chosen
from printworks.dashboard.shared.code_words import speak
from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.forms import read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.jobs import MAY_CANCEL, MAY_RETRY, POLICIES, JobKind, JobState
from printworks.rules.people import Duty
from printworks.store.views.console.health import MOST_COUNTED, JobCount, count_jobs
from printworks.store.views.console.jobs import JobFilter, get_job, search_jobs

_ROWS: Final = 50
TONES: Final[Mapping[str, Tone]] = {
    JobState.DONE: "ok",
    JobState.RUNNING: "ok",
    JobState.FAILED: "error",
    JobState.CANCELLED: "warn",
}


class JobBulkAction(StrEnum):
    """What can be done with many jobs at once."""

    RETRY = "retry"
    CANCEL = "cancel"


_BULK_ACTIONS: Final = (
    (JobBulkAction.RETRY.value, "Run now"),
    (JobBulkAction.CANCEL.value, "Cancel or dismiss"),
)


@page_at("/console/jobs")
def show_jobs(visit: ConsoleVisit, report: BulkReport | None = None) -> Response:
    """Show how many there are, and the newest of them; periodic ones if somebody asks for them."""
    state = _read_state(visit.query.get("state", ""))
    kind = visit.query.get("kind", "").strip()
    with_periodic = visit.query.get("periodic") == "yes"
    wanted = JobFilter(state=state, kind=kind or None, with_periodic=with_periodic)
    page = search_jobs(visit.db, wanted, before=visit.cursor(), limit=_ROWS)
    counts = count_jobs(visit.db)
    is_mine = visit.may(Duty.ADMINISTER)
    return visit.render(
        "console/jobs.html",
        jobs=page.jobs,
        tones=TONES,
        states=list(JobState),
        state_choices=[(state.value, speak(state)) for state in JobState],
        kinds=[(kind.value, speak(kind)) for kind in JobKind],
        state=state or "",
        kind=kind,
        with_periodic=with_periodic,
        is_choosing=is_mine and is_choosing(visit),
        bulk_actions=_BULK_ACTIONS if is_mine else (),
        report=report,
        totals=_sum(counts),
        by_kind=group_by_kind(counts),
        most_counted=MOST_COUNTED,
        pages=visit.pages(page.next),
    )


@show_jobs.action("change-jobs", duty=Duty.ADMINISTER, alone=True)
def change_many(visit: ConsoleVisit) -> Response:
    """Run or cancel the chosen jobs, each in a transaction of its own."""
    bulk_action = read_choice(
        JobBulkAction,
        visit.sent.text("bulk_action"),
        "Choose what to do with the jobs.",
        field="bulk_action",
    )

    def change_one(job_id: int) -> str:
        with visit.services.database.writing() as db:
            if bulk_action is JobBulkAction.RETRY:
                retry_job(visit.system_work_in(db), job_id)
                return f"Job {job_id} will run again."
            cancel_job(visit.system_work_in(db), job_id)
            return f"Job {job_id} was cancelled."

    report = do_each(read_chosen(visit.sent), change_one, named="Job")
    with visit.services.database.reading() as db:
        return show_jobs(visit.within(db), report)


@page_at("/console/jobs/{id}")
def show_job(visit: ConsoleVisit) -> Response:
    """Show everything that is known about a job."""
    job = get_job(visit.db, visit.number("id"))
    policy = POLICIES.get(job.kind)
    return visit.render(
        "console/job.html",
        job=job,
        tone=TONES.get(job.state, ""),
        arguments=_write(job.args),
        attempts=policy.attempts if policy else None,
        may_retry=job.state in MAY_RETRY,
        may_cancel=job.state in MAY_CANCEL,
        is_mine=visit.may(Duty.ADMINISTER),
    )


@show_job.action("retry-job", "The job will run again.", duty=Duty.ADMINISTER)
def retry(visit: ConsoleVisit) -> None:
    """Run a job now, with all its attempts."""
    retry_job(visit.system_work, visit.number("id"))


@show_job.action("cancel-job", "The job was cancelled.", duty=Duty.ADMINISTER)
def cancel(visit: ConsoleVisit) -> None:
    cancel_job(visit.system_work, visit.number("id"))


def group_by_kind(counts: Iterable[JobCount]) -> Mapping[str, Mapping[JobState, int]]:
    """Return how many there are of each kind in each state, ordered by the name of the kind."""
    kinds: dict[str, dict[JobState, int]] = {}
    for one in counts:
        kinds.setdefault(one.kind, {})[one.state] = one.count
    return dict(sorted(kinds.items()))


def _sum(counts: Iterable[JobCount]) -> Mapping[JobState, int]:
    totals = dict.fromkeys(JobState, 0)
    for one in counts:
        totals[one.state] += one.count
    return totals


def _read_state(text: str) -> JobState | None:
    return JobState(text) if text in set(JobState) else None


def _write(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
