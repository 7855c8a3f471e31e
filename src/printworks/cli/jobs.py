"""`printworks jobs`: what waits, runs and failed, and what to do about it."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)
from printworks.rules.jobs import JobState

if TYPE_CHECKING:
    from printworks.store.queue.jobs import JobRow

app = typer.Typer(help="Jobs: look at them, try one again, call one off.", no_args_is_help=True)

Id = Annotated[int, typer.Argument(help="The number of the job.")]


@app.command("list")
def list_newest(
    context: typer.Context,
    *,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only jobs of this kind.")] = None,
    merchant: Annotated[str | None, typer.Option(help="Only this merchant's jobs.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 50,
    data: Data = None,
    json: Json = False,
) -> None:
    """List jobs, the newest first."""
    from rich.table import Table

    from printworks.store.queue.jobs import list_jobs

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        found = list_jobs(db, state=state, kind=kind, merchant=merchant, limit=limit)
    if json:
        print_json([_describe(job) for job in found])
        return
    table = Table("id", "kind", "merchant", "state", "due", "attempts", "last error", box=None)
    for job in found:
        table.add_row(
            str(job.id),
            job.kind,
            job.merchant or "",
            job.state,
            _write(job.due_at),
            str(job.attempts),
            (job.last_error or "")[:60],
        )
    make_console().print(table if found else "There is no such job.")


@app.command()
def show(context: typer.Context, job_id: Id, *, data: Data = None, json: Json = False) -> None:
    """Show everything that is known about a job."""
    from printworks.store.queue.jobs import get_job

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        facts = _describe(get_job(db, job_id))
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        shown = _write(value) if isinstance(value, datetime) else value
        make_console().print(f"{name:<12} {'' if shown is None else shown}")


@app.command()
def retry(context: typer.Context, job_id: Id, *, data: Data = None) -> None:
    """Let a job that failed, was cancelled or still waits run now, with all its attempts."""
    from printworks.clock import system_clock
    from printworks.store.queue.jobs import retry_job

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        retry_job(db, job_id, now=system_clock())
    make_console().print(f"Job {job_id} is due.")


@app.command()
def cancel(context: typer.Context, job_id: Id, *, data: Data = None) -> None:
    """Call off a job that nobody has begun."""
    from printworks.clock import system_clock
    from printworks.store.queue.jobs import cancel_job

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        cancel_job(db, job_id, now=system_clock())
    make_console().print(f"Job {job_id} is cancelled.")


def _describe(job: "JobRow") -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind,
        "merchant": job.merchant,
        "args": job.args,
        "state": job.state,
        "createdAt": job.created_at,
        "dueAt": job.due_at,
        "attempts": job.attempts,
        "worker": job.worker,
        "leaseUntil": job.lease_until,
        "finishedAt": job.finished_at,
        "lastError": job.last_error,
        "dedupeKey": job.dedupe_key,
        "requestId": job.request_id,
    }


def _write(timestamp: datetime) -> str:
    return f"{timestamp:%Y-%m-%d %H:%M:%S} UTC"
