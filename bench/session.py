"""What a part of the benchmark works with: its sizes, its database, its servers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import psycopg
from rich.console import Console
from rich.progress import track

from bench import postgres
from bench.budgets import POSTGRESQL
from bench.lines import Line, state_most
from bench.seeds import SeededDatabase
from bench.servers import Certificate, Plan, RunningServer, plan_hello, plan_product, serving
from bench.wrk import Sample, Target, drive

T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 5
    seconds: float = 3
    connections: int = 32
    processes: int = 2
    # Orders of a small and of a large shop.
    few: int = 1_000
    many: int = 1_000_000
    # Orders of both that the service itself makes, from creation to dispatch.
    whole: int = 300
    # Orders to which images are added: enough that few get a second one.
    open_orders: int = 20_000
    # Callbacks of one round, and pictures that arrive in one round.
    events: int = 1_500
    pictures: int = 24
    # Rounds of image processing: with fewer, the minimum would be down to chance.
    picture_rounds: int = 15
    page_rounds: int = 11
    mixed_seconds: int = 600
    steady_seconds: int = 120
    # Whether sixteen worker processes are tried, too.
    with_many_workers: bool = True
    # Whether everything is run once before it is measured.
    warms_up: bool = True


QUICK = Sizes(
    rounds=1,
    seconds=1,
    many=10_000,
    whole=30,
    open_orders=2_000,
    events=300,
    pictures=8,
    picture_rounds=1,
    page_rounds=1,
    mixed_seconds=3,
    steady_seconds=3,
    with_many_workers=False,
    warms_up=False,
)


@dataclass
class Session:
    """One part on one database: where it works, and the tables of what it measures."""

    work: Path
    database: str
    certificate: Certificate
    sizes: Sizes
    open_postgresql: Callable[[], Any]
    # By title, then by line.
    figures: dict[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    def make_url(self, name: str) -> str:
        """Return the address of a new, empty database."""
        folder = self.work / name
        folder.mkdir(parents=True, exist_ok=True)
        if self.database != POSTGRESQL:
            return f"sqlite:///{folder / 'printworks.db'}"
        server = self.open_postgresql()
        # Parts come one after the other: a name may be in use already.
        unique = f"{self.work.name}-{name}"
        with psycopg.connect(_write_address(server, "postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{unique}" WITH (FORCE)'.encode())
            connection.execute(f'CREATE DATABASE "{unique}"'.encode())
        return _write_address(server, unique)

    def seed(self, name: str) -> SeededDatabase:
        """Make a database with one merchant."""
        return SeededDatabase(self.make_url(name))

    def plan(self, name: str, seeded: SeededDatabase, command: str = "web") -> Plan:
        """Plan to serve a database with the product."""
        folder = self.work / name
        processes = self.sizes.processes
        return plan_product(command, folder, self.certificate, seeded, processes=processes)

    def plan_hello(self) -> Plan:
        """Plan to serve the least that the server can do."""
        return plan_hello(self.certificate, processes=self.sizes.processes)

    @contextmanager
    def serving(self, **plans: Plan) -> Iterator[list[RunningServer]]:
        """Run several servers side by side; only the measured one has work."""
        with ExitStack() as running:
            yield [
                running.enter_context(serving(plan, self.work / f"{name}.log"))
                for name, plan in plans.items()
            ]

    def driving(self, target: Target, connections: int | None = None) -> Callable[[], Sample]:
        """Return a measure: requests of one kind, as many as can be answered."""
        most = self.sizes.connections if connections is None else connections
        return partial(drive, target, connections=most, seconds=self.sizes.seconds)

    def interleave(self, title: str, measures: Mapping[str, Callable[[], T]]) -> dict[str, list[T]]:
        """Measure all in turn, round after round, so that noise affects all alike."""
        found: dict[str, list[T]] = {name: [] for name in measures}
        if self.sizes.warms_up:
            for measure in measures.values():
                measure()
        turns = [name for _ in range(self.sizes.rounds) for name in measures]
        label = f"{title}, {self.database}" if self.database else title
        for name in track(turns, label, console=Console(stderr=True), transient=True):
            found[name].append(measures[name]())
        return found

    def state_memory(self, process: str, looked: Sequence[float]) -> Iterator[Line]:
        """Keep what a process had in memory whenever it was looked at; state the most and the rise."""
        self.figures[f"memory of a {process}"] = {
            f"{number} of {len(looked)}": {"peak_mb": one} for number, one in enumerate(looked, 1)
        }
        first, last = looked[0], looked[-1]
        yield state_most(f"memory of a {process}, MB", [max(looked)])
        yield Line(f"memory of a {process}, end / start", last / first, last, first)

    def note(self, title: str, samples: Mapping[str, list[Sample]]) -> None:
        """Keep the medians of all rounds, and the rounds."""
        self.figures[title] = {
            name: {
                "per_second": median(sample.per_second for sample in rounds),
                "p50_ms": median(sample.p50 for sample in rounds),
                "p99_ms": median(sample.p99 for sample in rounds),
                "rounds": [asdict(sample) for sample in rounds],
            }
            for name, rounds in samples.items()
        }


class LazyPostgresql:
    """A PostgreSQL for the whole run, started when a part first needs it."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._server: Any = None

    def __enter__(self) -> Callable[[], Any]:
        return self._open

    def _open(self) -> Any:
        if self._server is None:
            self._server = self._running.enter_context(postgres.running())
        return self._server

    def __exit__(self, *_: object) -> None:
        self._running.close()


def _write_address(server: Any, database: str) -> str:
    return str(server.url(database)).replace("+psycopg", "")


def rates(samples: list[Sample]) -> list[float]:
    """Return the requests a second of each round."""
    return [sample.per_second for sample in samples]
