"""The simulated lab: prints nothing, and sends the reports of a real lab on a timetable.

Faults are chosen by words in the merchant's own order id. The same job always gets the same
reports, so tests are reproducible.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from printworks.labs.documents import JobDocument, LabReport, Later, PlacedJob
from printworks.rules.production import LabState

Timetable: TypeAlias = tuple[Later, ...]
Fault: TypeAlias = Callable[[JobDocument, Timetable], Timetable]

# After placing, each up to a tenth earlier or later, so that jobs are spread in time.
ACCEPTED_AFTER: Final = timedelta(seconds=30)
PRODUCED_AFTER: Final = timedelta(minutes=5)
DISPATCHED_AFTER: Final = timedelta(minutes=20)
# How long after dispatch the carrier of a tracked shipment reports that it was delivered.
DELIVERED_AFTER: Final = timedelta(days=2)
# How much later than usual a late job is dispatched.
LATE: Final = timedelta(days=3)
# How long after dispatch the carrier reports that a shipment is lost.
LOST_AFTER: Final = timedelta(days=10)
# Between repeated reports.
AGAIN_AFTER: Final = timedelta(minutes=1)

_WORD: Final = re.compile(r"sandbox:([a-z]+(?:-[a-z]+)*)", re.IGNORECASE)
_CHECK_WEIGHTS: Final = (8, 6, 4, 2, 3, 5, 9, 7)


class SimulatedLab:
    """Accepts every job and stores none: all reports are returned at placing."""

    must_be_polled = False

    def __init__(self, lab_code: str) -> None:
        self._code = lab_code

    def place(self, document: JobDocument, files: Mapping[str, Path]) -> Sequence[Later]:  # noqa: ARG002
        """Return all reports with their times; nothing is printed."""
        timetable = _usual(document)
        for word in list_faults(document.merchant_order_id):
            timetable = FAULTS[word](document, timetable)
        return (*timetable, *_deliver(document, timetable))

    def cancel(self, name: str) -> None:
        """Do nothing: there is no print to stop, and later reports change nothing."""

    def poll(self) -> Iterator[LabReport]:
        """Return nothing: all reports were returned at placing."""
        return iter(())

    def list_jobs(self) -> Iterator[PlacedJob]:
        """Return nothing: no job is stored."""
        return iter(())

    def acknowledge(self, report: LabReport) -> None:
        """Do nothing: no report is ever repeated."""

    def erase(self, job: int) -> int:  # noqa: ARG002
        """Do nothing: no job is stored."""
        return 0

    def __repr__(self) -> str:
        return f"SimulatedLab({self._code!r})"


def list_faults(merchant_order_id: str | None) -> list[str]:
    """Return the faults that an order asks for, in the order of the table."""
    wanted = {word.lower() for word in _WORD.findall(merchant_order_id or "")}
    return [word for word in FAULTS if word in wanted]


def make_tracking_number(job: int) -> str:
    """Return a valid postal tracking number, unique among 100 million.

    ZZ is not the code of a country, so it is never the number of a real shipment.
    """
    digits = f"{job * 61_803_399 % 10**8:08}"
    total = sum(int(digit) * weight for digit, weight in zip(digits, _CHECK_WEIGHTS, strict=True))
    check = {10: 0, 11: 5}.get(11 - total % 11, 11 - total % 11)
    return f"LX{digits}{check}ZZ"


def _usual(document: JobDocument) -> Timetable:
    service = document.service
    number = make_tracking_number(document.job) if service.is_tracked else None
    job = document.job
    dispatched = _report(
        document,
        LabState.DISPATCHED,
        carrier=service.carrier,
        tracking_number=number,
        tracking_url=number and f"https://tracking.example/{number}",
        printed={item.print.name: item.print.sha256 for item in document.items},
    )
    return (
        Later(_vary(ACCEPTED_AFTER, job), _report(document, LabState.ACCEPTED)),
        Later(_vary(PRODUCED_AFTER, job), _report(document, LabState.IN_PRODUCTION)),
        Later(_vary(DISPATCHED_AFTER, job), dispatched),
    )


def _deliver(document: JobDocument, timetable: Timetable) -> Timetable:
    """Return what the carrier reports at the end: only of a shipment that it tracks."""
    sent = [one for one in timetable if one.report.state is LabState.DISPATCHED]
    is_lost = any(one.report.state is LabState.FAILED for one in timetable)
    if is_lost or not sent or sent[0].report.tracking_number is None:
        return ()
    delivered = _report(document, LabState.DELIVERED)
    return (Later(sent[0].wait + _vary(DELIVERED_AFTER, document.job), delivered),)


def _report(document: JobDocument, state: LabState, **facts: Any) -> LabReport:
    return LabReport(job=document.job, name=document.name, state=state, **facts)


def _vary(wait: timedelta, job: int) -> timedelta:
    """Return a wait of whole seconds close to this one, always the same for the job."""
    spread = 0.9 + 0.2 * hashlib.sha256(str(job).encode()).digest()[0] / 255
    return timedelta(seconds=round(wait.total_seconds() * spread))


def _reject_once(document: JobDocument, timetable: Timetable) -> Timetable:
    return timetable if document.rejections else _reject(document, timetable)


def _reject(document: JobDocument, timetable: Timetable) -> Timetable:
    reason = f"The lab {document.lab} cannot make this now."
    rejected = _report(document, LabState.REJECTED, reason=reason)
    return tuple(Later(first.wait, rejected) for first in timetable[:1])


def _fail(document: JobDocument, timetable: Timetable) -> Timetable:
    reason = "The paper jammed and the prints are spoiled."
    failed = _report(document, LabState.FAILED, reason=reason)
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
    lost = _report(document, LabState.FAILED, reason=reason)
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
    """Return the hashes with a wrong one for the first file."""
    wrong = hashlib.sha256(b"another picture").hexdigest()
    return {**printed, **dict.fromkeys(list(printed)[:1], wrong)}


def _twice(_: JobDocument, timetable: Timetable) -> Timetable:
    """Mix up all but the last report, then repeat everything backwards.

    The last stays last: any report after it would be ignored.
    """
    waits = [wait for wait, _ in timetable]
    reports = [report for _, report in timetable]
    mixed = [*reversed(reports[:-1]), *reports[-1:]]
    again = [
        Later(waits[-1] + AGAIN_AFTER * turn, report)
        for turn, report in enumerate(reversed(reports), start=1)
    ]
    return (*map(Later, waits, mixed), *again)


# By the word after `sandbox:` in the merchant's order id. Several are applied from top to bottom.
# `docs/operate/labs.md` explains each.
FAULTS: Final[Mapping[str, Fault]] = {
    "reject": _reject_once,
    "reject-all": _reject,
    "fail": _fail,
    "late": _late,
    "lost": _lost,
    "no-tracking": _no_tracking,
    "wrong-print": _wrong_print,
    "twice": _twice,
    "silent": lambda _document, _timetable: (),
}
