"""`printworks copy`: move to another database, another place for files, or both."""

from typing import Annotated

import typer

from printworks.backup.copying import Copied, Copy, open_target
from printworks.cli.backup import write_size
from printworks.cli.output import note
from printworks.cli.progress import showing_progress
from printworks.cli.session import CommandSession, command
from printworks.cli.supervisor import lock_data_folder

app = typer.Typer()


@command(app, "copy")
def copy(
    session: CommandSession,
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            envvar="PRINTWORKS_COPY_TO",
            help="An empty database, such as postgresql://user:password@host/name.",
        ),
    ] = "",
    files: Annotated[
        str,
        typer.Option("--files", help="An empty place for files: a folder, or s3://bucket/folder."),
    ] = "",
) -> None:
    """Copy everything to another database, another place for files, or both; compare it all.

    Stop the service first. If the copy is stopped, run it again: it goes on. The source is in
    quarantine then. Change `database_url` and `files` in the settings, and start the service.
    """
    if not to and not files:
        raise typer.BadParameter("Say where to: --to a database, --files a place, or both.")
    services = session.services
    target = open_target(services, to, files)
    try:
        with (
            lock_data_folder(session.settings.data),
            showing_progress(is_json=session.is_json) as progress,
        ):
            copied = Copy(services, target, progress, session.actor).run()
    finally:
        target.close()
    session.show(_describe(copied), *_write(copied))
    key_file = services.vault.file
    note(f"The target needs the same key of the secrets: {key_file}, or a copy of it.")


def _describe(copied: Copied) -> dict[str, object]:
    tables, files = copied
    return {
        "tables": None if tables is None else [table._asdict() for table in tables],
        "rows": None if tables is None else sum(table.rows for table in tables),
        "files": None if files is None else files._asdict(),
    }


def _write(copied: Copied) -> list[str]:
    tables, files = copied
    lines = []
    if tables is not None:
        lines = [f"{table.name:<20} {table.rows:>12,}  {table.sum[:16]}" for table in tables]
        rows = sum(table.rows for table in tables)
        lines.append(f"{rows:,} rows of {len(tables)} tables are the same in both databases.")
        lines.append("The source is in quarantine now: nothing leaves it any more.")
    if files is not None:
        size = write_size(files.size)
        lines.append(f"{files.number:,} files with {size} are the same ({files.sum[:16]}).")
    lines.append("Change `database_url` and `files` in the settings, then start the service.")
    return lines
