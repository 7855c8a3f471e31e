"""A lab that prints nothing: it says what a lab would say, on a timetable.

What goes wrong is chosen by words in the merchant's own number of the order. The same job
always gets the same answers, so a test that passed yesterday passes today.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from printworks.labs.documents import JobDocument, LabReport, Later
from printworks.rules.production import LabState

Timetable: TypeAlias = tuple[Later, ...]
Fault: TypeAlias = Callable[[JobDocument, Timetable], Timetable]

# After placing, and each up to a tenth earlier or later, so that jobs do not march in step.
ACCEPTED_AFTER: Final = timedelta(seconds=30)
PRODUCED_AFTER: Final = timedelta(minutes=5)
DISPATCHED_AFTER: Final = timedelta(minutes=20)
# How much later than usual a late job is dispatched.
LATE: Final = timedelta(days=3)
# How long after dispatch the carrier admits that a parcel is lost.
LOST_AFTER: Final = timedelta(days=10)
# Between the reports that come once more.
AGAIN_AFTER: Final = timedelta(minutes=1)

_WORD: Final = re.compile(r"sandbox:([a-z]+(?:-[a-z]+)*)", re.IGNORECASE)
_CHECK_WEIGHTS: Final = (8, 6, 4, 2, 3, 5, 9, 7)


class SimulatedLab:
    """Takes every job, and keeps none: whatever it will ever say is said at placing."""

    must_be_looked_at = False

    def __init__(self, lab_code: str) -> None:
        self._code = lab_code

    def place(self, document: JobDocument, files: Mapping[str, Path]) -> Sequence[Later]:  # noqa: ARG002
        """Return what would be reported when; nothing is printed."""
        timetable = _usual(document)
        for word in list_faults(document.merchant_order_id):
            timetable = FAULTS[word](document, timetable)
        return timetable

    def cancel(self, job: int) -> None:
        """Do nothing: there is no print to stop, and what still comes is no news any more."""

    def look(self) -> Iterator[LabReport]:
        """Find nothing: all was said at placing."""
        return iter(())

    def taken(self, report: LabReport) -> None:
        """Do nothing: no report is ever repeated."""

    def __repr__(self) -> str:
        return f"SimulatedLab({self._code!r})"


def list_faults(merchant_order_id: str | None) -> list[str]:
    """Return the faults that an order asks for, in the order of the table."""
    wanted = {word.lower() for word in _WORD.findall(merchant_order_id or "")}
    return [word for word in FAULTS if word in wanted]


def make_tracking_number(job: int) -> str:
    """Return a number as the post of some country would give: no two of 100 million are equal.

    ZZ is the code of no country, so it is never the number of somebody's parcel.
    """
    digits = f"{job * 61_803_399 % 10**8:08}"
    total = sum(int(digit) * weight for digit, weight in zip(digits, _CHECK_WEIGHTS, strict=True))
    check = {10: 0, 11: 5}.get(11 - total % 11, 11 - total % 11)
    return f"LX{digits}{check}ZZ"


def _usual(document: JobDocument) -> Timetable:
    service = document.service
    number = make_tracking_number(document.job) if service.is_tracked else None
    job = document.job
    dispatched = LabReport(
        job=job,
        state=LabState.DISPATCHED,
        carrier=service.carrier,
        tracking_number=number,
        tracking_url=number and f"https://tracking.example/{number}",
        printed={item.print.name: item.print.sha256 for item in document.items},
    )
    return (
        Later(_about(ACCEPTED_AFTER, job), LabReport(job=job, state=LabState.ACCEPTED)),
        Later(_about(PRODUCED_AFTER, job), LabReport(job=job, state=LabState.IN_PRODUCTION)),
        Later(_about(DISPATCHED_AFTER, job), dispatched),
    )


def _about(wait: timedelta, job: int) -> timedelta:
    """Return a wait of whole seconds near this one, always the same for the job."""
    spread = 0.9 + 0.2 * hashlib.sha256(str(job).encode()).digest()[0] / 255
    return timedelta(seconds=round(wait.total_seconds() * spread))


def _reject_once(document: JobDocument, timetable: Timetable) -> Timetable:
    return timetable if document.rejections else _reject(document, timetable)


def _reject(document: JobDocument, timetable: Timetable) -> Timetable:
    reason = f"The lab {document.lab} cannot make this now."
    rejected = LabReport(job=document.job, state=LabState.REJECTED, reason=reason)
    return tuple(Later(first.wait, rejected) for first in timetable[:1])


def _fail(document: JobDocument, timetable: Timetable) -> Timetable:
    reason = "The paper jammed and the prints are spoiled."
    failed = LabReport(job=document.job, state=LabState.FAILED, reason=reason)
    return tuple(
        Later(wait, failed if report.state is LabState.DISPATCHED else report)
        for wait, report in timetable
    )


def _late(_: JobDocument, timetable: Timetable) -> Timetable:
    return tuple(
        Later(wait + LATE if report.state is LabState.DISPATCHED else wait, report)
        for wait, report in timetable
    )


def _lost(document: JobDocument, timetable: Timetable) -> Timetable:
    reason = "The carrier has lost the parcel."
    lost = LabReport(job=document.job, state=LabState.FAILED, reason=reason)
    sent = [wait for wait, report in timetable if report.state is LabState.DISPATCHED]
    return (*timetable, *(Later(wait + LOST_AFTER, lost) for wait in sent))


def _no_tracking(_: JobDocument, timetable: Timetable) -> Timetable:
    return tuple(
        Later(wait, msgspec.structs.replace(report, tracking_number=None, tracking_url=None))
        for wait, report in timetable
    )


def _wrong_print(_: JobDocument, timetable: Timetable) -> Timetable:
    return tuple(
        Later(wait, msgspec.structs.replace(report, printed=_spoil(report.printed)))
        for wait, report in timetable
    )


def _spoil(printed: Mapping[str, str]) -> dict[str, str]:
    """Return the hashes with another one for the first file: some other picture was printed."""
    wrong = hashlib.sha256(b"another picture").hexdigest()
    return {**printed, **dict.fromkeys(list(printed)[:1], wrong)}


def _silent(_: JobDocument, __: Timetable) -> Timetable:
    return ()


def _twice(_: JobDocument, timetable: Timetable) -> Timetable:
    """Mix up all but the last report, and then say everything again, backwards.

    The last stays last: after it nothing else would be news.
    """
    waits = [wait for wait, _ in timetable]
    reports = [report for _, report in timetable]
    mixed = [*reversed(reports[:-1]), *reports[-1:]]
    again = [
        Later(waits[-1] + AGAIN_AFTER * turn, report)
        for turn, report in enumerate(reversed(reports), start=1)
    ]
    return (*map(Later, waits, mixed), *again)


# Read a line as: an order whose number has `sandbox:` and this word in it ... goes wrong so. If
# there are several, they are applied from the top. `docs/operate/labs.md` explains each.
FAULTS: Final[Mapping[str, Fault]] = {
    "reject": _reject_once,
    "reject-all": _reject,
    "fail": _fail,
    "late": _late,
    "lost": _lost,
    "no-tracking": _no_tracking,
    "wrong-print": _wrong_print,
    "twice": _twice,
    "silent": _silent,
}
