"""The simulated lab: its timetable, and what goes wrong on request."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from printworks.labs.documents import LabReport, Later
from printworks.labs.simulated import (
    ACCEPTED_AFTER,
    DISPATCHED_AFTER,
    FAULTS,
    LATE,
    PRODUCED_AFTER,
    SimulatedLab,
    list_faults,
    make_tracking_number,
)
from printworks.rules.production import LabState, is_news
from tests.labs.samples import a_job, an_item

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "labs.md"
ALL_THREE = [LabState.ACCEPTED, LabState.IN_PRODUCTION, LabState.DISPATCHED]
ALL_FOUR = [*ALL_THREE, LabState.DELIVERED]


def answers(
    words: str = "", *, job: int = 7, is_tracked: bool = True, rejections: int = 0
) -> list[Later]:
    """Place a job whose order has these words in its number."""
    document = a_job(
        job,
        is_tracked=is_tracked,
        rejections=rejections,
        merchant_order_id=words,
        items=[an_item(501), an_item(502)],
    )
    return list(SimulatedLab("york").place(document, {}))


def states(later: list[Later]) -> list[LabState]:
    """Return what is reported, in the order in which it arrives."""
    return [report.state for _, report in sorted(later, key=lambda each: each.wait)]


def last(later: list[Later]) -> LabReport:
    """Return what the lab reports at the end; the carrier may report more."""
    theirs = [each for each in later if each.report.state is not LabState.DELIVERED]
    return max(theirs, key=lambda each: each.wait).report


def test_a_job_is_accepted_then_printed_then_dispatched_then_delivered() -> None:
    assert states(answers()) == ALL_FOUR


@pytest.mark.parametrize("words", ["", "sandbox:no-tracking", "sandbox:lost", "sandbox:fail"])
def test_only_a_carrier_that_tracks_a_parcel_says_that_it_was_delivered(words: str) -> None:
    assert LabState.DELIVERED not in states(answers(words, is_tracked=bool(words)))


@pytest.mark.parametrize("job", [1, 2, 3, 4711, 2**62])
def test_the_timetable_is_kept_within_a_tenth(job: int) -> None:
    waits = [wait for wait, _ in answers(job=job)]

    for wait, usual in zip(waits, (ACCEPTED_AFTER, PRODUCED_AFTER, DISPATCHED_AFTER), strict=False):
        assert usual * 0.89 <= wait <= usual * 1.11
        assert wait.microseconds == 0


def test_jobs_do_not_march_in_step_but_each_is_always_the_same() -> None:
    assert len({answers(job=job)[0].wait for job in range(1, 50)}) > 3
    assert answers(job=7) == answers(job=7)


def test_a_tracked_parcel_has_a_number_and_an_address_that_leads_nowhere() -> None:
    report = last(answers())

    assert report.carrier == "DHL"
    assert report.tracking_number is not None
    assert re.fullmatch(r"LX[0-9]{9}ZZ", report.tracking_number)
    assert report.tracking_url == f"https://tracking.example/{report.tracking_number}"


def test_a_parcel_that_is_not_tracked_has_no_number() -> None:
    report = last(answers(is_tracked=False))

    assert (report.tracking_number, report.tracking_url) == (None, None)


def test_no_two_parcels_have_the_same_number() -> None:
    assert len({make_tracking_number(job) for job in range(1, 20_000)}) == 19_999


def test_what_was_printed_is_what_was_sent() -> None:
    items = a_job(items=[an_item(501), an_item(502)]).items

    printed = last(answers()).printed

    assert printed == {item.print.name: item.print.sha256 for item in items}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (None, []),
        ("A-1001", []),
        ("late", []),
        ("sandbox:late", ["late"]),
        ("A-1001 SANDBOX:Late", ["late"]),
        ("sandbox:late-1001", ["late"]),
        ("sandbox:late/1001", ["late"]),
        ("sandbox:reject-all", ["reject-all"]),
        ("sandbox:rejected", []),
        ("sandbox:twice,sandbox:late", ["late", "twice"]),
        ("sandbox:", []),
    ],
)
def test_words_in_the_number_of_the_order_choose_what_goes_wrong(
    text: str | None, faults: list[str]
) -> None:
    assert list_faults(text) == faults


def test_the_first_lab_rejects_and_the_next_does_not() -> None:
    assert states(answers("sandbox:reject")) == [LabState.REJECTED]
    assert last(answers("sandbox:reject")).reason
    assert states(answers("sandbox:reject", rejections=1)) == ALL_FOUR


def test_every_lab_rejects() -> None:
    assert states(answers("sandbox:reject-all", rejections=9)) == [LabState.REJECTED]


def test_production_fails_with_a_reason() -> None:
    failed = answers("sandbox:fail")

    assert states(failed) == [LabState.ACCEPTED, LabState.IN_PRODUCTION, LabState.FAILED]
    assert last(failed).reason


def test_a_late_job_is_dispatched_days_later() -> None:
    usual, late = answers(), answers("sandbox:late")

    assert [b.wait - a.wait for a, b in zip(usual, late, strict=True)] == [
        timedelta(0),
        timedelta(0),
        LATE,
        LATE,
    ]


def test_a_parcel_is_lost_long_after_it_was_dispatched() -> None:
    lost = answers("sandbox:lost")

    assert states(lost) == [*ALL_THREE, LabState.FAILED]
    assert last(lost).reason == "The carrier has lost the parcel."
    assert not is_news(LabState.DISPATCHED, LabState.FAILED)


def test_a_tracked_parcel_comes_without_its_number() -> None:
    report = last(answers("sandbox:no-tracking"))

    assert report.state is LabState.DISPATCHED
    assert (report.tracking_number, report.tracking_url) == (None, None)


def test_another_picture_was_printed() -> None:
    right, wrong = last(answers()).printed, last(answers("sandbox:wrong-print")).printed

    assert [name for name in right if right[name] != wrong[name]] == ["501.jpg"]


def test_a_silent_lab_says_nothing() -> None:
    assert answers("sandbox:silent") == []


def test_every_report_comes_twice_and_mixed_up_and_the_end_is_the_same() -> None:
    twice = answers("sandbox:twice")

    assert sorted(states(twice)) == sorted([*ALL_THREE * 2, LabState.DELIVERED])
    assert states(twice)[:3] == [LabState.IN_PRODUCTION, LabState.ACCEPTED, LabState.DISPATCHED]
    known = LabState.OFFERED
    for state in states(twice):
        known = state if is_news(known, state) else known
    assert known is LabState.DELIVERED


@pytest.mark.parametrize("first", FAULTS)
@pytest.mark.parametrize("second", FAULTS)
def test_any_two_faults_can_be_had_together(first: str, second: str) -> None:
    later = answers(f"sandbox:{first} sandbox:{second}")

    assert all(wait > timedelta(0) for wait, _ in later)


def test_the_repr_says_which_lab_it_is() -> None:
    assert repr(SimulatedLab("york")) == "SimulatedLab('york')"


def test_a_report_can_be_taken() -> None:
    SimulatedLab("york").acknowledge(LabReport(job=404, state=LabState.DISPATCHED))


def test_the_page_for_operators_explains_every_fault_and_no_other() -> None:
    page = PAGE.read_text(encoding="utf-8")

    documented = re.findall(r"^\| `sandbox:([a-z-]+)` \|", page, re.MULTILINE)

    assert documented == list(FAULTS)
