"""Deletes old backups, and the contents that only they had."""

import gzip
from typing import Final, NamedTuple

import msgspec

from printworks.backup.manifest import (
    FileEntry,
    backup_of,
    list_key,
    manifest_key,
)
from printworks.backup.progress import TransferProgress
from printworks.backup.repository import Repository

# Enough of a hash to tell contents apart.
_DIGITS: Final = 32
_read_entry: Final = msgspec.json.Decoder(FileEntry).decode


class Pruned(NamedTuple):
    """How many backups and contents were deleted."""

    backups: int
    contents: int


def prune(repository: Repository, progress: TransferProgress, *, keep: int) -> Pruned:
    """Keep the newest backups, and delete the others with what is left of killed ones.

    Nobody else may be taking a backup at this place meanwhile.
    """
    files = repository.files
    whole = repository.list_backups()
    kept = set(whole[-keep:])
    dropped = [backup_id for backup_id in whole if backup_id not in kept]
    for backup_id in dropped:
        # First of all: what has no manifest is no backup.
        files.delete(manifest_key(backup_id))
    for key in list(files.keys("backups")):
        if backup_of(key) not in kept:
            files.delete(key)
    needed = {digits for backup_id in kept for digits in _list_contents(repository, backup_id)}
    progress.begin("pruning")
    contents = 0
    for key in list(files.keys("contents")):
        progress.advance()
        if key.rpartition("/")[2][:_DIGITS] not in needed:
            files.delete(key)
            contents += 1
    return Pruned(len(dropped), contents)


def _list_contents(repository: Repository, backup_id: str) -> set[str]:
    manifest = repository.read_manifest(backup_id)
    with (
        repository.checked(list_key(backup_id), manifest.files.sha256) as path,
        gzip.open(path, "rb") as listed,
    ):
        return {entry.sha256[:_DIGITS] for entry in map(_read_entry, listed)}
