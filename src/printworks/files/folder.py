"""Stores files in a folder, local or on a disk that several machines share."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from printworks.files.drafts import Drafts
from printworks.files.errors import FileMissing, FilesUnavailable, explain
from printworks.files.store import FileFacts, check_key, check_prefix, is_key

# No key has this character, so the name of a file tells its key.
_SLASH: Final = "_"


class FolderFiles:
    """Stores `proofs/42/preview.jpg` as `proofs/<three hex digits>/42_preview.jpg`.

    The digits are the first of the key's SHA-256. They spread a million files over 4,096
    folders, and one flat level avoids a folder for each order, which would have to be created,
    synced and removed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prepared: set[Path] = set()
        with self._explaining():
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._drafts = Drafts(root / ".tmp")

    def put(self, key: str, source: Path) -> None:
        """Store a copy of a local file; once this returns, it survives a power cut."""
        target = self._path(key)
        with self._explaining(), self._drafts.new() as draft:
            shutil.copyfile(source, draft)
            _sync(draft)
            self._prepare(target.parent)
            draft.rename(target)
            _sync(target.parent)

    def read(self, key: str) -> bytes:
        with self._finding(key) as path:
            return path.read_bytes()

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """Yield the path of the file itself; raise `FileMissing`."""
        with self._finding(key) as path:
            path.stat()
        yield path

    def look(self, key: str) -> FileFacts:
        with self._finding(key) as path:
            found = path.stat()
        return FileFacts(found.st_size, f"{found.st_mtime_ns}-{found.st_ino}")

    def delete(self, key: str) -> None:
        try:
            with self._finding(key) as path:
                path.unlink()
                _sync(path.parent)
        except FileMissing:
            return

    def keys(self, prefix: str = "") -> Iterator[str]:
        """List the keys below a prefix of whole segments, in no order."""
        check_prefix(prefix)
        below = f"{prefix}/" if prefix else ""
        with self._explaining():
            for folder in self._list_folders(prefix.partition("/")[0]):
                with os.scandir(folder) as entries:
                    for entry in entries:
                        key = f"{folder.parent.name}/{entry.name.replace(_SLASH, '/')}"
                        if key.startswith(below) and is_key(key):
                            yield key

    def _list_folders(self, kind: str) -> Iterator[Path]:
        self._check_mounted()
        for each in self._root.iterdir():
            if each.is_dir() and (each.name == kind if kind else each != self._drafts.folder):
                yield from each.iterdir()

    def _path(self, key: str) -> Path:
        check_key(key)
        kind, _, name = key.partition("/")
        digits = hashlib.sha256(key.encode()).hexdigest()[:3]
        return self._root / kind / digits / name.replace("/", _SLASH)

    def _prepare(self, folder: Path) -> None:
        if folder in self._prepared and folder.exists():
            return
        if folder != self._root:
            self._prepare(folder.parent)
        # Also if the folder exists: another process may have just created it, and it might not
        # survive a power cut yet.
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync(folder.parent)
        self._prepared.add(folder)

    @contextmanager
    def _finding(self, key: str) -> Iterator[Path]:
        path = self._path(key)
        with self._explaining():
            try:
                yield path
            except FileNotFoundError as error:
                self._check_mounted()
                raise FileMissing(key) from error

    def _check_mounted(self) -> None:
        # A missing disk must not look as if every file had been deleted.
        if not self._drafts.folder.exists():
            message = f"{self._root} has changed since the start; is its disk mounted?"
            raise FilesUnavailable(message)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise explain(error, str(self._root)) from error


class PlainFolderFiles(FolderFiles):
    """Stores each file under its key as it is, for people who look into the folder: for backups."""

    def keys(self, prefix: str = "") -> Iterator[str]:
        """List the keys below a prefix of whole segments, in no order."""
        check_prefix(prefix)
        with self._explaining():
            self._check_mounted()
            for folder, _, names in os.walk(self._root / prefix):
                for name in names:
                    key = (Path(folder) / name).relative_to(self._root).as_posix()
                    if is_key(key):
                        yield key

    def delete(self, key: str) -> None:
        """Delete a file, and the folders that are empty then. One process at a time may do so."""
        super().delete(key)
        for folder in self._path(key).parents:
            if folder == self._root or not folder.exists() or any(folder.iterdir()):
                break
            with self._explaining():
                folder.rmdir()

    def _path(self, key: str) -> Path:
        check_key(key)
        return self._root / key


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
