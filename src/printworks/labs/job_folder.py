"""Reads what a lab has left in the folder of a job. It is not trusted, and may change any time."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple, TypeAlias

import msgspec

from printworks.labs.print_paths import JOB, PRINTED, REASON, TRACKING

# The inode, size and modification time of a file; None without a file.
Fingerprint: TypeAlias = tuple[int, int, int] | None

# A note may be a huge file by mistake.
_NOTE_LIMIT: Final = 4_000
_JSON_LIMIT: Final = 4_000_000
_BLOCK: Final = 1_000_000
_MOST_DIGESTS: Final = 10_000
_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
# A link, a socket, or a file without access counts as missing.
_MISSING: Final = frozenset(
    {errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EACCES, errno.ENXIO, errno.ENAMETOOLONG}
)

_TRACKING_NUMBER: Final = re.compile(r"(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 ./_-]{2,63}")
_URL: Final = re.compile(r"https?://[!-~]{1,500}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# The errors of reading JSON.
_INVALID_JSON: Final = (ValueError, RecursionError)


class Tracking(NamedTuple):
    """What a lab reports about the shipment."""

    carrier: str | None = None
    number: str | None = None
    url: str | None = None


class _Service(msgspec.Struct, frozen=True):
    is_tracked: bool = False


class _StoredJob(msgspec.Struct, frozen=True):
    """The parts of the job document that are needed later."""

    service: _Service = _Service()
    # The path of each print file, by its name.
    files: Mapping[str, str] = {}


_read_job: Final = msgspec.json.Decoder(_StoredJob).decode
_read_printed: Final = msgspec.json.Decoder(dict[str, str]).decode


class JobFolder:
    """The open folder of one job. Links are never followed."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        try:
            self._job = _read_job(self._read(JOB, _JSON_LIMIT))
        except _INVALID_JSON:
            self._job = _StoredJob()

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["JobFolder"]:
        """Open the folder; raise `OSError` if it is not a folder or was moved away."""
        handle = os.open(path, _READ | os.O_DIRECTORY)
        try:
            yield cls(handle)
        finally:
            os.close(handle)

    @property
    def is_tracked(self) -> bool:
        """Whether the shipment should have a tracking number."""
        return self._job.service.is_tracked

    def fingerprint(self) -> tuple[Fingerprint, ...]:
        """Return a value that is the same at two polls if nothing was written in between."""
        names = (TRACKING, REASON, PRINTED, *self._job.files.values())
        return tuple(self._fingerprint(name) for name in names)

    def read_note(self, name: str) -> str:
        """Return the beginning of a text in any encoding; empty without a file."""
        return _decode(self._read(name, _NOTE_LIMIT))

    def read_printed(self, digests: "Digests") -> dict[str, str]:
        """Return the SHA-256 of what was printed: as the lab reports, else of the files there."""
        try:
            said = _read_printed(self._read(PRINTED, _JSON_LIMIT))
        except _INVALID_JSON:
            return self._hash_prints(digests)
        names = {place: name for name, place in self._job.files.items()}
        return {
            names.get(file, file): digest.lower()
            for file, digest in said.items()
            if _SHA256.fullmatch(digest.lower())
        }

    def _hash_prints(self, digests: "Digests") -> dict[str, str]:
        printed = {}
        for name, place in self._job.files.items():
            with self._opened(place) as file:
                if file is not None:
                    printed[name] = digests.of(file)
        return printed

    def _fingerprint(self, name: str) -> Fingerprint:
        with self._opened(name) as file:
            return None if file is None else _fingerprint_of(file)

    def _read(self, name: str, limit: int) -> bytes:
        with self._opened(name) as file:
            return b"" if file is None else os.read(file, limit)

    @contextmanager
    def _opened(self, place: str) -> Iterator[int | None]:
        with self._descended(PurePosixPath(place)) as file:
            is_file = file is not None and stat.S_ISREG(os.fstat(file).st_mode)
            yield file if is_file else None

    @contextmanager
    def _descended(self, place: PurePosixPath) -> Iterator[int | None]:
        # Step by step: any part of the path may be a link, and the lab may have changed the job
        # document.
        if place.is_absolute() or ".." in place.parts or "\0" in str(place) or not place.parts:
            yield None
            return
        handles = [self._handle]
        try:
            with _tolerating_missing():
                for part in place.parts:
                    handles.append(os.open(part, _READ, dir_fd=handles[-1]))
            yield handles[-1] if len(handles) == len(place.parts) + 1 else None
        finally:
            for handle in handles[1:]:
                os.close(handle)


class Digests:
    """Remembers the hashes of files, so that each file is read only once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Fingerprint], str] = {}

    def of(self, file: int) -> str:
        """Return the SHA-256 of an open file."""
        key = (os.fstat(file).st_dev, _fingerprint_of(file))
        if key not in self._known:
            if len(self._known) >= _MOST_DIGESTS:
                self._known.clear()
            self._known[key] = _hash(file)
        return self._known[key]


def read_tracking(note: str) -> Tracking:
    """Read lines such as `carrier: …`, `tracking: …` and `url: …`, or a bare number."""
    found: dict[str, str] = {}
    for line in map(str.strip, note.splitlines()):
        key, colon, value = line.partition(":")
        if _URL.fullmatch(line):
            found.setdefault("url", line)
        elif colon:
            found.setdefault(key.strip().casefold(), value.strip())
        else:
            found.setdefault("tracking", line)
    number, url = found.get("tracking", ""), found.get("url", "")
    return Tracking(
        carrier=found.get("carrier", "")[:64] or None,
        number=number if _TRACKING_NUMBER.fullmatch(number) else None,
        url=url if _URL.fullmatch(url) else None,
    )


@contextmanager
def _tolerating_missing() -> Iterator[None]:
    """Continue if something is missing, or of another kind."""
    try:
        yield
    except OSError as error:
        if error.errno not in _MISSING:
            raise


def _decode(content: bytes) -> str:
    # Notepad writes all of these.
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", errors="replace")
    return "".join(char for char in text if char.isprintable() or char in "\r\n\t").strip()


def _fingerprint_of(file: int) -> tuple[int, int, int]:
    facts = os.fstat(file)
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _hash(file: int) -> str:
    digest = hashlib.sha256()
    while block := os.read(file, _BLOCK):
        digest.update(block)
    return digest.hexdigest()
