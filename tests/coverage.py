"""Measures which lines and branches the tests execute: `pytest -p tests.coverage`.

Tracing doubles the time of a test. This instruments the program instead, and removes each
instrument when it has been reached. What is executed in other processes (services, image
processors) does not count. A run that covers too little fails, and names what is missing.
"""

import ast
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import slipcover


class Floor(NamedTuple):
    """How much of some folders must be covered, of lines and branches together, in per cent."""

    what: str
    folders: tuple[str, ...]
    least: float


SOURCE: Final = "src/printworks/"
FLOORS: Final = (
    Floor("rules and actions", (f"{SOURCE}rules/", f"{SOURCE}actions/"), 100),
    Floor("the whole", (SOURCE,), 95),
)

Files = Mapping[str, Mapping[str, Any]]


class Reached(NamedTuple):
    """A floor, and what was covered."""

    floor: Floor
    percent: float
    files: Files

    @property
    def is_enough(self) -> bool:
        """Whether the floor holds."""
        return self.percent >= self.floor.least


_found = pytest.StashKey[list[Any]]()


def _instrument() -> slipcover.Slipcover:
    """Instrument whatever is imported of the program from now on."""
    measuring = slipcover.Slipcover(immediate=True, branch=True, source=[SOURCE])
    ours = slipcover.FileMatcher(sources=[SOURCE])
    slipcover.ImportManager(measuring, ours).__enter__()
    _instrument_migrations(measuring, ours)
    return measuring


def _instrument_migrations(measuring: slipcover.Slipcover, ours: slipcover.FileMatcher) -> None:
    """Instrument them, too, although they are loaded by their files, and anew for each database.

    Once is enough: to instrument them takes much longer than to migrate.
    """
    load_plainly = importlib.util.spec_from_file_location
    slipcover.wrap_spec_from_file_location(measuring, ours)
    load_measured = importlib.util.spec_from_file_location
    measured: set[str] = set()

    def load(name: str, location: Any = None, **options: Any) -> Any:
        is_first = str(location) not in measured
        measured.add(str(location))
        return (load_measured if is_first else load_plainly)(name, location, **options)

    importlib.util.spec_from_file_location = load


# Before anything of the program is imported.
_measuring: Final = _instrument()


def pytest_configure(config: pytest.Config) -> None:
    """Make room for what each process measures."""
    config.stash[_found] = []


@pytest.hookimpl(optionalhook=True)
def pytest_process_summary() -> tuple[str, Any]:
    """Tell what the tests of a process executed."""
    # The process that leads them adds the files that nobody has imported.
    _measuring.source = None
    return "coverage", _measuring.get_coverage()


@pytest.hookimpl(optionalhook=True)
def pytest_process_ended(config: pytest.Config, summary: dict[str, Any]) -> None:
    """Collect what a process has measured."""
    config.stash[_found].append(summary["coverage"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a complete run that covers too little."""
    config = session.config
    if not _is_part(config):
        config.stash[_found].append(_measuring.get_coverage())
    if session.exitstatus == pytest.ExitCode.OK and _find_low(config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how much was covered, and name what was not where it is too little."""
    for reached in _measure(config):
        floor = reached.floor
        terminalreporter.write_line(
            f"{floor.what}: {reached.percent:.2f} % covered, at least {floor.least} %",
            red=not reached.is_enough,
        )
        if not reached.is_enough:
            for name, file in sorted(reached.files.items()):
                branches = [f"{start}->{end or 'exit'}" for start, end in file["missing_branches"]]
                if missing := ", ".join([*map(str, file["missing_lines"]), *branches]):
                    terminalreporter.write_line(f"  {name}: {missing}")


def _find_low(config: pytest.Config) -> list[Reached]:
    return [reached for reached in _measure(config) if not reached.is_enough]


def _is_part(config: pytest.Config) -> bool:
    """Say whether only some of the tests have run."""
    return bool(config.option.keyword or config.option.markexpr or config.args != ["tests"])


def _measure(config: pytest.Config) -> list[Reached]:
    """Return what was covered, unless only some of the tests have run."""
    if _is_part(config):
        return []
    whole, *others = config.stash[_found]
    for other in others:
        slipcover.merge_coverage(whole, other)
    files = {name: _without_impossible(name, file) for name, file in whole["files"].items()}
    return [_compare(floor, files) for floor in FLOORS]


def _without_impossible(name: str, file: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out the way past all cases of a `match`: mypy proves that there is none."""
    ways = {
        node.lineno: {case.body[0].lineno for case in node.cases}
        for node in ast.walk(ast.parse(Path(name).read_text()))
        if isinstance(node, ast.Match)
    }
    missing = [(at, to) for at, to in file["missing_branches"] if to in ways.get(at, {to})]
    summary = {**file["summary"], "missing_branches": len(missing)}
    return {**file, "missing_branches": missing, "summary": summary}


def _compare(floor: Floor, files: Files) -> Reached:
    chosen = {name: file for name, file in files.items() if name.startswith(floor.folders)}
    covered = sum(_count(file, "covered") for file in chosen.values())
    missing = sum(_count(file, "missing") for file in chosen.values())
    return Reached(floor, 100 * covered / (covered + missing), chosen)


def _count(file: Mapping[str, Any], which: str) -> int:
    summary = file["summary"]
    return int(summary[f"{which}_lines"] + summary[f"{which}_branches"])
