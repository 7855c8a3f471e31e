"""What a backup consists of, and how it is written down."""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from printworks.conversion import reader_of
from printworks.store.tables.transfer.shapes import TableShape

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
_FOLDER: Final = "backups"


class BackupDamaged(Exception):
    """A part of a backup is missing or is not what was written; the message names it."""


class BackupUnusable(Exception):
    """A backup, a restore or a copy cannot go on; the message says what to do."""


class TableEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a backup: how many rows, the sum of their hashes, and the file that has them."""

    shape: TableShape
    rows: int
    sum: str
    sha256: str
    size: int


class FileEntry(msgspec.Struct, frozen=True, array_like=True):
    """A file of a backup, by the row that names it; without a hash it was missing."""

    place: tuple[int, int, int]
    key: str
    sha256: str
    size: int
    mark: str


class FileList(msgspec.Struct, frozen=True, kw_only=True):
    """The list of files: how many with how many bytes, what is new, and what was wrong."""

    count: int
    size: int
    new: int
    new_size: int
    # Keys of files that rows name and that could not be copied as they should be.
    missing: list[str]
    damaged: list[str]
    sha256: str


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """All that there is to know about a backup; written last, so that no half of one has it."""

    id: str
    created_at: datetime
    program: str
    revision: str
    environment: str
    database: str
    tables: list[TableEntry]
    # The last number that each table has given to a row.
    sequences: dict[str, int]
    files: FileList
    # The key that opens the secrets, by its id, and whether it is part of the backup.
    sealing_key: str
    has_key: bool
    format: int = FORMAT

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


_read: Final = reader_of(BackupManifest)
_encode: Final = msgspec.json.Encoder().encode


def write_manifest(manifest: BackupManifest) -> bytes:
    """Return a manifest as JSON, with its own hash."""
    content = msgspec.to_builtins(manifest)
    content["seal"] = _seal(content)
    return msgspec.json.format(_encode(content)) + b"\n"


def read_manifest(written: bytes, *, backup_id: str) -> BackupManifest:
    """Read a manifest; raise `BackupDamaged` or, for one of a newer program, `BackupUnusable`."""
    try:
        content = msgspec.json.decode(written)
        seal = content.pop("seal")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise BackupDamaged(f"{MANIFEST} of the backup {backup_id} cannot be read.") from error
    if content.get("format") != FORMAT:
        raise BackupUnusable(
            f"The backup {backup_id} has format {content.get('format')}, and this program reads "
            f"{FORMAT}; use the program that took it, or a newer one."
        )
    if seal != _seal(content):
        raise BackupDamaged(f"{MANIFEST} of the backup {backup_id} is not what was written.")
    return _read(content)


def _seal(content: object) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def manifest_key(backup_id: str) -> str:
    return f"{_FOLDER}/{backup_id}/{MANIFEST}"


def backup_of(key: str) -> str:
    """Return the id of the backup that a key belongs to."""
    return key.split("/")[1]


def rows_key(backup_id: str, table: str) -> str:
    """Return where the rows of a table are: keys have no underscores."""
    return f"{_FOLDER}/{backup_id}/rows/{table.replace('_', '-')}.jsonl.gz"


def list_key(backup_id: str) -> str:
    return f"{_FOLDER}/{backup_id}/files.jsonl.gz"


def secret_key_key(backup_id: str) -> str:
    """Return where the key of the secrets is, if it is part of the backup."""
    return f"{_FOLDER}/{backup_id}/secret.key"


def content_key(sha256: str) -> str:
    """Return where a content is: once, however many files and backups have it."""
    return f"contents/{sha256[:2]}/{sha256}"


def list_parts(manifest: BackupManifest) -> Iterator[tuple[str, str]]:
    """Return the key and the hash of each file that describes a backup."""
    yield list_key(manifest.id), manifest.files.sha256
    for table in manifest.tables:
        yield rows_key(manifest.id, table.shape.name), table.sha256
