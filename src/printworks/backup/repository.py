"""Where backups are: a folder or a bucket that has any number of them, and each content once."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Final

from printworks.backup.manifest import (
    MANIFEST,
    BackupDamaged,
    BackupManifest,
    BackupUnusable,
    content_key,
    manifest_key,
    read_manifest,
)
from printworks.files import open_backups
from printworks.files.errors import FileMissing
from printworks.files.scratch import BACKUP, clear_scratch
from printworks.files.store import Files
from printworks.settings import Settings, is_in_s3

_MANIFEST: Final = re.compile(rf"backups/([a-z0-9-]+)/{re.escape(MANIFEST)}")
_TRIES: Final = 3
_RUNNING: Final = "running"
FORGOTTEN_AFTER: Final = timedelta(hours=1)


class Repository:
    """The backups at one place."""

    def __init__(self, place: str, settings: Settings, *, may_be_new: bool = False) -> None:
        self.place = place
        _check_place(place, settings, may_be_new=may_be_new)
        self.files: Files = open_backups(place, settings)
        self.scratch = settings.data / "tmp"
        self.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)

    def list_backups(self) -> list[str]:
        """Return the ids of all whole backups, the newest last."""
        found = (_MANIFEST.fullmatch(key) for key in self.files.keys("backups"))
        return sorted(match[1] for match in found if match)

    def read_manifest(self, backup_id: str) -> BackupManifest:
        """Return what a backup consists of."""
        try:
            written = self.files.read(manifest_key(backup_id))
        except (FileMissing, ValueError) as error:
            message = f"There is no whole backup {backup_id!r} in {self.place}."
            raise BackupUnusable(message) from error
        return read_manifest(written, backup_id=backup_id)

    def find_newest(self) -> BackupManifest | None:
        """Return the newest backup; None if there is none."""
        found = self.list_backups()
        return self.read_manifest(found[-1]) if found else None

    def claim(self, backup_id: str, *, now: datetime) -> None:
        """Say that a backup is being taken here; call it again now and then.

        Raise `BackupUnusable` if another one is: the first to be killed is forgotten after an hour.
        """
        mine = f"{_RUNNING}/{backup_id}"
        self.put_bytes(mine, now.isoformat().encode())
        for key in list(self.files.keys(_RUNNING)):
            if key == mine:
                continue
            if now - self._read_time(key) < FORGOTTEN_AFTER:
                self.files.delete(mine)
                raise BackupUnusable(
                    f"Another backup is being taken to {self.place} ({key.rpartition('/')[2]}); "
                    "wait until it is done, or for an hour if it was killed."
                )
            self.files.delete(key)

    def release(self, backup_id: str) -> None:
        """Say that a backup is no longer being taken."""
        self.files.delete(f"{_RUNNING}/{backup_id}")

    def _read_time(self, key: str) -> datetime:
        try:
            return datetime.fromisoformat(self.files.read(key).decode())
        except (FileMissing, ValueError):
            return datetime.min.replace(tzinfo=UTC)

    def put(self, key: str, source: Path) -> None:
        self.files.put(key, source)

    def put_bytes(self, key: str, content: bytes) -> None:
        """Store a small file."""
        with NamedTemporaryFile(dir=self.scratch) as file:
            file.write(content)
            file.flush()
            self.files.put(key, Path(file.name))

    def put_content(self, source: Path, sha256: str) -> None:
        """Store a content under its hash, and read it again.

        Raise `BackupUnusable` if it is another: the source is replaced all the time, or a disk does
        not keep what it is given.
        """
        key = content_key(sha256)
        for _ in range(_TRIES):
            self.files.put(key, source)
            with self.files.local(key) as stored:
                if hash_file(stored) == sha256:
                    return
        self.files.delete(key)
        raise BackupUnusable(f"{source} cannot be copied to {self.place}: what is read is another.")

    def has_content(self, sha256: str, size: int) -> bool:
        """Say whether a content is there, with this size."""
        try:
            return self.files.look(content_key(sha256)).size == size
        except FileMissing:
            return False

    @contextmanager
    def checked(self, key: str, sha256: str) -> Iterator[Path]:
        """Yield a path to read a file of a backup from; raise `BackupDamaged` unless it is whole."""
        try:
            with self.files.local(key) as path:
                if hash_file(path) != sha256:
                    raise BackupDamaged(f"{key} in {self.place} is not what was written.")
                yield path
        except FileMissing as error:
            raise BackupDamaged(f"{key} is missing in {self.place}.") from error

    @contextmanager
    def new_folder(self) -> Iterator[Path]:
        """Yield a folder for what is written before it is stored; touch it now and then."""
        clear_scratch(self.scratch)
        with TemporaryDirectory(prefix=BACKUP, dir=self.scratch) as name:
            yield Path(name)


def _check_place(place: str, settings: Settings, *, may_be_new: bool) -> None:
    """Refuse a folder on a disk that is not mounted, and one among the files of the service."""
    if is_in_s3(place):
        return
    folder = Path(place).absolute()
    wanted = folder.parent if may_be_new else folder
    if not wanted.is_dir():
        raise BackupUnusable(f"{wanted} is not a folder; is its disk mounted?")
    if not is_in_s3(settings.files) and folder.resolve().is_relative_to(Path(settings.files)):
        raise BackupUnusable(f"{folder} is where the service keeps its own files; choose another.")


def has_file(files: Files, key: str) -> bool:
    """Say whether a store has a file."""
    try:
        files.look(key)
    except FileMissing:
        return False
    return True


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
