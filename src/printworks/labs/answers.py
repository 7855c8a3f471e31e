"""What a lab has left in the folder of a job, read warily: others write there, at any time."""

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

# Which file it is, how large and when it was written; None while there is none.
Mark: TypeAlias = tuple[int, int, int] | None

# Somebody may leave a film under the name of a note.
_NOTE_LIMIT: Final = 4_000
_JSON_LIMIT: Final = 4_000_000
_BLOCK: Final = 1_000_000
_MOST_DIGESTS: Final = 10_000
_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
# What is a link, a socket, closed to us or impossible is as good as not there.
_NOT_THERE: Final = frozenset(
    {
        errno.ENOENT,
        errno.ELOOP,
        errno.ENOTDIR,
        errno.EACCES,
        errno.ENXIO,
        errno.ENAMETOOLONG,
    }
)

_TRACKING_NUMBER: Final = re.compile(r"(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 ./_-]{2,63}")
_URL: Final = re.compile(r"https?://[!-~]{1,500}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# Whatever reading JSON may end in.
_NONSENSE: Final = (ValueError, RecursionError)


class Tracking(NamedTuple):
    """What a lab says of the parcel."""

    carrier: str | None = None
    number: str | None = None
    url: str | None = None


class _Service(msgspec.Struct, frozen=True):
    is_tracked: bool = False


class _Ticket(msgspec.Struct, frozen=True):
    """What was written into the folder at placing, as far as it matters afterwards."""

    service: _Service = _Service()
    # Where each print file was put, by its name.
    files: Mapping[str, str] = {}


_read_ticket: Final = msgspec.json.Decoder(_Ticket).decode
_read_printed: Final = msgspec.json.Decoder(dict[str, str]).decode


class JobFolder:
    """The folder of one job, as it is while the block lasts. No link is ever followed."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        try:
            self._ticket = _read_ticket(self._read(JOB, _JSON_LIMIT))
        except _NONSENSE:
            self._ticket = _Ticket()

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["JobFolder"]:
        """Open the folder; raise `OSError` if it is none or was moved away."""
        handle = os.open(path, _READ | os.O_DIRECTORY)
        try:
            yield cls(handle)
        finally:
            os.close(handle)

    @property
    def is_tracked(self) -> bool:
        """Whether the parcel should have a tracking number."""
        return self._ticket.service.is_tracked

    def mark(self) -> tuple[Mark, ...]:
        """Return what is the same at two looks if nothing was written in between."""
        names = (TRACKING, REASON, PRINTED, *self._ticket.files.values())
        return tuple(self._mark(name) for name in names)

    def read_note(self, name: str) -> str:
        """Return the beginning of a text in any encoding; empty if there is none."""
        return _decode(self._read(name, _NOTE_LIMIT))

    def read_printed(self, digests: "Digests") -> dict[str, str]:
        """Return the SHA-256 of what was printed: as the lab says, else of what lies there."""
        try:
            said = _read_printed(self._read(PRINTED, _JSON_LIMIT))
        except _NONSENSE:
            return self._hash_prints(digests)
        names = {place: name for name, place in self._ticket.files.items()}
        return {
            names.get(file, file): digest.lower()
            for file, digest in said.items()
            if _SHA256.fullmatch(digest.lower())
        }

    def _hash_prints(self, digests: "Digests") -> dict[str, str]:
        printed = {}
        for name, place in self._ticket.files.items():
            with self._opened(place) as file:
                if file is not None:
                    printed[name] = digests.of(file)
        return printed

    def _mark(self, name: str) -> Mark:
        with self._opened(name) as file:
            return None if file is None else _mark_of(file)

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
        # One step after the other: a link may stand anywhere on the way, and the lab may have
        # written anything at all into the file that says where the prints are.
        if place.is_absolute() or ".." in place.parts or "\0" in str(place) or not place.parts:
            yield None
            return
        handles = [self._handle]
        try:
            with _tolerating_absence():
                for part in place.parts:
                    handles.append(os.open(part, _READ, dir_fd=handles[-1]))
            yield handles[-1] if len(handles) == len(place.parts) + 1 else None
        finally:
            for handle in handles[1:]:
                os.close(handle)


class Digests:
    """Remembers what files hash to, so that a look costs a reading only once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Mark], str] = {}

    def of(self, file: int) -> str:
        """Return the SHA-256 of an open file."""
        key = (os.fstat(file).st_dev, _mark_of(file))
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
def _tolerating_absence() -> Iterator[None]:
    """Go on if something is not there, or is not what it should be."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise


def _decode(content: bytes) -> str:
    # Notepad has written all of these.
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", errors="replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", errors="replace")
    return "".join(char for char in text if char.isprintable() or char in "\r\n\t").strip()


def _mark_of(file: int) -> tuple[int, int, int]:
    facts = os.fstat(file)
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _hash(file: int) -> str:
    digest = hashlib.sha256()
    while block := os.read(file, _BLOCK):
        digest.update(block)
    return digest.hexdigest()
