"""What watches over the work of a process."""

from typing import NamedTuple

from printworks.watch.counts import Counts
from printworks.watch.traces import Tracer


class Observer(NamedTuple):
    """Counts everything, and traces it if somebody wants that."""

    counts: Counts
    tracer: Tracer | None = None
