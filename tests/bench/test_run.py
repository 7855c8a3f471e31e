"""A run of the benchmark goes on whatever its parts do."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import run, tools
from bench.lines import Line
from bench.servers import Certificate
from bench.session import QUICK, Session


def a_session(folder: Path) -> Session:
    return Session(folder, "SQLite", Certificate(folder, folder), QUICK, lambda: None)


@pytest.fixture(autouse=True)
def _nothing_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "prepare", lambda _part: None)


def run_part(monkeypatch: pytest.MonkeyPatch, folder: Path, measure: Any, limit: int = 60) -> Any:
    monkeypatch.setitem(run.PARTS, "reading", run.Part(measure))
    return run._run_part("reading", a_session(folder), limit)


def test_a_part_that_fails_keeps_its_lines_and_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(_: Session) -> Iterator[Line]:
        yield Line("GET / hello", 0.4)
        raise ZeroDivisionError("no answers")

    found = run_part(monkeypatch, tmp_path, measure)

    assert found.lines == (Line("GET / hello", 0.4, database="SQLite"),)
    assert found.failure == "ZeroDivisionError: no answers"


def test_a_part_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(_: Session) -> list[Line]:
        while True:
            time.monotonic()

    found = run_part(monkeypatch, tmp_path, measure, limit=1)

    assert found.failure == "PartTimedOut: It took longer than 1 s."


def test_options_override_the_sizes_of_a_quick_run() -> None:
    options = run._read_options(["--quick", "--rounds", "7", "--mixed-seconds", "9"])

    sizes = run._choose_sizes(options)

    assert (sizes.rounds, sizes.mixed_seconds, sizes.seconds) == (7, 9, QUICK.seconds)
