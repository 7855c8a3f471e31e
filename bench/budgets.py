"""The budgets of the service, one line for each promise.

Ratios are ours against a peer measured in the same run; figures carry their unit in the name.
A line that a part measures without a budget explains the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bench.lines import Line

SQLITE: Final = "SQLite"
POSTGRESQL: Final = "PostgreSQL"
BOTH: Final = (SQLITE, POSTGRESQL)
# What does not touch a database, or not one of ours alone.
NONE: Final = ("",)

MET: Final = "met"
MISSED: Final = "missed"
INCONCLUSIVE: Final = "inconclusive"


@dataclass(frozen=True)
class Budget:
    """A limit, and the databases for which it holds."""

    at_least: float | None = None
    at_most: float | None = None
    databases: tuple[str, ...] = BOTH

    def __str__(self) -> str:
        return f"≥ {self.at_least:g}" if self.at_least is not None else f"≤ {self.at_most:g}"

    def admits(self, value: float) -> bool:
        """Return whether a value is within the budget."""
        if self.at_least is not None:
            return value >= self.at_least
        return self.at_most is None or value <= self.at_most

    def judge(self, line: Line) -> str:
        """Return whether a line is met or missed, or whether its rounds lie on both sides."""
        if line.value is None:
            return MISSED
        if line.spread and len({self.admits(value) for value in line.spread}) > 1:
            return INCONCLUSIVE
        return MET if self.admits(line.value) else MISSED


def at_least(limit: float, databases: tuple[str, ...] = BOTH) -> Budget:
    """Promise this much or more."""
    return Budget(at_least=limit, databases=databases)


def at_most(limit: float, databases: tuple[str, ...] = BOTH) -> Budget:
    """Promise this much or less."""
    return Budget(at_most=limit, databases=databases)


# By part, in the order in which they are run.
BUDGETS: Final[Mapping[str, Mapping[str, Budget]]] = {
    "reading": {
        "GET / hello": at_least(0.35),
        "GET with 3 images and 2 shipments / hello": at_least(0.25),
        "304 / hello": at_least(0.4),
        "GET / FastAPI": at_least(8),
        "SubmissionStatus / GET with images": at_least(0.7),
    },
    "writing": {
        "create / bare INSERTs": at_least(0.45),
        "add image / create": at_least(0.5),
        "100th image / 1st": at_most(1.3),
        "batch of 100 / one image": at_most(8),
    },
    "submitting": {
        "submit of 20 items / create": at_least(0.15),
        "longest wait of others, ms": at_most(50),
    },
    "mixed": {
        "p99 at 200/s, ms": at_most(100),
        "errors": at_most(0),
        "memory of a web process, MB": at_most(120),
        "memory of a web process, end / start": at_most(1.1),
    },
    "callbacks": {
        "deliveries, ours / PgQueuer with 32 jobs in hand": at_least(1, (POSTGRESQL,)),
        "CPU of a delivery, ours / PgQueuer with 32 jobs in hand": at_most(1.5, (POSTGRESQL,)),
        "verified deliveries/s": at_least(1000),
        "change to delivery while idle, p50 ms": at_most(100),
        "healthy p95, beside bad / healthy": at_most(2, (POSTGRESQL,)),
        "memory of a worker, MB": at_most(150),
        "memory of a worker, end / start": at_most(1.1),
    },
    "workers": {
        "deliveries, 4 worker processes / 1": at_least(3, (POSTGRESQL,)),
        "memory of a worker, MB": at_most(150, (POSTGRESQL,)),
    },
    "steady": {
        "memory of a web process, MB": at_most(120),
        "memory of a web process, end / start": at_most(1.1),
        "memory of a worker, MB": at_most(150),
        "memory of a worker, end / start": at_most(1.1),
        "orders and callbacks that are late": at_most(0),
    },
    "growth": {
        "GET, many / few orders": at_most(1.3),
        "list, many / few orders": at_most(1.3),
        "list, deep / first page": at_most(1.3),
        "SubmissionStatus, many / few orders": at_most(1.3),
        "submit, many / few orders": at_most(1.3),
        "search by reference, many / few orders": at_most(1.3),
        "search by recipient, many / few orders": at_most(1.3),
        "page that grows most, many / few orders": at_most(1.3),
        "slowest page, many orders, ms": at_most(50),
    },
    "start": {
        "start to first answer, s": at_most(1.5),
        "loading the built-in catalogue, CPU s": at_most(0.5, (SQLITE,)),
    },
    "stalled": {
        "p99 of others while 1,000 connections stall, ms": at_most(60, (SQLITE,)),
    },
    "pictures": {
        "prepare / djpeg and 2 cjpeg, 12 MP": at_most(1.6, NONE),
        "prepare / djpeg and 2 cjpeg, 50 MP": at_most(1.3, NONE),
        "prepare / vipsthumbnail, 12 MP": at_most(0.6, NONE),
        "prepare / vipsthumbnail, 24 MP": at_most(0.6, NONE),
        "prepare / vipsthumbnail, 50 MP": at_most(0.6, NONE),
        "prepare, MB, 12 MP": at_most(80, NONE),
        "prepare, MB, 12 MP in P3": at_most(80, NONE),
        "prepare, MB, 24 MP": at_most(80, NONE),
        "prepare, MB, 50 MP": at_most(80, NONE),
        "print file / djpeg and cjpeg, 24 MP": at_most(2.6, NONE),
        "print file, MB, 24 MP": at_most(300, NONE),
        "a process for each picture, ms on top, 0.3 MP": at_most(15, NONE),
        "a process for each picture, ms on top, 12 MP": at_most(15, NONE),
        "each of two at a time, MB, 12 MP": at_most(80, NONE),
    },
    "arrivals": {
        "pictures through the whole service / two bare libvips": at_least(0.7),
    },
}
