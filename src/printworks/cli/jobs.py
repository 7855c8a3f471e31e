"""`printworks jobs`: what waits, runs and failed, and what to do about it."""

from typing import Annotated, Any

import typer

from printworks.actions.jobs import cancel_job, retry_job
from printworks.cli.options import Limit, OnlyMerchant
from printworks.cli.output import Columns, align, pick
from printworks.cli.session import CommandSession, command
from printworks.rules.jobs import JobState
from printworks.store.views.console.jobs import JobFilter, JobRow, get_job, list_jobs

app = typer.Typer(no_args_is_help=True)

JobId = Annotated[int, typer.Argument(metavar="JOB", help="The number of the job.")]


@command(app, "list")
def list_newest(
    session: CommandSession,
    *,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only jobs of this kind.")] = None,
    merchant: OnlyMerchant = None,
    periodic: Annotated[
        bool, typer.Option(help="Also those that run by themselves again and again.")
    ] = False,
    limit: Limit = 50,
) -> None:
    """List jobs, the newest first; periodic ones only if they failed, or if asked for."""
    wanted = JobFilter(state=state, kind=kind, merchant=merchant, with_periodic=periodic)
    with session.reading() as db:
        found = list_jobs(db, wanted, limit=limit + 1)
    columns: Columns = {
        **{name: name for name in ("id", "kind", "merchant", "state")},
        "due": "dueAt",
        "attempts": "attempts",
        "last error": lambda job: (job["lastError"] or "")[:60],
    }
    jobs = [_describe(job) for job in found]
    session.show_list(jobs, columns, "There is no such job.", limit=limit)


@command(app, "show")
def show(session: CommandSession, job_id: JobId) -> None:
    """Show everything that is known about a job."""
    with session.reading() as db:
        facts = _describe(get_job(db, job_id))
    session.show(facts, *align(facts))


@command(app, "retry")
def retry(session: CommandSession, job_id: JobId) -> None:
    """Run a job that failed, was cancelled or is scheduled now, with all its attempts."""
    with session.system_work() as system:
        retry_job(system, job_id)
    session.done(f"Job {job_id} is due.", id=job_id)


@command(app, "cancel")
def cancel(session: CommandSession, job_id: JobId) -> None:
    """Cancel a job that has not started, or dismiss one that failed."""
    with session.system_work() as system:
        cancel_job(system, job_id)
    session.done(f"Job {job_id} is cancelled.", id=job_id)


def _describe(job: JobRow) -> dict[str, Any]:
    return pick(
        job,
        *("id", "kind", "merchant", "args", "state", "created_at", "due_at", "attempts"),
        *("worker", "lease_until", "finished_at", "last_error", "dedupe_key", "request_id"),
    )
