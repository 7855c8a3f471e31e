"""Shared by the callback measurements: databases, receiver and results."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final, NamedTuple

import psycopg
from rich.console import Console
from rich.progress import track

from bench.lines import Line
from bench.receiver import Receiver
from bench.shops import Shop
from printworks.store.accounts.merchants import Merchant
from tests.postgres import Run

MERCHANTS: Final = 20
# Callbacks that are sent before anything is measured.
WARM_UP: Final = 200

# How many times as many rounds there are where one takes a second or less: it varies by a tenth.
SHORT_ROUNDS: Final = 3

# Milliseconds, round by round.
Laps = dict[str, list[list[float]]]


class OpenShop(NamedTuple):
    """A shop with merchants and a running worker with this process ID."""

    shop: Shop
    merchants: Sequence[Merchant]
    worker: int


class Measures:
    """The server, the receiver and the results so far."""

    def __init__(self, work: Path, server: Run, receiver: Receiver, rounds: int) -> None:
        self.work = work
        self.receiver = receiver
        self.rounds = rounds
        self.figures: dict[str, dict[str, Any]] = {}
        self.lines: list[Line] = []
        self._server = server

    def open_postgresql(self, name: str) -> Shop:
        """Open a shop with its own database on the server."""
        return Shop(self.make_database(name), self.work / name, self.receiver)

    def open_sqlite(self, name: str) -> Shop:
        """Open a shop with its own file."""
        folder = self.work / name
        return Shop(f"sqlite:///{folder / 'printworks.db'}", folder, self.receiver)

    def make_database(self, name: str) -> str:
        """Create a database and return its address."""
        address = self._server.url("postgres").replace("+psycopg", "")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self._server.url(name).replace("+psycopg", "")

    def interleave(
        self, title: str, calls: Mapping[str, Callable[[], None]], *, times: int = 1
    ) -> None:
        """Run all in turn, round after round, so that noise affects all alike.

        `times` are more rounds than usual, where a round is short.
        """
        turns = [name for _ in range(self.rounds * times) for name in calls]
        for name in track(turns, f"callbacks, {title}", console=Console(stderr=True)):
            calls[name]()

    def take_lines(self) -> list[Line]:
        """Return the lines since the last time."""
        lines, self.lines = self.lines, []
        return lines

    def note_laps(self, laps: Laps) -> None:
        """Record the medians of the rounds' percentiles, and the rounds."""
        for name, rounds in laps.items():
            self.figures[name] = {
                "p50_ms": median(cut(one, 50) for one in rounds),
                "p95_ms": median(cut(one, 95) for one in rounds),
                "rounds": [{"p50": cut(one, 50), "p95": cut(one, 95)} for one in rounds],
            }


def cut(laps: Sequence[float], percent: int) -> float:
    """Return a percentile."""
    return quantiles(laps, n=100)[percent - 1]
