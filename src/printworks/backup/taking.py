"""Takes a backup while the service runs.

The rows are read in one snapshot, and with them the list of the files that they name. Then the
files are copied. Meanwhile nothing removes a file: workers wait with that for the end of the backup.
The manifest is written last.
"""

import gzip
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple, TypeGuard

import msgspec
from sqlalchemy import Connection

from printworks import __version__
from printworks.actions.services import Services
from printworks.backup.manifest import (
    BackupDamaged,
    BackupManifest,
    BackupUnusable,
    FileEntry,
    FileList,
    TableEntry,
    list_key,
    manifest_key,
    rows_key,
    secret_key_key,
    write_manifest,
)
from printworks.backup.progress import TransferProgress
from printworks.backup.pruning import prune
from printworks.backup.repository import Repository, hash_file
from printworks.backup.threads import in_order
from printworks.files.errors import FileMissing
from printworks.files.store import FileFacts
from printworks.store.accounts.secrets import SEALING_KEY, find_secret
from printworks.store.engine.database import consistent_snapshot
from printworks.store.engine.sequences import read_sequences
from printworks.store.tables import schema
from printworks.store.tables.transfer.holds import hold_files, let_files_go
from printworks.store.tables.transfer.named_files import NamedFile, list_named_files
from printworks.store.tables.transfer.reading import read_pages
from printworks.store.tables.transfer.shapes import (
    RowSum,
    TableShape,
    list_numbered,
    list_shapes,
    write_line,
)

# How long files stay for a backup that has been killed, and how often a living one says so.
HOLD: Final = timedelta(hours=1)
SAY_SO_EVERY: Final = timedelta(minutes=1)
# Fast enough: most of the time goes into reading rows.
COMPRESSION: Final = 3

_read_entry: Final = msgspec.json.Decoder(FileEntry).decode
_read_named: Final = msgspec.json.Decoder(NamedFile).decode
_encode: Final = msgspec.json.Encoder().encode


class Backup:
    """One backup that is being taken."""

    def __init__(
        self, services: Services, repository: Repository, progress: TransferProgress
    ) -> None:
        self._services = services
        self._repository = repository
        self._progress = progress
        self._created_at = services.clock()
        # Sorted by name, they are sorted by time.
        self.id = f"{self._created_at:%Y%m%dt%H%M%Sz-%f}-{secrets.token_hex(3)}"
        self._said_so = self._created_at
        # Where things are written before they are stored.
        self._folder: Path | None = None
        # What is wrong with earlier backups, which is no reason to take none.
        self.unreadable: list[str] = []

    def take(self, *, with_key: bool = False, keep: int | None = None) -> BackupManifest:
        """Copy everything, and return what there is now. A backup that fails leaves no manifest.

        With `keep`, only so many backups stay: this one and those before it.
        """
        with self._holding_files():
            manifest = self._take(with_key=with_key)
            if keep is not None:
                pruned = prune(self._repository, self._progress, keep=keep)
                self.unreadable += pruned.unreadable
        return manifest

    def _take(self, *, with_key: bool) -> BackupManifest:
        before = self._find_before()
        with self._repository.new_folder() as folder:
            self._folder = folder
            tables, sequences, sealing_key = self._write_rows(folder)
            self._progress.begin("tables", len(tables))
            for table in tables:
                self._store(rows_key(self.id, table.shape.name), _rows_file(folder, table.shape))
            files = self._copy_files(folder, before)
            self._store(list_key(self.id), folder / "files")
            self._folder = None
        if with_key:
            key_file = self._services.vault.file
            self._repository.put(secret_key_key(self.id), key_file)
        manifest = BackupManifest(
            id=self.id,
            created_at=self._created_at,
            program=__version__,
            revision=schema.LATEST,
            environment=self._services.environment,
            database="sqlite" if self._services.database.is_sqlite else "postgresql",
            tables=tables,
            sequences=sequences,
            files=files,
            sealing_key=sealing_key,
            has_key=with_key,
        )
        self._repository.put_bytes(manifest_key(self.id), write_manifest(manifest))
        return manifest

    def _find_before(self) -> BackupManifest | None:
        """Return the last backup; None if there is none that can be read."""
        try:
            return self._repository.find_newest()
        except (BackupDamaged, BackupUnusable) as error:
            self.unreadable.append(str(error))
            return None

    def _store(self, key: str, source: Path) -> None:
        """Store a file that describes the backup, and read it again."""
        self._repository.put(key, source)
        with self._repository.checked(key, hash_file(source)):
            self._advance()

    # The files must stay.

    @contextmanager
    def _holding_files(self) -> Iterator[None]:
        try:
            self._hold(self._created_at)
            yield
        finally:
            with self._services.database.writing() as db:
                let_files_go(db, self.id)
            self._repository.release(self.id)

    def _hold(self, now: datetime) -> None:
        self._repository.claim(self.id, now=now)
        with self._services.database.writing() as db:
            hold_files(db, self.id, until=now + HOLD)

    def _advance(self, pieces: int = 1) -> None:
        self._progress.advance(pieces)
        now = self._services.clock()
        if now - self._said_so >= SAY_SO_EVERY:
            self._said_so = now
            self._hold(now)
            if self._folder is not None:
                self._folder.touch()

    # Rows.

    def _write_rows(self, folder: Path) -> tuple[list[TableEntry], dict[str, int], str]:
        """Write every row of one snapshot, and the list of the files that they name."""
        shapes = list_shapes()
        self._progress.begin("rows")
        with self._services.database.reading() as db, consistent_snapshot(db):
            tables = [self._write_table(db, folder, shape) for shape in shapes]
            with (folder / "named").open("wb") as named:
                for file in list_named_files(db):
                    named.write(_encode(file) + b"\n")
            sealing_key = find_secret(db, SEALING_KEY) or ""
            # After the rows: they are not part of the snapshot, and must not be behind it.
            return tables, read_sequences(db, list_numbered(shapes)), sealing_key

    def _write_table(self, db: Connection, folder: Path, shape: TableShape) -> TableEntry:
        total, path = RowSum(), _rows_file(folder, shape)
        # On SQLite too, holding the files would wait for nobody: readers do not block writers.
        with gzip.open(path, "wb", compresslevel=COMPRESSION) as file:
            for page in read_pages(db, shape):
                total.add(page.rows)
                file.writelines(write_line(row) + b"\n" for row in page.rows)
                self._progress.advance(len(page.rows))
        return TableEntry(
            shape=shape,
            rows=total.rows,
            sum=total.text,
            sha256=hash_file(path),
            size=path.stat().st_size,
        )

    # Files.

    def _copy_files(self, folder: Path, before: BackupManifest | None) -> FileList:
        with (folder / "named").open("rb") as named:
            total = sum(1 for _ in named)
        self._progress.begin("files", total)
        counted = _Counted()
        known = self._find_known(before)
        with (
            (folder / "named").open("rb") as named,
            gzip.open(folder / "files", "wb", compresslevel=COMPRESSION) as listed,
        ):
            work = ((file, known.find(file)) for file in map(_read_named, named))
            for copied in in_order(lambda pair: self._copy(*pair), work):
                counted.add(copied)
                listed.write(_encode(copied.entry) + b"\n")
                self._advance()
        return counted.finish(hash_file(folder / "files"))

    def _find_known(self, before: BackupManifest | None) -> "_KnownFiles":
        """Return the files of the last backup; none, so that all are read, if it is damaged."""
        try:
            return _KnownFiles(self._list_known(before))
        except BackupDamaged as error:
            self.unreadable.append(str(error))
            return _KnownFiles(iter(()))

    def _list_known(self, before: BackupManifest | None) -> Iterator[FileEntry]:
        """Return the files of the last backup, in the order of their rows."""
        if before is None:
            return
        with (
            self._repository.checked(list_key(before.id), before.files.sha256) as path,
            gzip.open(path, "rb") as listed,
        ):
            yield from map(_read_entry, listed)

    def _copy(self, file: NamedFile, known: FileEntry | None) -> "_Copied":
        """Copy a file unless its content is there."""
        files, repository = self._services.files, self._repository
        try:
            facts = files.look(file.key)
            if _is_same(known, file, facts) and repository.has_content(known.sha256, known.size):
                return _Copied(known)
            with files.local(file.key) as path:
                sha256, size = hash_file(path), path.stat().st_size
                is_new = not repository.has_content(sha256, size)
                if is_new:
                    repository.put_content(path, sha256)
        except FileMissing:
            return _Copied(FileEntry(file.place, file.key, "", 0, ""))
        entry = FileEntry(file.place, file.key, sha256, size, facts.mark)
        return _Copied(entry, is_new, is_damaged=file.sha256 not in {None, sha256})


def _is_same(known: FileEntry | None, file: NamedFile, facts: FileFacts) -> TypeGuard[FileEntry]:
    """Whether a file was not written since the last backup."""
    return known is not None and (known.key, known.size, known.mark) == (file.key, *facts)


def _rows_file(folder: Path, shape: TableShape) -> Path:
    return folder / f"{shape.name}.jsonl.gz"


class _Copied(NamedTuple):
    """A file of the backup; whether its content is new there, and not what its row says."""

    entry: FileEntry
    is_new: bool = False
    is_damaged: bool = False


class _KnownFiles:
    """The files of the last backup; asked for in their order, so that few are in memory."""

    def __init__(self, entries: Iterator[FileEntry]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def find(self, file: NamedFile) -> FileEntry | None:
        while self._next is not None and self._next.place < file.place:
            self._next = next(self._entries, None)
        found = self._next
        if found is None or found.place != file.place or not found.sha256:
            return None
        # A file whose row knows its hash must have that one.
        return found if file.sha256 in {None, found.sha256} else None


class _Counted:
    """Adds up what was copied."""

    def __init__(self) -> None:
        self._values = dict.fromkeys(("count", "size", "new", "new_size"), 0)
        self._missing: list[str] = []
        self._damaged: list[str] = []

    def add(self, copied: _Copied) -> None:
        entry = copied.entry
        if not entry.sha256:
            self._missing.append(entry.key)
            return
        if copied.is_damaged:
            self._damaged.append(entry.key)
        self._values["count"] += 1
        self._values["size"] += entry.size
        if copied.is_new:
            self._values["new"] += 1
            self._values["new_size"] += entry.size

    def finish(self, sha256: str) -> FileList:
        return FileList(**self._values, missing=self._missing, damaged=self._damaged, sha256=sha256)
