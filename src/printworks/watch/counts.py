"""What a process has done: requests and jobs, with how long they took.

Counting is a dictionary, a list and two additions, since every request does it. It happens in the
event loop alone, so there are no locks.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

# The upper bounds of the classes into which times are sorted, in seconds.
REQUEST_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
JOB_BOUNDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
# What is no endpoint of the API.
PAGES: Final = "pages"
UNKNOWN: Final = "unknown"
# A state that processes share, by its name in `Counts.show`.
CONNECTIONS_OPEN: Final = "connections"


class Times(msgspec.Struct, array_like=True):
    """How many things took how long."""

    # One more than there are bounds: the last is for what took longer.
    classes: list[int]
    seconds: float = 0.0

    @property
    def count(self) -> int:
        return sum(self.classes)

    def include(self, other: "Times") -> None:
        """Add what somebody else has counted."""
        self.classes = [a + b for a, b in zip(self.classes, other.classes, strict=True)]
        self.seconds += other.seconds


def no_times(bounds: tuple[float, ...]) -> Times:
    return Times([0] * (len(bounds) + 1))


class RequestsAlike(msgspec.Struct, frozen=True, array_like=True):
    """Requests for the same operation that were answered with the same status."""

    version: str
    operation: str
    status: int


class JobsAlike(msgspec.Struct, frozen=True, array_like=True):
    """Jobs of one kind with the same outcome."""

    kind: str
    outcome: str


class SavedCounts(msgspec.Struct):
    """What a process has counted, as it is written down for others."""

    requests: list[tuple[RequestsAlike, Times]]
    jobs: list[tuple[JobsAlike, Times]]
    # What is the case now, such as open connections.
    states: dict[str, float]


class Counts:
    """Counts what one process does; use it from one event loop."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, str, str, int], Times] = {}
        self._jobs: dict[tuple[str, str], Times] = {}
        self._states: dict[str, Callable[[], float]] = {}
        self._before = SavedCounts([], [], {})

    def note_request(
        self, version: str, method: str, path: str, status: int, seconds: float
    ) -> None:
        """Count a request that was answered."""
        key = (version, method, path, status)
        times = self._requests.get(key)
        if times is None:
            times = self._requests[key] = no_times(REQUEST_BOUNDS)
        times.classes[bisect_left(REQUEST_BOUNDS, seconds)] += 1
        times.seconds += seconds

    def note_job(self, kind: str, outcome: str, seconds: float) -> None:
        """Count an attempt of a job."""
        times = self._jobs.get((kind, outcome))
        if times is None:
            times = self._jobs[kind, outcome] = no_times(JOB_BOUNDS)
        times.classes[bisect_left(JOB_BOUNDS, seconds)] += 1
        times.seconds += seconds

    def show(self, name: str, read: Callable[[], float]) -> None:
        """Let others see a state, which is read whenever the counts are saved."""
        self._states[name] = read

    def continue_from(self, before: SavedCounts) -> None:
        """Begin with what a process before this one has counted, so that no count ever falls."""
        self._before = before

    def save(self) -> SavedCounts:
        """Return everything that was counted, with what was counted before."""
        own = SavedCounts(
            [
                (RequestsAlike(version, f"{method} {path}".strip(), status), times)
                for (version, method, path, status), times in self._requests.items()
            ],
            [(JobsAlike(*key), times) for key, times in self._jobs.items()],
            {name: read() for name, read in self._states.items()},
        )
        return SavedCounts(
            list(sum_requests([self._before, own]).items()),
            list(sum_jobs([self._before, own]).items()),
            own.states,
        )


def sum_requests(saved: list[SavedCounts]) -> dict[RequestsAlike, Times]:
    """Return the requests of several processes together."""
    total: dict[RequestsAlike, Times] = {}
    for counts in saved:
        for alike, times in counts.requests:
            total.setdefault(alike, no_times(REQUEST_BOUNDS)).include(times)
    return total


def sum_jobs(saved: list[SavedCounts]) -> dict[JobsAlike, Times]:
    """Return the jobs of several processes together."""
    total: dict[JobsAlike, Times] = {}
    for counts in saved:
        for alike, times in counts.jobs:
            total.setdefault(alike, no_times(JOB_BOUNDS)).include(times)
    return total


def sum_states(saved: list[SavedCounts]) -> Mapping[str, float]:
    """Return the states of several processes together."""
    total: dict[str, float] = {}
    for counts in saved:
        for name, value in counts.states.items():
            total[name] = total.get(name, 0.0) + value
    return total
