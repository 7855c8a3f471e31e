"""`printworks prices`: price lists of merchants and of groups."""

import csv
from collections.abc import Sequence
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from printworks.actions import price_lists as actions
from printworks.actions.price_lists import ListTerms
from printworks.cli.options import Limit
from printworks.cli.output import Columns, pick
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput
from printworks.rules.price_list_reading import read_percent, write_lines, write_percent
from printworks.rules.price_lists import PriceList, find_list_state
from printworks.rules.spreadsheets import as_text
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.money.price_lists import (
    MerchantGroup,
    find_group,
    get_list,
    list_list_changes,
    list_lists,
)

app = typer.Typer(no_args_is_help=True)

_MOST_CHANGES: Final = 50
_COLUMNS: Final[Columns] = {
    "list": "id",
    "name": "name",
    "state": "state",
    "off": lambda row: f"{row['percentOff']} %",
    "lines": "lines",
    "from": "validFrom",
    "until": "validUntil",
}

ListId = Annotated[int, typer.Argument(metavar="LIST", help="The number of the list.")]
_TIMES: Final = ["%Y-%m-%dT%H:%M", "%Y-%m-%d"]


@command(app, "list")
def show_lists(session: CommandSession, *, limit: Limit = 50) -> None:
    """List the price lists, newest first."""
    with session.reading() as db:
        found = list_lists(db, limit=limit + 1)
    rows = [_describe(session, one) for one in found]
    session.show_list(rows, _COLUMNS, "There are no price lists.", limit=limit)


@command(app, "show")
def show_one(session: CommandSession, list_id: ListId) -> None:
    """Show a list: its lines, and what was changed."""
    with session.reading() as db:
        found = get_list(db, list_id)
        changes = list_list_changes(db, list_id, limit=_MOST_CHANGES)
    facts = _describe(session, found)
    rows = list(write_lines(found.lines))
    session.show(
        {
            **facts,
            "lines": _name_cells(rows),
            "changes": [pick(one, "revision", "change", "who", "created_at") for one in changes],
        },
        f"“{found.name}” is {facts['state']}: {facts['percentOff']} % off.",
        *(" ".join(filter(None, row)) for row in rows[1:]),
        *(
            f"{one.created_at:%Y-%m-%d %H:%M} UTC  {one.change}  {one.who}  (change {one.revision})"
            for one in changes
        ),
    )


@command(app, "add")
def add(
    session: CommandSession,
    name: Annotated[str, typer.Argument(help="What it is called.")],
    *,
    off: Annotated[str, typer.Option(help="How many percent off everything.")] = "0",
    begin: Annotated[
        datetime | None, typer.Option("--from", help="In UTC; by default now.", formats=_TIMES)
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(help="In UTC; by default for good.", formats=_TIMES)
    ] = None,
) -> None:
    """Add a list that is not assigned yet."""
    terms = ListTerms(
        name=name,
        percent_off=read_percent(off),
        valid_from=None if begin is None else begin.replace(tzinfo=UTC),
        valid_until=None if until is None else until.replace(tzinfo=UTC),
    )
    with session.system_work() as system:
        added = actions.add_list(system, terms)
    session.done(
        f"List {added.id} is not assigned yet: `printworks prices assign {added.id}`.",
        list=added.id,
    )


@command(app, "import")
def import_csv(
    session: CommandSession,
    list_id: ListId,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV file, as `export` writes it.")
    ],
) -> None:
    """Replace the lines of a list by those of a CSV file."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from error
    with session.system_work() as system:
        changed = actions.import_lines(system, list_id, content)
    session.done(f"List {list_id} has {len(changed.lines)} lines.", list=list_id)


@command(app, "export")
def export_csv(session: CommandSession, list_id: ListId) -> None:
    """Write the lines of a list as CSV."""
    with session.reading() as db:
        found = get_list(db, list_id)
    rows = list(write_lines(found.lines))
    session.show(_name_cells(rows), _write_csv(rows).rstrip())


def _name_cells(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _write_csv(rows: Sequence[Sequence[str]]) -> str:
    """Write a table that spreadsheets show and do not calculate."""
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(
        [[as_text(cell) for cell in row] for row in rows]
    )
    return text.getvalue()


@command(app, "assign")
def assign(
    session: CommandSession,
    list_id: ListId,
    *,
    merchant: Annotated[str | None, typer.Option(help="The ID of the merchant.")] = None,
    group: Annotated[str | None, typer.Option(help="The name of the group.")] = None,
) -> None:
    """Assign a list to a merchant or to a group; with neither, to nobody."""
    if merchant is not None and group is not None:
        raise BadInput("Name either a merchant or a group.")
    with session.system_work() as system:
        if merchant is not None:
            found = get_merchant_by_code(system.db, merchant)
            actions.assign_to_merchant(system, list_id, found)
        elif group is not None:
            actions.assign_to_group(system, list_id, _get_group(system, group))
        else:
            actions.take_away(system, list_id)
    whose = merchant or group
    is_now = f"is assigned to {whose}" if whose else "is no longer assigned"
    session.done(f"List {list_id} {is_now}.", list=list_id)


@command(app, "suspend")
def suspend(session: CommandSession, list_id: ListId) -> None:
    """Do not use a list until it is resumed."""
    with session.system_work() as system:
        actions.suspend_list(system, list_id)
    session.done(f"List {list_id} is suspended.", list=list_id)


@command(app, "resume")
def resume(session: CommandSession, list_id: ListId) -> None:
    """Use a suspended list again."""
    with session.system_work() as system:
        actions.resume_list(system, list_id)
    session.done(f"List {list_id} was resumed.", list=list_id)


@command(app, "end")
def end(session: CommandSession, list_id: ListId) -> None:
    """End a list now, for good."""
    with session.system_work() as system:
        actions.end_list(system, list_id)
    session.done(f"List {list_id} has ended.", list=list_id)


@command(app, "group")
def put_into_group(
    session: CommandSession,
    merchant: Annotated[str, typer.Argument(metavar="MERCHANT", help="The ID of the merchant.")],
    group: Annotated[
        str | None, typer.Argument(metavar="[GROUP]", help="The group; none takes it out.")
    ] = None,
) -> None:
    """Put a merchant into a group, which is added if there is none of that name."""
    with session.system_work() as system:
        found = get_merchant_by_code(system.db, merchant)
        wanted = None
        if group is not None:
            wanted = find_group(system.db, group) or actions.add_group(system, group)
        actions.put_into_group(system, found, wanted)
    where = f"in the group {group}" if group else "in no group"
    session.done(f"{merchant} is {where}.", merchant=merchant, group=group)


def _get_group(system: Any, name: str) -> MerchantGroup:
    group = find_group(system.db, name)
    if group is None:
        raise BadInput(f"There is no group {name}; `printworks prices group` makes one.")
    return group


def _describe(session: CommandSession, found: PriceList) -> dict[str, Any]:
    return {
        **pick(found, "id", "name", "merchant_id", "group_id", "valid_from", "valid_until"),
        "percentOff": write_percent(found.percent_off),
        "lines": len(found.lines),
        "state": find_list_state(found, session.services.clock()),
        "revision": found.revision,
    }
