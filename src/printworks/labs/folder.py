"""A hot folder: each job is a folder that the lab moves as its work progresses.

    inbox ─> accepted ─> printing ─> done ──┐
                │            │              ├─> archive <─> delivered
                └────────────┴────> failed ─┘

We put jobs into `inbox` and finished ones into `archive`; the lab makes all other moves. It may
skip steps. Whoever hears from the carrier moves a job from `archive` to `delivered`; we put it back. The disk may be a network share: nothing relies on the clocks of two machines.
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

from printworks.labs.connector import LabUnavailable
from printworks.labs.documents import JobDocument, LabReport, Later, PlacedJob
from printworks.labs.durable_files import (
    copy_checked,
    flush,
    make_folder,
    sync,
    tolerating,
    write_file,
)
from printworks.labs.job_folder import Digests, Fingerprint, JobFolder, read_tracking
from printworks.labs.print_paths import (
    CANCELLED,
    JOB,
    REASON,
    SHEET,
    TRACKING,
    place_prints,
    place_slip,
)
from printworks.labs.sheet import LOGO_NAME, write_sheet
from printworks.rules.production import LabState, is_job_name, read_job_number

log = structlog.get_logger()

INBOX: Final = "inbox"
ACCEPTED: Final = "accepted"
PRINTING: Final = "printing"
DONE: Final = "done"
FAILED: Final = "failed"
DELIVERED: Final = "delivered"
ARCHIVE: Final = "archive"
# In the order in which a job passes through them, so that a search misses none that is moved
# meanwhile.
FOLDERS: Final = (INBOX, ACCEPTED, PRINTING, DONE, FAILED, ARCHIVE, DELIVERED)

# After how many equal polls a job is reported. A note may be half written, a folder half copied,
# and the lab may move a folder before it writes the note.
POLLS: Final = 2
POLLS_WITHOUT_NOTE: Final = 60

_STATES: Final[Mapping[LabState, str]] = {
    LabState.ACCEPTED: ACCEPTED,
    LabState.IN_PRODUCTION: PRINTING,
    LabState.DISPATCHED: DONE,
    LabState.DELIVERED: DELIVERED,
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
    errno.EROFS: "{place} is read-only; mount it for writing, or let the unit of systemd write there.",
}


class _Place(NamedTuple):
    """A job in one of the folders, by its name."""

    folder: str
    name: str

    @property
    def job(self) -> int:
        return read_job_number(self.name)


class FolderLab:
    """Writes jobs below a folder, and reports where the lab has moved them."""

    must_be_polled = True

    def __init__(self, root: Path, print_path: str) -> None:
        self._root = root
        self._print_path = print_path
        self._is_ready = False
        # Guards what is remembered between polls.
        self._lock = Lock()
        self._acknowledged: set[_Place] = set()
        self._polls: dict[_Place, tuple[tuple[Fingerprint, ...], int]] = {}
        self._digests = Digests()

    def place(self, document: JobDocument, files: Mapping[str, Path]) -> Sequence[Later]:
        """Put the complete job into `inbox`, unless the lab has it in any folder already."""
        with self._working(), self._lock_job(read_job_number(document.name)):
            if self._find(document.name) is None:
                self._write_job(document, files)
        return ()

    def cancel(self, name: str) -> None:
        """Remove the job from `inbox`; if the lab has moved it, put a note into its folder."""
        with self._working(), self._lock_job(read_job_number(name)):
            folder = self._find(name)
            if folder == INBOX and not self._remove_from_inbox(name):
                # The lab has just moved it.
                folder = self._find(name)
            if folder in {ACCEPTED, PRINTING}:
                self._write_cancelled(self._path(_Place(folder, name)))

    def poll(self) -> Iterator[LabReport]:
        """Report every job that the lab has moved, unless that was acknowledged already."""
        seen: set[_Place] = set()
        for folder in (ACCEPTED, PRINTING, DONE, FAILED, DELIVERED):
            with self._working():
                places = self._list(folder)
            seen.update(places)
            for place in places:
                report = self._check(place)
                if report is not None:
                    yield report
        with self._lock:
            self._acknowledged &= seen
            self._polls = {
                place: seen_before for place, seen_before in self._polls.items() if place in seen
            }

    def list_jobs(self) -> Iterator[PlacedJob]:
        """Return the jobs in all folders."""
        for folder in FOLDERS:
            with self._working():
                places = self._list(folder)
            for place in places:
                yield PlacedJob(place.name, str(self._path(place)))

    def acknowledge(self, report: LabReport) -> None:
        """Do not repeat a report, and archive the job if nothing can follow. Idempotent."""
        folder = _STATES.get(report.state)
        if folder is None:
            return
        place = _Place(folder, report.name)
        with self._lock:
            self._acknowledged.add(place)
        if folder in {DONE, FAILED, DELIVERED}:
            self._archive(place)

    def erase(self, job: int) -> int:
        """Delete the folders of a job, wherever they are, and copies that people made of them."""
        with self._working(), self._lock_job(job):
            found = [
                path
                for name in (_DRAFTS, *FOLDERS)
                for path in (self._root / name).iterdir()
                if _is_of_job(path.name, job)
            ]
            for path in found:
                _remove(path)
        return len(found)

    def __repr__(self) -> str:
        return f"FolderLab({str(self._root)!r})"

    # Placing and cancelling.

    def _write_job(self, document: JobDocument, files: Mapping[str, Path]) -> None:
        draft = self._root / _DRAFTS / document.name
        # We hold the lock of the job, so the process that made this was killed.
        shutil.rmtree(draft, ignore_errors=True)
        try:
            make_folder(draft)
            self._write(draft, document, files)
            draft.rename(self._path(_Place(INBOX, document.name)))
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
        write_file(draft / SHEET, _write_sheet(document, places, files).encode())
        for folder in [path for path in draft.rglob("*") if path.is_dir()]:
            sync(folder)
        sync(draft)

    def _remove_from_inbox(self, name: str) -> bool:
        # Renamed first, so that the lab cannot start to print what is being removed.
        gone = self._root / _DRAFTS / f"{name}.cancelled"
        shutil.rmtree(gone, ignore_errors=True)
        try:
            self._path(_Place(INBOX, name)).rename(gone)
        except FileNotFoundError:
            return False
        sync(self._root / INBOX)
        shutil.rmtree(gone, ignore_errors=True)
        return True

    def _write_cancelled(self, path: Path) -> None:
        # The lab may have moved the folder since then.
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

    # Polling.

    def _list(self, folder: str) -> list[_Place]:
        """Return the jobs in a folder; other entries are ignored."""
        with os.scandir(self._root / folder) as entries:
            return [
                _Place(folder, entry.name)
                for entry in entries
                if is_job_name(entry.name) and entry.is_dir(follow_symlinks=False)
            ]

    def _check(self, place: _Place) -> LabReport | None:
        with self._lock:
            if place in self._acknowledged:
                return None
        try:
            return self._read(place)
        except FileNotFoundError:
            # It was moved meanwhile; the next poll finds it there.
            return None
        except OSError as error:
            # One folder that cannot be read must not hide the others.
            log.warning(
                "lab folder cannot be read",
                job=place.job,
                path=str(self._path(place)),
                reason=str(error),
            )
            return None

    def _read(self, place: _Place) -> LabReport | None:
        if place.folder == ACCEPTED:
            return LabReport(job=place.job, name=place.name, state=LabState.ACCEPTED)
        if place.folder == PRINTING:
            return LabReport(job=place.job, name=place.name, state=LabState.IN_PRODUCTION)
        with JobFolder.open(self._path(place)) as folder:
            if place.folder == FAILED:
                return self._read_failed(place, folder)
            return self._read_done(place, folder)

    def _read_done(self, place: _Place, folder: JobFolder) -> LabReport | None:
        note = folder.read_note(TRACKING)
        needs_note = place.folder == DONE and folder.is_tracked
        if not self._is_settled(place, folder, has_note=bool(note) or not needs_note):
            return None
        carrier, number, url = read_tracking(note)
        return LabReport(
            job=place.job,
            name=place.name,
            state=LabState.DISPATCHED if place.folder == DONE else LabState.DELIVERED,
            carrier=carrier,
            tracking_number=number,
            tracking_url=url,
            printed=folder.read_printed(self._digests),
        )

    def _read_failed(self, place: _Place, folder: JobFolder) -> LabReport | None:
        reason = " ".join(folder.read_note(REASON).split())
        if not self._is_settled(place, folder, has_note=bool(reason)):
            return None
        is_rejected = reason.casefold().startswith("reject")
        return LabReport(
            job=place.job,
            name=place.name,
            state=LabState.REJECTED if is_rejected else LabState.FAILED,
            reason=reason[:_REASON_LIMIT] or "The lab gave no reason.",
        )

    def _is_settled(self, place: _Place, folder: JobFolder, *, has_note: bool) -> bool:
        fingerprint = folder.fingerprint()
        with self._lock:
            before, polls = self._polls.get(place, (fingerprint, 0))
            polls = polls + 1 if fingerprint == before else 1
            self._polls[place] = (fingerprint, polls)
        return polls >= (POLLS if has_note else POLLS_WITHOUT_NOTE)

    def _archive(self, place: _Place) -> None:
        archive = self._root / ARCHIVE
        # A lab that copies instead of moving may report the same job twice.
        names = chain([place.name], (f"{place.name}-{turn}" for turn in count(2)))
        target = next(path for name in names if not (path := archive / name).exists())
        try:
            self._path(place).rename(target)
        except FileNotFoundError:
            return
        except OSError as error:
            # A file of it may be open. It is acknowledged all the same.
            log.info("lab folder not archived", job=place.job, reason=str(error))

    # The folders themselves.

    def _path(self, place: _Place) -> Path:
        return self._root / place.folder / place.name

    def _find(self, name: str) -> str | None:
        places = (_Place(folder, name) for folder in FOLDERS)
        return next((each.folder for each in places if os.path.lexists(self._path(each))), None)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Create the folders, and translate errors of the operating system."""
        try:
            self._prepare()
            yield
        except OSError as error:
            sentence = _ADVICE.get(error.errno or 0, "{place} cannot be used: {error}.")
            raise LabUnavailable(sentence.format(place=self._root, error=error)) from error

    def _prepare(self) -> None:
        paths = [self._root / name for name in (_DRAFTS, *FOLDERS)]
        if not self._is_ready:
            for path in (self._root, *paths):
                if not path.exists():
                    make_folder(path)
            sync(self._root)
            self._is_ready = True
        for path in paths:
            # A missing disk must not look like an empty folder, and a link would lead elsewhere.
            if not path.is_dir() or path.is_symlink():
                raise LabUnavailable(f"{path} is not a folder; is its disk mounted?")

    @contextmanager
    def _lock_job(self, job: int) -> Iterator[None]:
        """Lock the job, so that no other thread or process places or cancels it."""
        path = self._root / _DRAFTS / f"lock-{job % _LOCKS}"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with tolerating():
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _is_of_job(name: str, job: int) -> bool:
    # Under whatever name it was placed, and `7 - Copy`; not 71.
    digits = str(job)
    return name.startswith(digits) and not name[len(digits) : len(digits) + 1].isdigit()


def _remove(path: Path) -> None:
    """Delete a file, a link or a folder with everything in it; somebody may be faster."""
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _write_sheet(
    document: JobDocument, places: Mapping[str, PurePosixPath], files: Mapping[str, Path]
) -> str:
    small = [item.thumbnail for item in document.items if item.thumbnail in files]
    thumbnails = {name: files[name].read_bytes() for name in small}
    logo = files[LOGO_NAME].read_bytes() if LOGO_NAME in files else None
    where = {name: str(place) for name, place in places.items()}
    return write_sheet(document, where, thumbnails, logo)
