"""Results on disk: one file for each commit, written after every part."""

import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

import msgspec

from bench.lines import Line
from bench.tools import ROOT
from printworks.store.engine.sqlite import dbapi2 as sqlite

RESULTS: Final = ROOT / "bench" / "results"
PACKAGES: Final = ("msgspec", "psycopg", "sqlalchemy", "starlette", "uvloop")


@dataclass(frozen=True)
class PartResult:
    """What one part found on one database, or why it found nothing."""

    lines: tuple[Line, ...] = ()
    # Tables of what was measured, by name: not compared with budgets, but their explanation.
    # By title, then by line.
    figures: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    failure: str = ""
    seconds: float = 0
    at: str = ""
    # The load of the machine when the part began, and the sizes that were used.
    load: float = 0
    how: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    """All parts that were measured at one commit, by part and database."""

    commit: str
    machine: Mapping[str, Any] = field(default_factory=dict)
    parts: dict[str, dict[str, PartResult]] = field(default_factory=dict)

    def add(self, part: str, database: str, found: PartResult) -> None:
        """Add what a part found, in place of what it found before."""
        self.parts.setdefault(part, {})[database] = found

    def write(self, path: Path) -> None:
        """Store everything so far; a run that is killed loses only the part it was in."""
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(asdict(self), indent=1) + "\n")
        unfinished.replace(path)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a stored result."""
        return msgspec.json.decode(path.read_bytes(), type=cls)


def open_result(path: Path, commit: str) -> Result:
    """Read the result of an earlier run at this commit, or begin one."""
    try:
        return Result.read(path)
    except (FileNotFoundError, msgspec.DecodeError):
        return Result(commit)


def find_commit() -> str:
    """Return the commit that is measured; what is not committed is marked."""
    commit = _git("rev-parse", "--short=12", "HEAD") or "unknown"
    measured = ("src", "requirements", "bench", ":!bench/results", ":!bench/*.md")
    has_changes = _git("status", "--porcelain", "--", *measured)
    return f"{commit}-changed" if has_changes else commit


def find_result(name: str) -> Path:
    """Return the file of a result: a path, or a commit however Git may call it."""
    commit = _git("rev-parse", "--short=12", "--verify", "--quiet", f"{name}^{{commit}}")
    for path in (Path(name), RESULTS / f"{name}.json", RESULTS / f"{commit}.json"):
        if path.is_file():
            return path
    known = ", ".join(sorted(path.stem for path in RESULTS.glob("*.json"))) or "none"
    message = f"There is no result of {name}; results are kept of: {known}."
    raise FileNotFoundError(message)


def _git(*words: str) -> str:
    ended = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return ended.stdout.strip() if ended.returncode == 0 else ""


def describe_machine(folder: Path) -> dict[str, Any]:
    """Return what the figures depend on, and nothing that identifies the machine."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release().partition("-")[0],
        "python": platform.python_version(),
        "sqlite": sqlite.sqlite_version,
        "wrk": _find_version("wrk", "--version"),
        "djpeg": _find_version("djpeg", "-version"),
        "vipsthumbnail": _find_version("vipsthumbnail", "--vips-version"),
        **{package: version(package) for package in PACKAGES},
        "flush_ms": round(_time_a_flush(folder), 3),
    }


def _find_version(*command: str) -> str:
    if not shutil.which(command[0]):
        return "?"
    said = subprocess.run(command, capture_output=True, text=True)
    words = (said.stdout + said.stderr).split()
    return next((word for word in words if any(map(str.isdigit, word))), "?")


def _time_a_flush(folder: Path) -> float:
    """Return how long the disk takes to sync 4 kB, in milliseconds."""
    laps = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(200):
            file.write(bytes(4096))
            file.flush()
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            laps.append((time.perf_counter() - started) * 1000)
    return median(laps)
