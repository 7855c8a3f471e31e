"""What callers rely on, whichever way leads to the lab."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from printworks.labs.connector import LabConnector
from printworks.labs.documents import JobDocument, LabReport
from printworks.rules.production import LabState
from tests.labs.samples import a_file, a_job, files_of, name_of


def test_nothing_is_reported_of_nothing(connector: LabConnector) -> None:
    assert list(connector.poll()) == []


def test_a_job_that_was_just_placed_has_no_news(connector: LabConnector, tmp_path: Path) -> None:
    job = a_job()

    connector.place(job, files_of(job, tmp_path / "files"))

    assert list(connector.poll()) == []


def test_placing_twice_is_placing_once(connector: LabConnector, tmp_path: Path) -> None:
    job = a_job(packing_slip=a_file("slip.pdf"))
    files = files_of(job, tmp_path / "files")

    first = connector.place(job, files)
    second = connector.place(job, files)

    assert list(first) == list(second)


def test_a_job_may_be_placed_by_many_at_the_same_time(
    connector: LabConnector, tmp_path: Path
) -> None:
    job = a_job()
    files = files_of(job, tmp_path / "files")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: list(connector.place(job, files)), range(24)))

    assert all(answer == answers[0] for answer in answers)


def test_what_happens_to_the_files_afterwards_does_not_matter(
    connector: LabConnector, tmp_path: Path
) -> None:
    job = a_job()
    files = files_of(job, tmp_path / "files")
    connector.place(job, files)

    for path in files.values():
        path.unlink()

    assert list(connector.poll()) == []


def test_cancelling_twice_is_harmless(connector: LabConnector, tmp_path: Path) -> None:
    job = a_job()
    connector.place(job, files_of(job, tmp_path / "files"))

    connector.cancel(job.name)
    connector.cancel(job.name)

    assert list(connector.poll()) == []


def test_a_job_that_the_lab_never_had_can_be_cancelled(connector: LabConnector) -> None:
    connector.cancel(name_of(404))

    assert list(connector.poll()) == []


def test_a_job_can_be_placed_although_it_was_cancelled_before(
    connector: LabConnector, tmp_path: Path
) -> None:
    job = a_job()
    files: Mapping[str, Path] = files_of(job, tmp_path / "files")
    connector.cancel(job.name)

    connector.place(job, files)
    connector.cancel(job.name)


def test_every_report_is_about_the_job(connector: LabConnector, tmp_path: Path) -> None:
    job = a_job(job=8_000_000_000)

    later = connector.place(job, files_of(job, tmp_path / "files"))

    assert {report.job for _, report in later} <= {8_000_000_000}


def test_a_document_travels_as_json() -> None:
    job = a_job(packing_slip=a_file("slip.pdf"))

    assert msgspec.json.decode(msgspec.json.encode(job), type=JobDocument) == job


def test_a_report_travels_as_json() -> None:
    report = LabReport(job=7, state=LabState.DISPATCHED, tracking_number="X1", printed={"a": "b"})

    assert msgspec.json.decode(msgspec.json.encode(report), type=LabReport) == report
