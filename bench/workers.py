"""Measure how callbacks scale with worker processes: `python -m bench.workers`.

All workers share the lock under which jobs are claimed. With few slots each and a receiver that
answers after 20 ms, what limits them is that lock and not the processors.
"""

import argparse
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import Final

from bench import postgres
from bench.lines import compare, state, state_most
from bench.measures import MERCHANTS, Measures, OpenShop
from bench.processes import read_memory
from bench.receiver import receiving
from bench.shops import read_cpu

# What is compared, and what shows whether the lock holds far beyond that.
COMPARED: Final = (1, 4)
MANY: Final = 16
# Jobs in hand of each worker.
SLOTS: Final = 8
# Callbacks of a round for each worker.
EVENTS_EACH: Final = 150


class Crew:
    """A shop with some workers, and the rates of its rounds."""

    def __init__(self, found: Measures, opened: OpenShop, workers: Sequence[int]) -> None:
        self._found = found
        self._opened = opened
        self._workers = workers
        self.rates: list[float] = []
        self.cpu_us: list[float] = []
        self.memory: list[float] = []

    def send(self) -> None:
        """Send a round, and verify that all of it arrived."""
        shop, merchants, _ = self._opened
        count = EVENTS_EACH * len(self._workers)
        cpu = sum(map(read_cpu, self._workers))
        began = shop.create_orders(merchants, count)
        self._found.receiver.wait_for(count)
        received = self._found.receiver.take()
        shop.check(received)
        self.rates.append(count / (max(one.at for one in received) - began))
        self.cpu_us.append((sum(map(read_cpu, self._workers)) - cpu) / count * 1e6)
        self.memory += map(read_memory, self._workers)


def measure_workers(found: Measures, slots: int = SLOTS, *, with_many: bool = True) -> None:
    """Send a backlog of callbacks with 1, 4 and perhaps 16 worker processes on PostgreSQL."""
    crews: dict[int, Crew] = {}
    with ExitStack() as running:
        for count in COMPARED:
            crews[count] = _open(found, running, count, slots)
        calls = {str(count): partial(crew.send) for count, crew in crews.items()}
        found.interleave("1 and 4 workers", calls)
    if with_many:
        with ExitStack() as running:
            crews[MANY] = _open(found, running, MANY, slots)
            found.interleave("16 workers", {str(MANY): crews[MANY].send})
    _note(found, crews)


def _open(found: Measures, running: ExitStack, count: int, slots: int) -> Crew:
    shop = found.open_postgresql(f"workers-{count}-{slots}")
    running.callback(shop.database.close)
    merchants = shop.add_merchants(MERCHANTS, is_late=True)
    workers = [
        running.enter_context(shop.working(PRINTWORKS_WORKER_SLOTS=str(slots)))
        for _ in range(count)
    ]
    crew = Crew(found, OpenShop(shop, merchants, workers[0]), workers)
    # Until all have started.
    for _ in range(2):
        crew.send()
    crew.rates.clear()
    crew.cpu_us.clear()
    return crew


def _note(found: Measures, crews: Mapping[int, Crew]) -> None:
    for count, crew in crews.items():
        found.figures[f"deliveries, {count} worker processes, receiver with 20 ms"] = {
            "per_second": median(crew.rates),
            "cpu_us": min(crew.cpu_us),
            "rounds": {"per_second": crew.rates, "cpu_us": crew.cpu_us},
        }
    one, four = (crews[count].rates for count in COMPARED)
    found.lines.append(compare("deliveries, 4 worker processes / 1", four, one))
    if MANY in crews:
        rate = median(crews[MANY].rates) / median(one)
        found.lines.append(state("deliveries, 16 worker processes / 1", [rate]))
    memory = [most for crew in crews.values() for most in crew.memory]
    found.lines.append(state_most("memory of a worker, MB", memory))


def main() -> None:
    """Measure this alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=SLOTS, help="jobs in hand of each worker")
    chosen = parser.parse_args()
    work = Path(mkdtemp())
    try:
        with postgres.running() as server, receiving() as receiver:
            found = Measures(work, server, receiver, chosen.rounds)
            measure_workers(found, chosen.slots)
    finally:
        shutil.rmtree(work)
    for name, figures in found.figures.items():
        print(f"{name}: {figures['per_second']:,.0f}/s, {figures['cpu_us']:.0f} us CPU each")
    for one in found.lines:
        print(f"{one.name}: {one.value:.2f}")


if __name__ == "__main__":
    main()
