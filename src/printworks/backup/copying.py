"""Copies an installation to another database, another place for files, or both.

Nobody can write to the source meanwhile. The target says how far it is with every piece, so that a
copy that was killed goes on; and that it is no whole one yet, so that no program works with it.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import Connection, exc

from printworks.actions.services import Services
from printworks.actions.work import Actor
from printworks.backup.manifest import BackupUnusable
from printworks.backup.progress import TransferProgress
from printworks.backup.repository import hash_file
from printworks.backup.threads import in_order
from printworks.files.errors import FileMissing
from printworks.files.store import Files
from printworks.rules.quarantine import Quarantine, QuarantineCause
from printworks.setting_values import read_value
from printworks.settings import SETTINGS, Settings
from printworks.store.engine.sequences import read_sequences, set_sequences
from printworks.store.queue.quarantine import set_quarantine
from printworks.store.tables import schema
from printworks.store.tables.transfer.copies import (
    CopyState,
    count_rows,
    end_copy,
    find_copy,
    identify,
    lock_tables,
    save_copy,
)
from printworks.store.tables.transfer.holds import drop_holds
from printworks.store.tables.transfer.loading import empty_table, find_filled, insert_rows
from printworks.store.tables.transfer.reading import read_pages
from printworks.store.tables.transfer.shapes import (
    Row,
    RowSum,
    TableShape,
    list_numbered,
    list_shapes,
)

# Rows that one transaction adds to the target.
AT_ONCE: Final = 5000
# Written last: they say what the database is.
_LAST: Final = "secrets"
_BITS: Final = 256


class CopiedTable(NamedTuple):
    """A table that is the same in both databases."""

    name: str
    rows: int
    sum: str


class CopiedFiles(NamedTuple):
    """Files that are the same at both places: how many, their bytes, and the sum of their hashes."""

    number: int
    size: int
    sum: str


class Copied(NamedTuple):
    """What was copied; None for what stays where it is."""

    tables: list[CopiedTable] | None
    files: CopiedFiles | None


class Copy:
    """One copy of an installation; without a database or files, those stay where they are."""

    def __init__(
        self, source: Services, target: Services, progress: TransferProgress, actor: Actor
    ) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._actor = actor
        self._shapes = list_shapes()

    def run(self) -> Copied:
        """Copy everything, compare it, and leave the source in quarantine."""
        moves_rows = self._target.settings.database_url != self._source.settings.database_url
        moves_files = self._target.settings.files != self._source.settings.files
        if not moves_rows and not moves_files:
            raise BackupUnusable("Source and target are the same; name another database or place.")
        with self._source.database.writing() as db:
            self._lock(db)
            if moves_rows:
                self._prepare_target(db)
            files = self._copy_files() if moves_files else None
            tables = self._copy_rows(db) if moves_rows else None
            if moves_rows:
                self._leave(db)
        return Copied(tables, files)

    def _lock(self, db: Connection) -> None:
        try:
            lock_tables(db, self._shapes)
        except exc.OperationalError as error:
            raise BackupUnusable(
                "Something is still writing to the database; stop every web and worker process."
            ) from error

    def _prepare_target(self, db: Connection) -> None:
        """Make the tables; refuse a database that has rows, unless they are of this copy."""
        database, mine = self._target.database, identify(db)
        if schema.find_revision(database) is None:
            schema.migrate(database)
        found = schema.find_revision(database)
        if found != schema.LATEST:
            raise BackupUnusable(
                f"The target is at revision {found}, and this program at {schema.LATEST}; name an "
                "empty database."
            )
        with database.writing() as to:
            state = find_copy(to)
            if state is not None and state.source != mine:
                raise BackupUnusable("The target is the unfinished copy of another installation.")
            if state is None:
                filled = find_filled(to, self._shapes)
                if filled is not None:
                    raise BackupUnusable(
                        f"The target is not empty: its table `{filled}` has rows. Name an empty one."
                    )
                empty_table(to, _LAST)
                save_copy(to, CopyState(mine, {}))

    # Rows.

    def _copy_rows(self, db: Connection) -> list[CopiedTable]:
        self._progress.begin("rows", count_rows(db, self._shapes))
        copied = [self._copy_table(db, shape) for shape in self._shapes if shape.name != _LAST]
        self._progress.begin("comparing", sum(table.rows for table in copied))
        with self._target.database.reading() as to:
            for shape in self._shapes:
                if shape.name != _LAST:
                    self._compare(to, shape, copied)
        with self._target.database.writing() as to:
            end_copy(to)
            [last] = [shape for shape in self._shapes if shape.name == _LAST]
            for page in read_pages(db, last):
                insert_rows(to, last, page.rows)
            drop_holds(to)
            set_sequences(to, read_sequences(db, list_numbered(self._shapes)))
        return copied

    def _copy_table(self, db: Connection, shape: TableShape) -> CopiedTable:
        """Copy the rows that are not there yet; add up all of them."""
        with self._target.database.reading() as to:
            state = find_copy(to)
        there = 0 if state is None else state.rows.get(shape.name, 0)
        total = RowSum()
        pending: list[Row] = []
        for page in read_pages(db, shape):
            skipped = max(0, min(len(page.rows), there - total.rows))
            total.add(page.rows)
            pending += page.rows[skipped:]
            if len(pending) >= AT_ONCE:
                self._write(shape, pending, total.rows)
                pending = []
            self._progress.advance(len(page.rows))
        if pending:
            self._write(shape, pending, total.rows)
        return CopiedTable(shape.name, total.rows, total.text)

    def _write(self, shape: TableShape, rows: list[Row], there: int) -> None:
        with self._target.database.writing() as to:
            state = find_copy(to)
            if state is None:
                raise BackupUnusable("Another copy to the same target has ended.")
            insert_rows(to, shape, rows)
            counted = {**state.rows, shape.name: there}
            save_copy(to, msgspec.structs.replace(state, rows=counted))

    def _compare(self, to: Connection, shape: TableShape, copied: list[CopiedTable]) -> None:
        total = RowSum()
        for page in read_pages(to, shape):
            total.add(page.rows)
            self._progress.advance(len(page.rows))
        if CopiedTable(shape.name, total.rows, total.text) not in copied:
            raise BackupUnusable(
                f"The table `{shape.name}` is another in the target. The source was changed since "
                "this copy began: empty the target and copy again."
            )

    def _leave(self, db: Connection) -> None:
        """Let nothing leave the source: the target does all of it from now on."""
        now = self._source.clock()
        set_quarantine(db, Quarantine(QuarantineCause.MOVED, now, now))
        place = self._target.database.url.render_as_string(hide_password=True)
        self._source.system_work(db, self._actor).audit("copy-installation", place)

    # Files.

    def _copy_files(self) -> CopiedFiles:
        source, target = self._source.files, self._target.files
        self._progress.begin("files")
        count = size = total = 0
        for sha256, length in in_order(lambda key: _copy_file(source, target, key), _list(source)):
            count, size = count + 1, size + length
            total += int(sha256, 16)
            self._progress.advance()
        return CopiedFiles(count, size, f"{total % (1 << _BITS):064x}")


def _list(files: Files) -> Iterator[str]:
    return files.keys("")


def _copy_file(source: Files, target: Files, key: str) -> tuple[str, int]:
    """Copy a file unless it is there; return a hash of its key and content, and its size."""
    with source.local(key) as path:
        sha256, size = hash_file(path), path.stat().st_size
        if not _is_there(target, key, sha256, size):
            target.put(key, path)
            if not _is_there(target, key, sha256, size):
                raise BackupUnusable(f"The file {key} is another in the target; copy again.")
    return hashlib.sha256(f"{key} {sha256}".encode()).hexdigest(), size


def _is_there(files: Files, key: str, sha256: str, size: int) -> bool:
    try:
        if files.look(key).size != size:
            return False
        with files.local(key) as path:
            return hash_file(path) == sha256
    except FileMissing:
        return False


def open_target(source: Services, database_url: str, files: str) -> Services:
    """Open what is copied to; empty texts stand for what stays where it is.

    Raise `BadSetting` if the database is no address of one.
    """
    settings = source.settings
    target = msgspec.structs.replace(
        settings,
        database_url=_read_address(database_url, settings) or settings.database_url,
        files=_absolute(files) or settings.files,
    )
    given = {} if database_url else {"database": source.database}
    return Services(target, source.clock, connections=2, given=given)


def _read_address(database_url: str, settings: Settings) -> str:
    if not database_url:
        return ""
    setting = SETTINGS["database_url"]
    return str(read_value(setting, database_url, source="The target", data=settings.data))


def _absolute(files: str) -> str:
    return files if not files or files.startswith("s3://") else str(Path(files).absolute())
