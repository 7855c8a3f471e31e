"""Deletes old backups, and the contents that only they had."""

import gzip
from typing import Final, NamedTuple

import msgspec

from printworks.backup.manifest import (
    BackupDamaged,
    BackupUnusable,
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
    """How many backups and contents were deleted, and which of those that stay cannot be read."""

    backups: int
    contents: int
    unreadable: list[str]


def prune(repository: Repository, progress: TransferProgress, *, keep: int) -> Pruned:
    """Keep the newest backups, and delete the others with what is left of killed ones.

    If one that stays cannot be read, all contents stay, too: it may need them. Nobody else may be
    taking a backup at this place meanwhile.
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
    needed, unreadable = _find_needed(repository, kept)
    if unreadable:
        return Pruned(len(dropped), 0, unreadable)
    progress.begin("pruning")
    contents = 0
    for key in list(files.keys("contents")):
        progress.advance()
        if key.rpartition("/")[2][:_DIGITS] not in needed:
            files.delete(key)
            contents += 1
    return Pruned(len(dropped), contents, [])


def _find_needed(repository: Repository, kept: set[str]) -> tuple[set[str], list[str]]:
    """Return the contents that backups need, and what is wrong with those that cannot be read."""
    needed: set[str] = set()
    unreadable = []
    for backup_id in sorted(kept):
        try:
            needed |= _list_contents(repository, backup_id)
        except (BackupDamaged, BackupUnusable) as error:
            unreadable.append(str(error))
    return needed, unreadable


def _list_contents(repository: Repository, backup_id: str) -> set[str]:
    manifest = repository.read_manifest(backup_id)
    with (
        repository.checked(list_key(backup_id), manifest.files.sha256) as path,
        gzip.open(path, "rb") as listed,
    ):
        return {entry.sha256[:_DIGITS] for entry in map(_read_entry, listed)}
