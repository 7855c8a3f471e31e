"""One look at the whole installation, and what happened between two looks."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from printworks.actions.services import Services
from printworks.store.views.console.watching import WatchedFacts, read_facts
from printworks.watch.counts import (
    REQUEST_BOUNDS,
    SavedCounts,
    Times,
    no_times,
    sum_jobs,
    sum_requests,
)
from printworks.watch.shared_counts import list_counts


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What is known at one moment: of the installation, and of the processes of this machine."""

    at: datetime
    facts: WatchedFacts
    # The processes that are alive, such as `web-1`.
    processes: tuple[str, ...]
    requests: Times
    # Requests that the service itself failed to answer: status 500 and above.
    failed_requests: int
    # Attempts of jobs that ended, by kind.
    jobs: dict[str, int]


class Pace(msgspec.Struct, frozen=True):
    """What happened between two readings, on this machine."""

    requests: float
    failed_requests: float
    # Within how many seconds nineteen of twenty requests were answered; None if there were none,
    # or some took longer than is told apart.
    within: float | None
    jobs: dict[str, float]


def take_reading(services: Services) -> Reading:
    """Look at everything once."""
    now = services.clock()
    with services.database.reading() as db:
        facts = read_facts(db, transit_days=services.catalogue.transit_days, now=now)
    found = list_counts(services.settings.data)
    saved = [each.counts for each in found]
    requests = sum_requests(saved)
    return Reading(
        at=now,
        facts=facts,
        processes=tuple(each.place for each in found if each.is_alive),
        requests=_add(requests.values()),
        failed_requests=sum(n.count for each, n in requests.items() if each.status >= 500),
        jobs=_count_jobs(saved),
    )


def _add(times: Iterable[Times]) -> Times:
    total = no_times(REQUEST_BOUNDS)
    for each in times:
        total.include(each)
    return total


def _count_jobs(saved: list[SavedCounts]) -> dict[str, int]:
    total: dict[str, int] = {}
    for alike, times in sum_jobs(saved).items():
        total[alike.kind] = total.get(alike.kind, 0) + times.count
    return total


def find_pace(before: Reading, after: Reading) -> Pace:
    """Return what happened between two readings, a second."""
    # The clock may stand still or be set back.
    seconds = max(0.1, (after.at - before.at).total_seconds())
    pairs = zip(before.requests.classes, after.requests.classes, strict=True)
    classes = [max(0, later - sooner) for sooner, later in pairs]
    return Pace(
        requests=sum(classes) / seconds,
        failed_requests=max(0, after.failed_requests - before.failed_requests) / seconds,
        within=find_quantile(classes, REQUEST_BOUNDS, 0.95),
        jobs={
            kind: (count - before.jobs.get(kind, 0)) / seconds
            for kind, count in after.jobs.items()
            if count > before.jobs.get(kind, 0)
        },
    )


def find_quantile(classes: list[int], bounds: tuple[float, ...], part: float) -> float | None:
    """Return the bound below which this part of all lies, or None if there is none."""
    wanted, seen = part * sum(classes), 0
    for count, bound in zip(classes, bounds, strict=False):
        seen += count
        if seen and seen >= wanted:
            return bound
    return None
