"""Measure the service against its budgets: `make bench`, or `python -m bench.run`.

Every part is printed and stored as soon as it is measured. A part that fails says why, and the
others go on. Exit code: 0 if no budget is missed, 1 if one is, 2 if a part failed.
"""

import argparse
import fcntl
import logging
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn

import structlog
from rich.console import Console

from bench import tools
from bench.budgets import BOTH, MISSED, NONE, POSTGRESQL
from bench.lines import Line
from bench.parts import (
    arrivals,
    callbacks,
    growth,
    mixed,
    pictures,
    reading,
    routing,
    stalled,
    start,
    steady,
    submitting,
    workers,
    writing,
)
from bench.report import FAILED, list_rows, show_all, show_part
from bench.results import (
    RESULTS,
    PartResult,
    Result,
    describe_machine,
    find_commit,
    open_result,
)
from bench.servers import make_certificate
from bench.session import QUICK, LazyPostgresql, Session, Sizes

INTERRUPTED: Final = 130
LEAST_WIDTH: Final = 140
# A part that takes longer than this hangs.
SECONDS_OF_A_PART: Final = 3600
SECONDS_OF_A_QUICK_PART: Final = 600


@dataclass(frozen=True)
class Part:
    """A function that returns lines, and the databases for which it is called."""

    measure: Callable[[Session], Iterable[Line]]
    databases: tuple[str, ...] = BOTH


PARTS: Final = {
    "reading": Part(reading.measure),
    "writing": Part(writing.measure),
    "submitting": Part(submitting.measure),
    "mixed": Part(mixed.measure),
    # Both databases and the peer in one, since they take turns.
    "callbacks": Part(callbacks.measure, NONE),
    "workers": Part(workers.measure, (POSTGRESQL,)),
    "steady": Part(steady.measure),
    "growth": Part(growth.measure),
    "start": Part(start.measure),
    "stalled": Part(stalled.measure, BOTH[:1]),
    "pictures": Part(pictures.measure, NONE),
    "arrivals": Part(arrivals.measure),
    "routing": Part(routing.measure, BOTH[:1]),
}


class PartTimedOut(Exception):
    """A part took too long."""


def main() -> None:
    """Run the chosen parts; print and store each."""
    options = _read_options()
    # Without bytecode every process that is started would compile all of it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Requests that are answered in this process would be logged among the tables.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    console = Console(width=max(LEAST_WIDTH, shutil.get_terminal_size().columns))
    work = _make_work_folder()
    sizes = _choose_sizes(options)
    commit = find_commit()
    path = RESULTS / f"{commit}{'-quick' if options.quick else ''}.json"
    result = open_result(path, commit)
    result.machine = describe_machine(work)
    this_run = Result(commit, result.machine)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = None
    try:
        for part, database, found in _run_parts(options, work, sizes):
            for kept in (result, this_run):
                kept.add(part, database, found)
            result.write(path)
            show_part(console, part, database, found)
    except KeyboardInterrupt:
        console.print("[red]Interrupted; what was measured before is kept.")
        code = INTERRUPTED
    finally:
        if not options.keep:
            shutil.rmtree(work)
    show_all(console, this_run)
    console.print(f"Kept in {path.relative_to(tools.ROOT)}.")
    sys.exit(_choose_exit_code(this_run) if code is None else code)


def _choose_exit_code(result: Result) -> int:
    verdicts = {row.verdict for row in list_rows(result)}
    if not result.parts or any(
        one.failure for each in result.parts.values() for one in each.values()
    ):
        return 2
    return 1 if MISSED in verdicts or FAILED in verdicts else 0


def _run_parts(
    options: argparse.Namespace, work: Path, sizes: Sizes
) -> Iterator[tuple[str, str, PartResult]]:
    certificate = make_certificate(work)
    limit = SECONDS_OF_A_QUICK_PART if options.quick else SECONDS_OF_A_PART
    # However long these are wanted.
    limit += max(sizes.mixed_seconds, sizes.steady_seconds)
    with LazyPostgresql() as open_postgresql:
        for name in (each for each in PARTS if each in options.only):
            for database in PARTS[name].databases:
                if database and database not in options.database:
                    continue
                folder = work / f"{name}-{database}".lower().rstrip("-")
                folder.mkdir()
                session = Session(folder, database, certificate, sizes, open_postgresql)
                yield name, database, _run_part(name, session, limit)
                if not options.keep:
                    shutil.rmtree(folder)


def _run_part(name: str, session: Session, limit: int) -> PartResult:
    """Measure a part; whatever goes wrong in it ends the part and nothing else."""
    began, load, lines, failure = time.monotonic(), os.getloadavg()[0], list[Line](), ""
    try:
        with _limited_to(limit):
            tools.prepare(name)
            # Lines before a failure are kept.
            lines.extend(PARTS[name].measure(session))
    except Exception as error:  # noqa: BLE001
        traceback.print_exc()
        failure = f"{type(error).__name__}: {error}"
    return PartResult(
        lines=tuple(replace(line, database=line.database or session.database) for line in lines),
        figures=session.figures,
        failure=failure,
        seconds=round(time.monotonic() - began, 1),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        load=round(load, 2),
        how=asdict(session.sizes),
    )


@contextmanager
def _limited_to(seconds: int) -> Iterator[None]:
    """Raise in the middle of the block once its time is up."""

    def give_up(*_: object) -> NoReturn:
        message = f"It took longer than {seconds} s."
        raise PartTimedOut(message)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _make_work_folder() -> Path:
    """Make an empty folder; a second run at the same time would spoil both."""
    work = tools.ROOT / "bench" / ".work"
    lock = os.open(work.with_name(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("Another run of the benchmark is under way.")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / ".gitignore").write_text("*\n")
    return work


def _choose_sizes(options: argparse.Namespace) -> Sizes:
    given = {name: getattr(options, name) for name in asdict(QUICK) if hasattr(options, name)}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return replace(QUICK if options.quick else Sizes(), **chosen)


def _read_options(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small numbers: three minutes in all")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--database", nargs="+", choices=BOTH, default=BOTH)
    parser.add_argument("--rounds", type=_read_count)
    parser.add_argument("--seconds", type=_read_count, help="length of one measurement")
    parser.add_argument("--connections", type=_read_count, help="of those who ask all the time")
    parser.add_argument("--processes", type=_read_count, help="web processes of each server")
    parser.add_argument("--many", type=_read_count, help="orders of the large shop")
    parser.add_argument("--events", type=_read_count, help="callbacks of one measurement")
    parser.add_argument("--mixed-seconds", type=_read_count, help="length of the mixed load")
    parser.add_argument("--steady-seconds", type=_read_count, help="length of the steady load")
    parser.add_argument("--keep", action="store_true", help="keep the work folder and its logs")
    return parser.parse_args(words)


def _read_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        message = "must be a whole number, 1 or more."
        raise argparse.ArgumentTypeError(message)
    return int(text)


if __name__ == "__main__":
    main()
