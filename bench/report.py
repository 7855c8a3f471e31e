"""Turn samples into a table for people and a file for programs."""

import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench.wrk import Sample
from printworks.store.engine.sqlite import dbapi2 as sqlite

RESULTS: Final = Path(__file__).with_name("results")
QUIET_LOAD: Final = 0.5
# Each figure, where it was measured, with its heading and format.
FIGURES: Final = {
    "per_second": ("requests/s", ",.0f"),
    "cpu_us": ("CPU µs each", ",.0f"),
    "p50_ms": ("p50 ms", ".2f"),
    "p95_ms": ("p95 ms", ".2f"),
    "p99_ms": ("p99 ms", ".2f"),
    "statements_ms": ("before the commit, ms", ".2f"),
}
PACKAGES: Final = ("granian", "msgspec", "pyvips-binary", "sqlalchemy", "starlette", "uvloop")


@dataclass(frozen=True)
class Budget:
    """A budget: the result, the spread of the rounds, and the limit."""

    name: str
    value: float
    low: float
    high: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def is_met(self) -> bool:
        """Return whether the budget is met; without a limit it always is."""
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    @property
    def limit(self) -> str:
        """The limit as text."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return "" if self.at_most is None else f"≤ {self.at_most:g}"


def compare(
    name: str, ours: Sequence[float], theirs: Sequence[float], **limits: float | None
) -> Budget:
    """Compare our figure with theirs, round by round."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return Budget(name, median(ratios), min(ratios), max(ratios), **limits)


def state(name: str, figures: Sequence[float], **limits: float | None) -> Budget:
    """Compare our figure with a fixed limit."""
    return Budget(name, median(figures), min(figures), max(figures), **limits)


def state_most(name: str, figures: Sequence[float], **limits: float | None) -> Budget:
    """Compare our largest figure with a limit for every round."""
    return Budget(name, max(figures), min(figures), max(figures), **limits)


def compare_least(
    name: str, ours: Sequence[float], theirs: Sequence[float], **limits: float | None
) -> Budget:
    """Compare our minimum time with theirs: other load only adds to both."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return Budget(name, min(ours) / min(theirs), min(ratios), max(ratios), **limits)


def subtract_least(
    name: str, ours: Sequence[float], theirs: Sequence[float], **limits: float | None
) -> Budget:
    """Return how much our minimum time is above theirs."""
    gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
    return Budget(name, min(ours) - min(theirs), min(gaps), max(gaps), **limits)


def describe_machine(folder: Path) -> dict[str, Any]:
    """Return what the figures depend on, and nothing that identifies the machine."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": sqlite.sqlite_version,
        "wrk": _find_version_of_wrk(),
        **{package: version(package) for package in PACKAGES},
        "flush_ms": round(_time_a_flush(folder), 3),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def _find_version_of_wrk() -> str:
    if not shutil.which("wrk"):
        return "?"
    said = subprocess.run(["wrk", "--version"], capture_output=True, text=True).stdout.split()
    return said[1] if len(said) > 1 else "?"


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


def summarise(samples: Mapping[str, Sequence[Sample]]) -> dict[str, dict[str, Any]]:
    """Return the medians of all rounds, and the rounds."""
    return {
        name: {
            "per_second": median(sample.per_second for sample in rounds),
            "p50_ms": median(sample.p50 for sample in rounds),
            "p99_ms": median(sample.p99 for sample in rounds),
            "rounds": [asdict(sample) for sample in rounds],
        }
        for name, rounds in samples.items()
    }


def write(result: dict[str, Any], budgets: Sequence[Budget]) -> None:
    """Save the figures under today's date and as the latest."""
    lines = [{**asdict(budget), "is_met": budget.is_met} for budget in budgets]
    today = datetime.now(UTC).date().isoformat()
    text = json.dumps({"date": today, **result, "budgets": lines}, indent=2) + "\n"
    RESULTS.mkdir(exist_ok=True)
    for name in (f"{today}.json", "latest.json"):
        (RESULTS / name).write_text(text)


def show(result: dict[str, Any], budgets: Sequence[Budget]) -> None:
    """Print the tables."""
    console = Console()
    for title in ("throughput", "growth", "pace", "routing", "production", "callbacks"):
        if title in result:
            console.print(_measured(title, result[title]))
    if "pictures" in result:
        console.print(_measured_pictures(result["pictures"]))
    table = Table("ratio or figure", "value", "rounds", "budget", "", title="budgets")
    for budget in budgets:
        verdict = ("[green]met" if budget.is_met else "[red]missed") if budget.limit else ""
        spread = f"{budget.low:.3g} to {budget.high:.3g}"
        table.add_row(budget.name, f"{budget.value:.3g}", spread, budget.limit, verdict)
    console.print(table)
    if result["machine"]["load_at_start"] > QUIET_LOAD:
        console.print("[yellow]The machine was busy: do not trust any single ratio.")


def _measured(title: str, lines: Mapping[str, Mapping[str, Any]]) -> Table:
    shown = {
        key: how for key, how in FIGURES.items() if any(key in line for line in lines.values())
    }
    table = Table("what", title=title)
    for heading, _ in shown.values():
        table.add_column(heading, justify="right")
    for name, line in lines.items():
        figures = [f"{line[key]:{form}}" if key in line else "" for key, (_, form) in shown.items()]
        table.add_row(name, *figures)
    return table


def _measured_pictures(lines: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table("what", title="pictures")
    for heading in ("least CPU ms", "CPU ms", "wall ms", "peak MB"):
        table.add_column(heading, justify="right")
    for name, line in lines.items():
        times = [f"{line[key]:.1f}" for key in ("least_cpu_ms", "cpu_ms", "wall_ms")]
        table.add_row(name, *times, f"{line['peak_mb']:.0f}" if line["peak_mb"] else "")
    return table
