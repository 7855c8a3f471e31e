"""Measure callbacks per second, ours on both databases against PgQueuer."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

import psycopg

from bench.budgets import POSTGRESQL, SQLITE
from bench.lines import Line, compare, compare_least, state, state_most
from bench.measures import SHORT_ROUNDS, WARM_UP, Measures, OpenShop
from bench.processes import read_memory
from bench.receiver import ReceivedCallback, Receiver
from bench.shops import UnexpectedCallbacks, read_cpu, running, to_lines
from bench.tools import PEERS_PYTHON, ROOT

SECONDS_TO_START: Final = 30
SECONDS_TO_ACKNOWLEDGE: Final = 30
# Without a limit of its own, and with as many jobs in flight as our worker.
BOUNDED: Final = "PgQueuer with 32 jobs in hand"
PEERS: Final[Mapping[str, Sequence[str]]] = {"PgQueuer": (), BOUNDED: ("32",)}


@dataclass
class Sender:
    """A sender of callbacks: its process, and the results of its rounds."""

    label: str
    number: int
    rates: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    def note(self, received: Sequence[ReceivedCallback], *, began: float, cpu: float) -> None:
        """Record the rate and the CPU time since a point in time."""
        first: dict[str, float] = {}
        for one in received:
            first.setdefault(one.id, one.at)
        self.rates.append(len(first) / (max(first.values()) - began))
        self.cpu_us.append((read_cpu(self.number) - cpu) / len(first) * 1e6)
        self.memory_mb.append(read_memory(self.number))

    def reset(self) -> None:
        """Drop the warm-up rounds."""
        self.rates.clear()
        self.cpu_us.clear()
        self.memory_mb.clear()

    def show(self) -> dict[str, Any]:
        """Return the figures."""
        return {
            "per_second": median(self.rates),
            "cpu_us": min(self.cpu_us),
            "peak_mb": max(self.memory_mb),
            "rounds": {"per_second": self.rates, "cpu_us": self.cpu_us, "mb": self.memory_mb},
        }


def measure_deliveries(found: Measures, shops: Mapping[str, OpenShop], events: int) -> None:
    """Send a backlog of callbacks, with ours and with PgQueuer."""
    ours = {name: Sender(f"deliveries, ours on {name}", one.worker) for name, one in shops.items()}
    last: list[ReceivedCallback] = []

    def deliver(name: str, count: int) -> None:
        shop, sender = shops[name].shop, ours[name]
        cpu = read_cpu(sender.number)
        began = shop.create_orders(shops[name].merchants, count)
        found.receiver.wait_for(count)
        received = found.receiver.take()
        shop.check(received)
        sender.note(received, began=began, cpu=cpu)
        if not shop.database.is_sqlite:
            last[:] = received

    def deliver_the_same(peer: Sender, address: str) -> None:
        cpu = read_cpu(peer.number)
        began = _send_with_peer(address, found.receiver, last)
        received = found.receiver.take()
        shops["PostgreSQL"].shop.check_again(received, last)
        peer.note(received, began=began, cpu=cpu)

    with ExitStack() as running_peers:
        peers: list[Sender] = []
        calls: dict[str, Callable[[], None]] = {}
        for label, options in PEERS.items():
            name = f"peer-{len(peers)}"
            address = found.make_database(name)
            number = running_peers.enter_context(_peer(address, options, found.work / name))
            peers.append(Sender(f"deliveries, {label}", number))
            calls[label] = partial(deliver_the_same, peers[-1], address)
        # SQLite first and the peers last: they send what ours on PostgreSQL has just sent.
        names = sorted(shops, key=lambda name: not shops[name].shop.database.is_sqlite)
        for name in names:
            deliver(name, WARM_UP)
        for call in calls.values():
            call()
        for sender in (*peers, *ours.values()):
            sender.reset()
        calls = {name: partial(deliver, name, events) for name in names} | calls
        found.interleave("deliveries", calls, times=SHORT_ROUNDS)
    found.figures |= {one.label: one.show() for one in (*ours.values(), *peers)}
    found.lines += _compare(ours[POSTGRESQL], ours[SQLITE], *peers)


def _compare(ours: Sender, sqlite: Sender, peer: Sender, bounded: Sender) -> Iterator[Line]:
    for line in (
        compare(f"deliveries, ours / {BOUNDED}", ours.rates, bounded.rates),
        compare_least(f"CPU of a delivery, ours / {BOUNDED}", ours.cpu_us, bounded.cpu_us),
        compare("deliveries, ours / PgQueuer", ours.rates, peer.rates),
        compare_least("CPU of a delivery, ours / PgQueuer", ours.cpu_us, peer.cpu_us),
    ):
        yield replace(line, database=POSTGRESQL)
    yield compare("deliveries, SQLite / PostgreSQL", sqlite.rates, ours.rates)
    for name, sender in ((POSTGRESQL, ours), (SQLITE, sqlite)):
        first, last = sender.memory_mb[0], sender.memory_mb[-1]
        for line in (
            state("verified deliveries/s", sender.rates),
            state_most("memory of a worker, MB", sender.memory_mb),
            Line("memory of a worker, end / start", last / first, last, first),
        ):
            yield replace(line, database=name)


@contextmanager
def _peer(address: str, options: Sequence[str], log: Path) -> Iterator[int]:
    """Run a PgQueuer worker until the block ends, and yield its process ID."""
    program = (str(PEERS_PYTHON), "-m", "bench.peers.pgqueuer_app.worker")
    with running((*program, address, *options), log, {}) as number:
        deadline = time.monotonic() + SECONDS_TO_START
        while "ready" not in log.read_text():
            if time.monotonic() > deadline:
                message = f"PgQueuer did not start:\n{log.read_text()}"
                raise RuntimeError(message)
            time.sleep(0.02)
        yield number


def _send_with_peer(
    address: str, receiver: Receiver, requests: Sequence[ReceivedCallback]
) -> float:
    """Have PgQueuer send the same requests and acknowledge them; return when that began."""
    said = subprocess.run(
        [PEERS_PYTHON, "-m", "bench.peers.pgqueuer_app.enqueue", address],
        cwd=ROOT,
        input=to_lines(requests, receiver),
        stdout=subprocess.PIPE,
        check=True,
    )
    receiver.wait_for(len({one.id for one in requests}))
    deadline = time.monotonic() + SECONDS_TO_ACKNOWLEDGE
    with psycopg.connect(address, autocommit=True) as connection:
        while connection.execute("SELECT 1 FROM pgqueuer LIMIT 1").fetchone():
            if time.monotonic() > deadline:
                message = "PgQueuer has not acknowledged everything."
                raise UnexpectedCallbacks(message)
            time.sleep(0.02)
        failed = "SELECT count(*) FROM pgqueuer_log WHERE status IN ('exception', 'failed')"
        if connection.execute(failed).fetchone() != (0,):
            message = "PgQueuer could not send everything."
            raise UnexpectedCallbacks(message)
        # It becomes slower with every round as its tables fill, faster than the server tidies up.
        connection.execute("VACUUM pgqueuer, pgqueuer_log")
    return float(said.stdout)
