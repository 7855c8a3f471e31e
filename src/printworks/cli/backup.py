"""`printworks backup` and `restore`: everything, to a folder or a bucket and back."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from printworks.actions.services import Services
from printworks.backup.manifest import BackupManifest, BackupUnusable
from printworks.backup.repository import Repository
from printworks.backup.restoring import Restore
from printworks.backup.taking import Backup
from printworks.cli.opening import make_data_folder
from printworks.cli.output import note
from printworks.cli.progress import showing_progress
from printworks.cli.session import CommandSession, command

app = typer.Typer()

BackupPlace = Annotated[
    str, typer.Argument(metavar="PLACE", help="A folder, or s3://bucket/folder.")
]
BackupId = Annotated[
    str | None, typer.Option("--backup", help="The ID of a backup; by default the newest.")
]


@command(app, "backup")
def backup(
    session: CommandSession,
    place: BackupPlace,
    *,
    with_key: Annotated[
        bool,
        typer.Option(
            "--with-key", help="Put secret.key into the backup, too: whoever has it reads all."
        ),
    ] = False,
    keep: Annotated[
        int | None, typer.Option(min=1, help="Keep so many backups, and delete older ones.")
    ] = None,
) -> None:
    """Back up the database and the files while the service runs. Exit 1 if a file is missing.

    The first backup at a place copies every file, later ones what is new. A backup that is killed
    leaves none behind; take it again.
    """
    services = session.services
    repository = Repository(place, session.settings, may_be_new=True)
    with showing_progress(is_json=session.is_json) as progress, _ending_in_order():
        under_way = Backup(services, repository, progress)
        taken = under_way.take(with_key=with_key, keep=keep)
    files = taken.files
    # Once, whoever met it.
    unreadable = list(dict.fromkeys(under_way.unreadable))
    session.show(
        {
            **describe_backup(taken),
            "missing": files.missing,
            "damaged": files.damaged,
            "unreadable": unreadable,
        },
        *(f"missing   {key}" for key in files.missing),
        *(f"damaged   {key}" for key in files.damaged),
        f"Backup {taken.id}: {taken.rows:,} rows, {files.count:,} files with "
        f"{write_size(files.size)}, of which {files.new:,} with {write_size(files.new_size)} are "
        "new.",
    )
    if not with_key:
        note(
            f"The key of the secrets is NOT in it: keep a copy of {services.vault.file} elsewhere. "
            "Without it the backup cannot be restored."
        )
    for sentence in unreadable:
        note(f"An earlier backup cannot be read: {sentence}")
    if files.missing or files.damaged:
        note("Rows name files that are missing or damaged; `printworks verify` says more.")
        raise typer.Exit(1)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Clean up before a stop: all rows lie in the data folder, and workers remove no file."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@command(app, "restore")
def restore(
    session: CommandSession,
    place: BackupPlace,
    *,
    backup: BackupId = None,
    skip_damaged: Annotated[
        bool,
        typer.Option("--skip-damaged", help="Leave out files that are damaged in the backup."),
    ] = False,
) -> None:
    """Restore a backup into an empty database and an empty place for files.

    The service is in quarantine then: nothing leaves it until `printworks quarantine end`.
    """
    make_data_folder(session.settings)
    repository = Repository(place, session.settings)
    manifest = choose_backup(repository, backup)
    services = Services(session.settings, connections=2)
    try:
        with showing_progress(is_json=session.is_json) as progress:
            restored = Restore(services, repository, progress).run(
                manifest, session.actor, skip_damaged=skip_damaged
            )
    finally:
        services.close()
    session.show(
        {**describe_backup(manifest), "damaged": restored.damaged},
        *(f"damaged   {key}" for key in restored.damaged),
        f"Restored backup {manifest.id} of {manifest.created_at:%Y-%m-%d %H:%M:%S} UTC: "
        f"{manifest.rows:,} rows, {restored.files:,} files.",
        "The service is in quarantine: it answers, but nothing leaves it.",
        "Run `printworks verify`, then `printworks quarantine show` and `quarantine end`.",
    )
    if restored.damaged:
        raise typer.Exit(1)


def choose_backup(repository: Repository, backup_id: str | None) -> BackupManifest:
    """Return a backup by its id, or the newest."""
    if backup_id is not None:
        return repository.read_manifest(backup_id)
    newest = repository.find_newest()
    if newest is None:
        raise BackupUnusable(f"There is no whole backup in {repository.place}.")
    return newest


def describe_backup(manifest: BackupManifest) -> dict[str, object]:
    """Describe a backup for programs."""
    files = manifest.files
    return {
        "backup": manifest.id,
        "createdAt": manifest.created_at,
        "rows": manifest.rows,
        "files": files.count,
        "bytes": files.size,
        "newFiles": files.new,
        "newBytes": files.new_size,
        "hasKey": manifest.has_key,
    }


def write_size(size: int) -> str:
    """Write a number of bytes as people do."""
    amount, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"
