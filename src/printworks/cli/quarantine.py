"""`printworks quarantine`: what may have happened since a backup, and letting things out again."""

from typing import Annotated

import typer

from printworks.actions.production.strays import find_strays
from printworks.actions.quarantine import begin_quarantine, end_quarantine
from printworks.cli.labs import list_connectors
from printworks.cli.options import Limit
from printworks.cli.output import write
from printworks.cli.session import CommandSession, command
from printworks.errors import WrongState
from printworks.rules.quarantine import DOUBTS, QuarantineCause
from printworks.store.queue.quarantine import find_quarantine
from printworks.store.views.console.doubts import DoubtGroup, list_doubts

app = typer.Typer(no_args_is_help=True)


@command(app, "show")
def show(session: CommandSession, *, limit: Limit = 20) -> None:
    """Show whether the service is in quarantine, and what may have happened since its backup."""
    with session.reading() as db:
        quarantine = find_quarantine(db)
        if quarantine is None:
            session.show({"isOn": False}, "The service is not in quarantine.")
            return
        groups = list_doubts(db, limit=limit)
        strays = list(find_strays(db, list_connectors(session)))
    lines = [line for group in groups for line in _write_group(group)]
    if strays:
        lines.append(f"  Jobs at labs of which nothing is known here ({len(strays):,}):")
        lines += [f"    {stray.lab}  {stray.where}" for stray in strays[:limit]]
    session.show(
        {
            "isOn": True,
            "cause": quarantine.cause,
            "since": quarantine.since,
            "knownUntil": quarantine.known_until,
            "doubts": groups,
            "strays": strays,
        },
        f"In quarantine ({quarantine.cause}) since {write(quarantine.since)}. What happened after "
        f"{write(quarantine.known_until)}, this database does not know:",
        *(lines or ["Nothing was under way then."]),
        "Orders, keys, people and passwords that were added, changed or removed since are as they "
        "were. `printworks quarantine end` lets everything go out that has waited.",
    )


def _write_group(group: DoubtGroup) -> list[str]:
    count = f"more than {group.count:,}" if group.is_more else f"{group.count:,}"
    shown = [
        f"    order {doubt.order_id}  {doubt.merchant}  {doubt.subject}  {doubt.detail}"
        for doubt in group.rows
    ]
    rest = [] if len(shown) == group.count else [f"    … {count} in all; --limit shows more"]
    return [f"  {DOUBTS[group.kind].heading} ({count}):", *shown, *rest]


@command(app, "begin")
def begin(session: CommandSession) -> None:
    """Let nothing leave the service until `end`: nothing goes to labs, banks or receivers."""
    with session.system_work() as work:
        begin_quarantine(work, QuarantineCause.OPERATOR)
    session.done("The service is in quarantine: it answers, but nothing leaves it.")


@command(app, "end")
def end(
    session: CommandSession,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="I have seen what may have happened; do not ask.")
    ] = False,
) -> None:
    """Let everything go out that has waited. Asks first; look at `quarantine show` before."""
    if not yes:
        if session.is_json:
            raise WrongState("Say --yes: you have seen what `quarantine show` lists.")
        show_all(session)
        typer.confirm("Let everything go out that has waited?", abort=True, err=True)
    with session.system_work() as work:
        end_quarantine(work)
    session.done("The quarantine has ended: what has waited goes out now.")


def show_all(session: CommandSession) -> None:
    """Show what may have happened, before somebody decides."""
    show(session, limit=20)
