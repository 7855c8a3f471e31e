"""Callbacks with one and with four worker processes, to a receiver that takes 20 ms."""

from importlib import import_module
from importlib.util import find_spec

from bench.lines import Line
from bench.measures import Measures
from bench.receiver import receiving
from bench.session import Session

# Has `measure_workers(found: Measures) -> None`, which adds to the figures and lines.
MEASURED_BY = "bench.workers"
NAME = "deliveries, 4 worker processes / 1"


def measure(session: Session) -> list[Line]:
    """Measure how callbacks scale with worker processes on PostgreSQL."""
    if find_spec(MEASURED_BY) is None:
        return [Line(NAME, None, note="not measured yet")]
    with receiving() as receiver:
        server = session.open_postgresql()
        found = Measures(session.work, server, receiver, session.sizes.rounds)
        session.figures["workers"] = found.figures
        import_module(MEASURED_BY).measure_workers(found)
        return found.take_lines()
