"""Callbacks with one and with four worker processes, to a receiver that takes 20 ms."""

from bench.lines import Line
from bench.measures import Measures
from bench.receiver import receiving
from bench.session import Session
from bench.workers import measure_workers


def measure(session: Session) -> list[Line]:
    """Measure how callbacks scale with worker processes on PostgreSQL."""
    with receiving() as receiver:
        server = session.open_postgresql()
        found = Measures(session.work, server, receiver, session.sizes.rounds)
        session.figures["workers"] = found.figures
        measure_workers(found, with_many=session.sizes.with_many_workers)
        return found.take_lines()
