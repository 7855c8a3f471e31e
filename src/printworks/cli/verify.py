"""`printworks verify`: are all rows, files and money whole."""

from typing import Annotated

import msgspec
import typer

from printworks.backup.verifying import verify as verify_all
from printworks.cli.output import note
from printworks.cli.progress import showing_progress
from printworks.cli.session import CommandSession, command

app = typer.Typer()


@command(app, "verify")
def verify(
    session: CommandSession,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Look at the existence and size of files alone.")
    ] = False,
) -> None:
    """Check the database, the ledger, and every file that a row names. Exit 1 if one is wrong."""
    services = session.services
    with showing_progress(is_json=session.is_json) as progress:
        found = verify_all(services, progress, is_quick=quick)
    how = "by their size" if quick else "by their content"
    result = "everything is whole" if found.is_whole else "NOT everything is whole"
    session.show(
        {"isWhole": found.is_whole, "isQuick": quick, **msgspec.to_builtins(found)},
        *found.database,
        *found.ledger,
        *(f"{fault.key} {fault.fault}." for fault in found.faults),
        f"{found.files:,} files ({how}), {found.merchants:,} merchants with {found.entries:,} "
        f"ledger entries: {result}.",
    )
    if found.orphans and not session.is_json:
        note(f"Nothing refers to {len(found.orphans):,} files, such as {found.orphans[0]}.")
    if not found.is_whole:
        raise typer.Exit(1)
