"""Restores a backup into an installation that has nothing yet.

The files come first and the rows last, in one transaction: a restore that was killed has not
happened, and the same one can be run again.
"""

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import Connection

from printworks.actions.services import Services
from printworks.actions.work import Actor
from printworks.backup.manifest import (
    BackupDamaged,
    BackupManifest,
    BackupUnusable,
    FileEntry,
    TableEntry,
    content_key,
    list_key,
    list_parts,
    rows_key,
    secret_key_key,
)
from printworks.backup.progress import TransferProgress
from printworks.backup.repository import Repository, has_file, hash_file
from printworks.backup.threads import in_order
from printworks.files.errors import FileMissing
from printworks.rules.quarantine import Quarantine, QuarantineCause
from printworks.store.accounts.secrets import LINKS, about_shared
from printworks.store.engine.sequences import set_sequences
from printworks.store.queue.quarantine import set_quarantine
from printworks.store.tables import schema
from printworks.store.tables.transfer.holds import drop_holds
from printworks.store.tables.transfer.loading import (
    empty_table,
    find_filled,
    insert_rows,
)
from printworks.store.tables.transfer.reading import read_pages
from printworks.store.tables.transfer.shapes import Row, RowSum, TableShape, read_line
from printworks.vault import SecretKeyUnusable, copy_key_file, key_of

PAGE: Final = 2000
# Numbers that are not given again: they may have been given after the backup, to others.
SKIPPED_NUMBERS: Final = 1_000_000
# Rows that would let somebody in who has been signed out since, and what waits for such people.
NOT_RESTORED: Final = ("sessions", "kept_forms")

_read_entry: Final = msgspec.json.Decoder(FileEntry).decode


class Restored(NamedTuple):
    """What was restored, and which files could not be."""

    manifest: BackupManifest
    files: int
    damaged: list[str]


class Restore:
    """One restore of a backup."""

    def __init__(
        self, services: Services, repository: Repository, progress: TransferProgress
    ) -> None:
        self._services = services
        self._repository = repository
        self._progress = progress

    def run(
        self, manifest: BackupManifest, actor: Actor, *, skip_damaged: bool = False
    ) -> Restored:
        """Restore everything; raise `BackupDamaged` or `BackupUnusable` and leave no row behind.

        With `skip_damaged`, files that are damaged in the backup are left out and returned.
        """
        self._check_manifest(manifest)
        self._check_parts(manifest)
        self._prepare_key(manifest)
        self._prepare_database(manifest)
        marker = self._claim_files(manifest)
        files, damaged = self._restore_files(manifest, skip_damaged=skip_damaged)
        self._restore_rows(manifest)
        if manifest.revision != schema.LATEST:
            schema.migrate(self._services.database)
        self._services.files.delete(marker)
        with self._services.database.writing() as db:
            taken_at = f"{manifest.created_at:%Y-%m-%d %H:%M:%S}"
            work = self._services.system_work(db, actor)
            work.audit("restore-backup", f"backup {manifest.id}", takenAt=taken_at)
        return Restored(manifest, files, damaged)

    # What must be right before anything is written.

    def _check_manifest(self, manifest: BackupManifest) -> None:
        if manifest.revision > schema.LATEST:
            raise BackupUnusable(
                f"The backup was taken by printworks {manifest.program} (revision "
                f"{manifest.revision}), which is newer than this program's {schema.LATEST}; "
                "install the newer program."
            )
        if manifest.environment != self._services.environment:
            raise BackupUnusable(
                f"The backup is of a {manifest.environment} service, and the setting `environment` "
                f"is {self._services.environment}."
            )

    def _check_parts(self, manifest: BackupManifest) -> None:
        self._progress.begin("checking", len(manifest.tables) + 1)
        for key, sha256 in list_parts(manifest):
            with self._repository.checked(key, sha256):
                self._progress.advance()

    def _prepare_key(self, manifest: BackupManifest) -> None:
        """Make sure that the key opens the secrets of the backup."""
        vault = self._services.vault
        try:
            if manifest.has_key:
                with self._repository.files.local(secret_key_key(manifest.id)) as copy:
                    copy_key_file(copy, vault.file)
            sealed = self._find_link_key(manifest)
            if not vault.can_open(sealed, about=about_shared(LINKS)):
                raise BackupUnusable(
                    f"The secrets of the backup are encrypted with the key {key_of(sealed)}, which "
                    f"is not in {vault.file}. Copy `secret.key` of the old installation there; it "
                    "is not part of the backup."
                )
        except SecretKeyUnusable as error:
            raise BackupUnusable(str(error)) from error
        except FileMissing as error:
            raise BackupDamaged(f"{error} It is the key of the secrets.") from error

    def _find_link_key(self, manifest: BackupManifest) -> str:
        [table] = [table for table in manifest.tables if table.shape.name == "secrets"]
        names = [column.name for column in table.shape.columns]
        name, value = names.index("name"), names.index("value")
        for row in self._read_rows(manifest, table):
            if row[name] == LINKS:
                return str(row[value])
        raise BackupDamaged("The backup has no secrets.")

    def _prepare_database(self, manifest: BackupManifest) -> None:
        """Make the tables of the backup's version; refuse a database that has rows."""
        database, shapes = self._services.database, _shapes_of(manifest)
        found = schema.find_revision(database)
        if found is None:
            schema.migrate(database, to=manifest.revision)
            return
        if found != manifest.revision:
            raise BackupUnusable(
                f"The database is at revision {found}, and the backup at {manifest.revision}; "
                "restore into an empty database."
            )
        with database.reading() as db:
            filled = find_filled(db, shapes)
        if filled is not None:
            raise BackupUnusable(
                f"This installation is not empty: its table `{filled}` has rows. Restore into an "
                "empty database and an empty place for files, and keep this one until that is done."
            )

    def _claim_files(self, manifest: BackupManifest) -> str:
        """Mark the place for files as that of this restore; refuse one that has files."""
        files, marker = self._services.files, f"restoring/{manifest.id}"
        if next(files.keys(""), None) is not None and not has_file(files, marker):
            raise BackupUnusable(
                f"There are files in {self._services.settings.files} already; restore into an "
                "empty place."
            )
        with NamedTemporaryFile(dir=self._repository.scratch) as empty:
            files.put(marker, Path(empty.name))
        return marker

    # Files.

    def _restore_files(
        self, manifest: BackupManifest, *, skip_damaged: bool
    ) -> tuple[int, list[str]]:
        self._progress.begin("files", manifest.files.count)
        restored, damaged = 0, []
        for entry, fault in in_order(self._restore_file, self._list_files(manifest)):
            self._progress.advance()
            if fault is None:
                restored += 1
                continue
            if not skip_damaged:
                raise BackupDamaged(
                    f"{fault} It is the file {entry.key}. Nothing was restored but files; "
                    "`--skip-damaged` restores all the rest."
                )
            damaged.append(entry.key)
        return restored, damaged

    def _list_files(self, manifest: BackupManifest) -> Iterator[FileEntry]:
        with (
            self._repository.checked(list_key(manifest.id), manifest.files.sha256) as path,
            gzip.open(path, "rb") as listed,
        ):
            yield from (entry for entry in map(_read_entry, listed) if entry.sha256)

    def _restore_file(self, entry: FileEntry) -> tuple[FileEntry, str | None]:
        """Restore a file, unless an earlier try has; return what is wrong with it in the backup."""
        files = self._services.files
        try:
            if _has_same(self._services, entry):
                return entry, None
            with self._repository.checked(content_key(entry.sha256), entry.sha256) as content:
                files.put(entry.key, content)
        except BackupDamaged as error:
            return entry, str(error)
        return entry, None

    # Rows.

    def _restore_rows(self, manifest: BackupManifest) -> None:
        self._progress.begin("rows", manifest.rows)
        with self._services.database.writing() as db:
            empty_table(db, "secrets")
            for table in manifest.tables:
                self._restore_table(db, manifest, table)
            self._progress.begin("verifying", manifest.rows)
            for table in manifest.tables:
                self._verify_table(db, table)
            drop_holds(db)
            for name in NOT_RESTORED:
                empty_table(db, name)
            set_sequences(
                db, {name: last + SKIPPED_NUMBERS for name, last in manifest.sequences.items()}
            )
            cause, now = QuarantineCause.RESTORED, self._services.clock()
            set_quarantine(db, Quarantine(cause, now, manifest.created_at))

    def _restore_table(self, db: Connection, manifest: BackupManifest, table: TableEntry) -> None:
        rows = self._read_rows(manifest, table)
        while page := list(islice(rows, PAGE)):
            insert_rows(db, table.shape, page)
            self._progress.advance(len(page))

    def _read_rows(self, manifest: BackupManifest, table: TableEntry) -> Iterator[Row]:
        key = rows_key(manifest.id, table.shape.name)
        with (
            self._repository.checked(key, table.sha256) as path,
            gzip.open(path, "rb") as lines,
        ):
            for line in lines:
                yield read_line(table.shape, line)

    def _verify_table(self, db: Connection, table: TableEntry) -> None:
        total = RowSum()
        for page in read_pages(db, table.shape):
            total.add(page.rows)
            self._progress.advance(len(page.rows))
        if (total.rows, total.text) != (table.rows, table.sum):
            raise BackupDamaged(
                f"The table `{table.shape.name}` is not what the backup has: {total.rows} rows of "
                f"{table.rows}, or other values. Nothing was restored but files."
            )


def _shapes_of(manifest: BackupManifest) -> list[TableShape]:
    return [table.shape for table in manifest.tables]


def _has_same(services: Services, entry: FileEntry) -> bool:
    try:
        if services.files.look(entry.key).size != entry.size:
            return False
        with services.files.local(entry.key) as path:
            return hash_file(path) == entry.sha256
    except FileMissing:
        return False
