"""`printworks top`: what the installation is doing now."""

import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from printworks import __version__
from printworks.cli.output import make_console, pick, print_json
from printworks.cli.session import CommandSession, command
from printworks.rules.heartbeats import is_alive
from printworks.watch.readings import Pace, Reading, find_pace, take_reading

app = typer.Typer()


@command(app, "top")
def top(
    session: CommandSession,
    *,
    once: Annotated[bool, typer.Option("--once", help="Look once, for scripts.")] = False,
    every: Annotated[
        float, typer.Option(min=0.5, max=3600, help="Seconds between two looks.")
    ] = 2.0,
) -> None:
    """Show the queue, the workers and requests, live; Ctrl-C ends it."""
    first = take_reading(session.services)
    if session.is_json:
        print_json(describe(first))
    elif once or not sys.stdout.isatty():
        make_console().print(draw(first, None, session.settings.environment))
    else:
        _run(session, first, every)


def _run(session: CommandSession, reading: Reading, every: float) -> None:
    environment = session.settings.environment
    with Live(draw(reading, None, environment), screen=True, auto_refresh=False) as live:
        try:
            while True:
                time.sleep(every)
                before, reading = reading, take_reading(session.services)
                live.update(draw(reading, find_pace(before, reading), environment), refresh=True)
        except KeyboardInterrupt:
            pass


def describe(reading: Reading) -> dict[str, Any]:
    """Return a reading as JSON has it."""
    facts = reading.facts
    return {
        "at": reading.at,
        "version": __version__,
        "processes": reading.processes,
        "requests": reading.requests.count,
        "failedRequests": reading.failed_requests,
        "queue": [
            pick(each, "kind", "due", "oldest_due_at", "running", "failed") for each in facts.queue
        ],
        "workers": [
            {
                **pick(beat, "worker", "host", "process", "version", "started_at", "beat_at"),
                **pick(beat, "running", "finished"),
                "isAlive": is_alive(beat, now=reading.at),
            }
            for beat in facts.workers
        ],
        "failedCallbacks": facts.failed_callbacks,
        "lateShipments": facts.late_shipments,
        "unresolvedPayments": facts.unresolved_payments,
        "verifications": [pick(each, "what", "at", "faults") for each in facts.verifications],
    }


def draw(reading: Reading, pace: Pace | None, environment: str) -> RenderableType:
    """Return a reading as a screen."""
    return Group(
        Text(
            f"Printworks {__version__} ({environment})  {reading.at:%Y-%m-%d %H:%M:%S} UTC", "bold"
        ),
        _draw_requests(reading, pace),
        *_draw_problems(reading),
        Text(),
        _draw_workers(reading),
        Text(),
        _draw_queue(reading, pace),
    )


def _draw_requests(reading: Reading, pace: Pace | None) -> Text:
    here = f"{len(reading.processes)} processes on this machine"
    if pace is None:
        total = f"{reading.requests.count:,} requests, {reading.failed_requests:,} failed"
        return Text(f"{here}: {total} since the first start.")
    within = "" if pace.within is None else f", 95 % within {pace.within * 1000:g} ms"
    failed = Text(
        f"{pace.failed_requests:.1f}/s failed", "bold red" if pace.failed_requests else ""
    )
    return Text.assemble(f"{here}: {pace.requests:.1f} requests/s{within}, ", failed)


def _draw_problems(reading: Reading) -> Iterator[Text]:
    facts = reading.facts
    if facts.failed_callbacks:
        yield Text(f"{facts.failed_callbacks:,} callbacks failed for good.", "yellow")
    for lab, count in sorted(facts.late_shipments.items()):
        yield Text(f"{count:,} shipments of lab {lab} will arrive late.", "yellow")
    if facts.unresolved_payments:
        yield Text(f"{facts.unresolved_payments:,} payments are unresolved.", "yellow")
    for each in facts.verifications:
        if each.faults:
            yield Text(f"The {each.what} has {each.faults:,} faults.", "bold red")


def _draw_workers(reading: Reading) -> RenderableType:
    workers = reading.facts.workers
    if not any(is_alive(beat, now=reading.at) for beat in workers):
        advice = "No worker is running; start `printworks serve` or `printworks work`."
        return Text(advice, "bold red")
    table = Table("worker", "", "running", "finished", "up for", "last heard of", box=None)
    for beat in workers:
        alive = is_alive(beat, now=reading.at)
        table.add_row(
            beat.worker,
            Text("alive", "green") if alive else Text("silent", "bold red"),
            str(beat.running),
            f"{beat.finished:,}",
            _write_span(reading.at - beat.started_at),
            f"{_write_span(reading.at - beat.beat_at)} ago",
        )
    return table


def _draw_queue(reading: Reading, pace: Pace | None) -> RenderableType:
    done = {} if pace is None else pace.jobs
    queue = {each.kind: each for each in reading.facts.queue}
    if not queue and not done:
        return Text("Nothing is due.", "dim")
    table = Table("jobs", "due", "oldest for", "running", "failed", "done/s", box=None)
    for kind in sorted({*queue, *done}):
        each, rate = queue.get(kind), done.get(kind)
        since = each and each.oldest_due_at
        table.add_row(
            kind,
            f"{each.due:,}" if each else "0",
            _write_span(reading.at - since) if since else "",
            f"{each.running:,}" if each else "0",
            Text(f"{each.failed:,}", "bold red" if each.failed else "") if each else "0",
            "" if rate is None else f"{rate:.1f}",
        )
    return table


def _write_span(span: timedelta) -> str:
    seconds = max(0, round(span.total_seconds()))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
