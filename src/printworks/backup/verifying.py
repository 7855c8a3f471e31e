"""Checks an installation: rows, money, and that every file that a row names is what it should be."""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from printworks.actions.payments.ledger import verify_ledgers
from printworks.actions.services import Services
from printworks.backup.progress import TransferProgress
from printworks.backup.repository import hash_file
from printworks.backup.threads import in_order
from printworks.files.errors import FileMissing
from printworks.files.store import Files
from printworks.store.engine.integrity import find_faults
from printworks.store.tables.transfer.named_files import NamedFile, list_named_files

# Files that nothing refers to: so many are named.
MOST_ORPHANS: Final = 1000


class FileFault(msgspec.Struct, frozen=True):
    """A file that is not as its row says."""

    key: str
    fault: str


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """How much was checked, and what is wrong."""

    files: int
    merchants: int
    entries: int
    database: list[str]
    ledger: list[str]
    faults: list[FileFault]
    # Files that nothing refers to; not a fault, since some are always on their way.
    orphans: list[str]

    @property
    def is_whole(self) -> bool:
        return not (self.database or self.ledger or self.faults)


def verify(services: Services, progress: TransferProgress, *, is_quick: bool = False) -> Verified:
    """Check everything; with `is_quick`, files by their existence and size alone.

    The service may be running: what was changed meanwhile is looked at again.
    """
    with services.database.reading() as db:
        progress.begin("database")
        database = list(find_faults(db))
        ledger = verify_ledgers(db)
    named = _NamedKeys.of(services)
    progress.begin("files", len(named))
    faults = [
        fault
        for fault in in_order(
            lambda file: _check(services.files, file, is_quick=is_quick), _list(services)
        )
        if _advance(progress) and fault is not None
    ]
    progress.begin("orphans")
    orphans = [key for key in services.files.keys("") if _advance(progress) and key not in named]
    if faults or orphans:
        # By now, some may have been removed, and others named.
        named = _NamedKeys.of(services)
        faults = [fault for fault in faults if fault.key in named]
        orphans = [key for key in orphans if key not in named]
    return Verified(
        files=len(named),
        merchants=ledger.merchants,
        entries=ledger.entries,
        database=database,
        ledger=[f"{fault.whose}: {fault.fault.sentence}" for fault in ledger.faults],
        faults=faults,
        orphans=orphans[:MOST_ORPHANS],
    )


def _advance(progress: TransferProgress) -> bool:
    progress.advance()
    return True


def _list(services: Services) -> Iterator[NamedFile]:
    with services.database.reading() as db:
        yield from list_named_files(db)


def _check(files: Files, file: NamedFile, *, is_quick: bool) -> FileFault | None:
    try:
        facts = files.look(file.key)
        if file.size is not None and facts.size != file.size:
            return FileFault(file.key, f"has {facts.size} bytes instead of {file.size}")
        if facts.size == 0:
            return FileFault(file.key, "is empty")
        if not is_quick:
            with files.local(file.key) as path:
                sha256 = hash_file(path)
                if file.sha256 not in {None, sha256}:
                    return FileFault(file.key, "has another content than its row says")
    except FileMissing:
        return FileFault(file.key, "is missing")
    return None


class _NamedKeys:
    """All keys that rows name, in eight bytes each."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._marks = array("Q", sorted(map(_mark, keys)))

    @classmethod
    def of(cls, services: Services) -> "_NamedKeys":
        return cls(file.key for file in _list(services))

    def __len__(self) -> int:
        return len(self._marks)

    def __contains__(self, key: str) -> bool:
        mark = _mark(key)
        place = bisect_left(self._marks, mark)
        return place < len(self._marks) and self._marks[place] == mark


def _mark(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest())
