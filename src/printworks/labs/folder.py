"""A hot folder: each job is a folder that the lab moves on as the work goes on.

    inbox ─> accepted ─> printing ─> done ──┐
                │            │              ├─> archive
                └────────────┴────> failed ─┘

We put jobs into `inbox` and finished ones into `archive`; all other moves are the lab's. It may
leave steps out. The disk may be a share: nothing here relies on the clocks of two machines.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Final, NamedTuple

import msgspec
import structlog

from printworks.labs.answers import Digests, JobFolder, Mark, read_tracking
from printworks.labs.connector import LabUnavailable
from printworks.labs.documents import JobDocument, LabReport, Later
from printworks.labs.durable import copy_checked, flush, make_folder, sync, tolerating, write_file
from printworks.labs.print_paths import (
    CANCELLED,
    JOB,
    REASON,
    SHEET,
    TRACKING,
    place_prints,
    place_slip,
)
from printworks.labs.sheet import write_sheet
from printworks.rules.production import LabState

log = structlog.get_logger()

INBOX: Final = "inbox"
ACCEPTED: Final = "accepted"
PRINTING: Final = "printing"
DONE: Final = "done"
FAILED: Final = "failed"
ARCHIVE: Final = "archive"
# In the order in which a job passes through them: whoever searches in it misses none that is
# moved on meanwhile.
FOLDERS: Final = (INBOX, ACCEPTED, PRINTING, DONE, FAILED, ARCHIVE)

# How often something must look the same before it is believed. A note may be half written, and
# a folder half copied; and who moves a folder first may be about to write the note.
LOOKS: Final = 2
LOOKS_WITHOUT_NOTE: Final = 60

_STATES: Final[Mapping[LabState, str]] = {
    LabState.ACCEPTED: ACCEPTED,
    LabState.IN_PRODUCTION: PRINTING,
    LabState.DISPATCHED: DONE,
    LabState.REJECTED: FAILED,
    LabState.FAILED: FAILED,
}
_DRAFTS: Final = ".tmp"
_LOCKS: Final = 64
_REASON_LIMIT: Final = 500
_CANCELLED_NOTE: Final = b"""\
This job is cancelled: please do not print or send it.
If it is done already, carry on as usual.
"""
_ADVICE: Final = {
    errno.ENOSPC: "The disk of {place} is full; make room.",
    errno.EDQUOT: "The disk quota for {place} is used up; raise it or make room.",
    errno.EACCES: "The service may not write in {place}: {error}.",
    errno.EPERM: "The service may not write in {place}: {error}.",
    errno.EROFS: "The disk of {place} is read-only; mount it for writing.",
}


class _Place(NamedTuple):
    """A job in one of the folders."""

    folder: str
    job: int


class FolderLab:
    """Writes jobs below a folder, and reports where the lab has moved them."""

    must_be_looked_at = True

    def __init__(self, root: Path, print_path: str) -> None:
        self._root = root
        self._print_path = print_path
        self._is_ready = False
        # Guards what is remembered between looks.
        self._lock = Lock()
        self._taken: set[_Place] = set()
        self._looks: dict[_Place, tuple[tuple[Mark, ...], int]] = {}
        self._digests = Digests()

    def place(self, document: JobDocument, files: Mapping[str, Path]) -> Sequence[Later]:
        """Let the job appear in `inbox`, whole, unless the lab has it in any folder already."""
        with self._working(), self._turn(document.job):
            if self._find(document.job) is None:
                self._hand_over(document, files)
        return ()

    def cancel(self, job: int) -> None:
        """Take the job out of `inbox`; once it is further, put a note into its folder."""
        with self._working(), self._turn(job):
            folder = self._find(job)
            if folder == INBOX and not self._take_back(job):
                # The lab has moved it a moment ago.
                folder = self._find(job)
            if folder in {ACCEPTED, PRINTING}:
                self._write_cancelled(self._path(_Place(folder, job)))

    def look(self) -> Iterator[LabReport]:
        """Report every job that is not where it was put, unless that was `taken` already."""
        seen: set[_Place] = set()
        for folder in (ACCEPTED, PRINTING, DONE, FAILED):
            with self._working():
                places = self._list(folder)
            seen.update(places)
            for place in places:
                report = self._see(place)
                if report is not None:
                    yield report
        with self._lock:
            self._taken &= seen
            self._looks = {place: kept for place, kept in self._looks.items() if place in seen}

    def taken(self, report: LabReport) -> None:
        """Repeat a report no more, and archive the job if nothing can follow; harmless twice."""
        folder = _STATES.get(report.state)
        if folder is None:
            return
        place = _Place(folder, report.job)
        with self._lock:
            self._taken.add(place)
        if folder in {DONE, FAILED}:
            self._archive(place)

    def __repr__(self) -> str:
        return f"FolderLab({str(self._root)!r})"

    # Placing and taking back.

    def _hand_over(self, document: JobDocument, files: Mapping[str, Path]) -> None:
        draft = self._root / _DRAFTS / str(document.job)
        # We hold the lock of the job: whoever made this was killed.
        shutil.rmtree(draft, ignore_errors=True)
        try:
            make_folder(draft)
            self._write(draft, document, files)
            draft.rename(self._path(_Place(INBOX, document.job)))
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        sync(self._root / INBOX)

    def _write(self, draft: Path, document: JobDocument, files: Mapping[str, Path]) -> None:
        places = place_prints(document, self._print_path)
        for item in document.items:
            copy_checked(files[item.print.name], draft / places[item.print.name], item.print)
        slip = document.packing_slip
        if slip is not None:
            copy_checked(files[slip.name], draft / place_slip(slip.name), slip)
        content = {
            **msgspec.to_builtins(document),
            "files": {name: str(place) for name, place in places.items()},
        }
        write_file(draft / JOB, msgspec.json.format(msgspec.json.encode(content)) + b"\n")
        write_file(draft / SHEET, _draw_sheet(document, places, files).encode())
        for folder in [path for path in draft.rglob("*") if path.is_dir()]:
            sync(folder)
        sync(draft)

    def _take_back(self, job: int) -> bool:
        # Renamed first: nobody shall start to print what is being removed.
        gone = self._root / _DRAFTS / f"{job}.cancelled"
        shutil.rmtree(gone, ignore_errors=True)
        try:
            self._path(_Place(INBOX, job)).rename(gone)
        except FileNotFoundError:
            return False
        sync(self._root / INBOX)
        shutil.rmtree(gone, ignore_errors=True)
        return True

    def _write_cancelled(self, path: Path) -> None:
        # A folder that was moved on since then is past caring.
        with suppress(FileNotFoundError):
            folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
                note = os.open(CANCELLED, flags, 0o660, dir_fd=folder)
                try:
                    os.write(note, _CANCELLED_NOTE)
                    flush(note)
                finally:
                    os.close(note)
            finally:
                os.close(folder)

    # Looking.

    def _list(self, folder: str) -> list[_Place]:
        """Return the jobs in a folder; whatever else lies there is not ours."""
        with os.scandir(self._root / folder) as entries:
            return [
                _Place(folder, int(entry.name))
                for entry in entries
                if _is_job(entry.name) and entry.is_dir(follow_symlinks=False)
            ]

    def _see(self, place: _Place) -> LabReport | None:
        with self._lock:
            if place in self._taken:
                return None
        try:
            return self._read(place)
        except FileNotFoundError:
            # It was moved on meanwhile; the next look finds it there.
            return None
        except OSError as error:
            # One folder that cannot be read must not hide the others.
            log.warning(
                "folder of a lab cannot be read",
                job=place.job,
                path=str(self._path(place)),
                reason=str(error),
            )
            return None

    def _read(self, place: _Place) -> LabReport | None:
        if place.folder == ACCEPTED:
            return LabReport(job=place.job, state=LabState.ACCEPTED)
        if place.folder == PRINTING:
            return LabReport(job=place.job, state=LabState.IN_PRODUCTION)
        with JobFolder.open(self._path(place)) as folder:
            if place.folder == DONE:
                return self._read_done(place, folder)
            return self._read_failed(place, folder)

    def _read_done(self, place: _Place, folder: JobFolder) -> LabReport | None:
        note = folder.read_note(TRACKING)
        if not self._is_believed(place, folder, has_note=bool(note) or not folder.is_tracked):
            return None
        carrier, number, url = read_tracking(note)
        return LabReport(
            job=place.job,
            state=LabState.DISPATCHED,
            carrier=carrier,
            tracking_number=number,
            tracking_url=url,
            printed=folder.read_printed(self._digests),
        )

    def _read_failed(self, place: _Place, folder: JobFolder) -> LabReport | None:
        reason = " ".join(folder.read_note(REASON).split())
        if not self._is_believed(place, folder, has_note=bool(reason)):
            return None
        is_rejected = reason.casefold().startswith("reject")
        return LabReport(
            job=place.job,
            state=LabState.REJECTED if is_rejected else LabState.FAILED,
            reason=reason[:_REASON_LIMIT] or "The lab gave no reason.",
        )

    def _is_believed(self, place: _Place, folder: JobFolder, *, has_note: bool) -> bool:
        mark = folder.mark()
        with self._lock:
            before, looks = self._looks.get(place, (mark, 0))
            looks = looks + 1 if mark == before else 1
            self._looks[place] = (mark, looks)
        return looks >= (LOOKS if has_note else LOOKS_WITHOUT_NOTE)

    def _archive(self, place: _Place) -> None:
        archive = self._root / ARCHIVE
        # A lab that copies in place of moving may send the same job twice.
        names = chain([str(place.job)], (f"{place.job}-{turn}" for turn in count(2)))
        target = next(path for name in names if not (path := archive / name).exists())
        try:
            self._path(place).rename(target)
        except FileNotFoundError:
            return
        except OSError as error:
            # Somebody has a file of it open, perhaps. It is taken, wherever it lies.
            log.info("folder of a lab stays", job=place.job, reason=str(error))

    # The folders themselves.

    def _path(self, place: _Place) -> Path:
        return self._root / place.folder / str(place.job)

    def _find(self, job: int) -> str | None:
        found = (name for name in FOLDERS if os.path.lexists(self._path(_Place(name, job))))
        return next(found, None)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Make the folders ready, and explain what the operating system refuses."""
        try:
            self._prepare()
            yield
        except OSError as error:
            sentence = _ADVICE.get(error.errno or 0, "{place} cannot be used: {error}.")
            text = sentence.format(place=self._root, error=error)
            raise LabUnavailable(text) from error

    def _prepare(self) -> None:
        paths = [self._root / name for name in (_DRAFTS, *FOLDERS)]
        if not self._is_ready:
            for path in (self._root, *paths):
                if not path.exists():
                    make_folder(path)
            sync(self._root)
            self._is_ready = True
        for path in paths:
            # A disk that is gone must not look as if the lab had nothing to say, and a link
            # would lead the lab, or us, somewhere else.
            if not path.is_dir() or path.is_symlink():
                message = f"{path} is not a folder any more; is its disk mounted?"
                raise LabUnavailable(message)

    @contextmanager
    def _turn(self, job: int) -> Iterator[None]:
        """Let nobody else place or cancel the same job, in this process or another."""
        path = self._root / _DRAFTS / f"lock-{job % _LOCKS}"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with tolerating():
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _is_job(name: str) -> bool:
    # Nothing else is a job: `7 - Copy` is what a desktop calls a copy of one.
    return name.isascii() and name.isdecimal() and name[0] != "0" and len(name) < 20


def _draw_sheet(
    document: JobDocument, places: Mapping[str, PurePosixPath], files: Mapping[str, Path]
) -> str:
    small = [item.thumbnail for item in document.items if item.thumbnail in files]
    thumbnails = {name: files[name].read_bytes() for name in small}
    return write_sheet(document, {name: str(place) for name, place in places.items()}, thumbnails)
