"""What is measured, under the names that Prometheus knows it by."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from shutil import disk_usage
from typing import Any, Final, NamedTuple

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from printworks import __version__
from printworks.rules.heartbeats import is_alive
from printworks.settings import Settings, is_in_s3
from printworks.store.views.console.watching import WatchedFacts
from printworks.watch.counts import (
    CONNECTIONS_OPEN,
    JOB_BOUNDS,
    REQUEST_BOUNDS,
    SavedCounts,
    Times,
    no_times,
    sum_jobs,
    sum_requests,
    sum_states,
)
from printworks.watch.shared_counts import CountsOfProcess


class Measured(NamedTuple):
    """A metric: its name, what it says, and what it is divided by."""

    name: str
    kind: Callable[..., Metric]
    help: str
    labels: tuple[str, ...] = ()


_ALL: Final = (
    Measured("printworks_build_info", GaugeMetricFamily, "The version that runs.", ("version",)),
    Measured(
        "printworks_requests_total",
        CounterMetricFamily,
        "Requests that were answered.",
        ("version", "operation", "status"),
    ),
    Measured(
        "printworks_request_seconds",
        HistogramMetricFamily,
        "How long requests took, with their bodies.",
        ("version", "operation"),
    ),
    Measured("printworks_processes", GaugeMetricFamily, "Processes on this machine.", ("role",)),
    Measured("printworks_connections", GaugeMetricFamily, "Open connections of clients."),
    Measured(
        "printworks_jobs_total",
        CounterMetricFamily,
        "Attempts of jobs that ended on this machine.",
        ("kind", "outcome"),
    ),
    Measured(
        "printworks_job_seconds",
        HistogramMetricFamily,
        "How long attempts of jobs took; those of images are fetch-image and render-image.",
        ("kind",),
    ),
    Measured("printworks_queue_due", GaugeMetricFamily, "Jobs that could run now.", ("kind",)),
    Measured(
        "printworks_queue_oldest_seconds",
        GaugeMetricFamily,
        "For how long the oldest job of a kind could have run.",
        ("kind",),
    ),
    Measured("printworks_queue_running", GaugeMetricFamily, "Jobs that run now.", ("kind",)),
    Measured(
        "printworks_jobs_failed",
        GaugeMetricFamily,
        "Jobs that failed for good and that nobody has dealt with.",
        ("kind",),
    ),
    Measured("printworks_workers_alive", GaugeMetricFamily, "Workers that were heard of lately."),
    Measured(
        "printworks_workers_silent",
        GaugeMetricFamily,
        "Workers that stopped without a word within the last hour.",
    ),
    Measured(
        "printworks_worker_heartbeat_age_seconds",
        GaugeMetricFamily,
        "When each worker was last heard of.",
        ("worker",),
    ),
    Measured(
        "printworks_callbacks_failed",
        GaugeMetricFamily,
        "Callbacks that failed for good and were not sent again.",
    ),
    Measured(
        "printworks_late_shipments",
        GaugeMetricFamily,
        "Shipments that would arrive late if they left a lab today; at most 1000.",
        ("lab",),
    ),
    Measured(
        "printworks_unresolved_payments",
        GaugeMetricFamily,
        "Payments without an outcome for more than an hour, or with a rejected refund; at most "
        "1000 of each.",
    ),
    Measured(
        "printworks_verification_faults",
        GaugeMetricFamily,
        "Faults that the latest verification found, such as that of the ledger.",
        ("what",),
    ),
    Measured(
        "printworks_verification_age_seconds",
        GaugeMetricFamily,
        "How long ago that was.",
        ("what",),
    ),
    Measured("printworks_disk_free_bytes", GaugeMetricFamily, "Free space of a disk.", ("place",)),
    Measured(
        "printworks_database_up", GaugeMetricFamily, "Whether the database could be read: 1 or 0."
    ),
)
METRICS: Final = {each.name: each for each in _ALL}


def _start(name: str) -> Any:
    _, kind, text, labels = METRICS[name]
    return kind(name, text, labels=labels)


def _show(name: str, *values: tuple[Sequence[str], float]) -> Metric:
    metric = _start(name)
    for labels, value in values:
        metric.add_metric([*labels], value)
    family: Metric = metric
    return family


def _show_times(
    name: str, each: Iterable[tuple[Sequence[str], Times]], bounds: tuple[float, ...]
) -> Metric:
    metric = _start(name)
    limits = [*map(str, bounds), "+Inf"]
    for labels, times in each:
        buckets = list(zip(limits, map(float, accumulate(times.classes)), strict=True))
        metric.add_metric([*labels], buckets, times.seconds)
    family: Metric = metric
    return family


def list_counted(processes: Sequence[CountsOfProcess]) -> Iterator[Metric]:
    """Yield what the processes of this machine have counted."""
    saved = [each.counts for each in processes]
    yield _show("printworks_build_info", ([__version__], 1))
    yield from _list_requests(saved)
    yield from _list_jobs(saved)
    alive = [each.place.partition("-")[0] for each in processes if each.is_alive]
    roles = sorted({each.place.partition("-")[0] for each in processes})
    yield _show("printworks_processes", *(([role], alive.count(role)) for role in roles))
    yield _show("printworks_connections", ([], sum_states(saved).get(CONNECTIONS_OPEN, 0)))


def _list_requests(saved: list[SavedCounts]) -> Iterator[Metric]:
    requests = sum_requests(saved)
    yield _show(
        "printworks_requests_total",
        *(
            ([each.version, each.operation, str(each.status)], n.count)
            for each, n in requests.items()
        ),
    )
    alike: dict[tuple[str, ...], Times] = {}
    for each, times in requests.items():
        _include(alike, (each.version, each.operation), times, REQUEST_BOUNDS)
    yield _show_times("printworks_request_seconds", alike.items(), REQUEST_BOUNDS)


def _list_jobs(saved: list[SavedCounts]) -> Iterator[Metric]:
    jobs = sum_jobs(saved)
    yield _show(
        "printworks_jobs_total", *(([each.kind, each.outcome], n.count) for each, n in jobs.items())
    )
    alike: dict[tuple[str, ...], Times] = {}
    for each, times in jobs.items():
        _include(alike, (each.kind,), times, JOB_BOUNDS)
    yield _show_times("printworks_job_seconds", alike.items(), JOB_BOUNDS)


def _include(
    alike: dict[tuple[str, ...], Times],
    key: tuple[str, ...],
    times: Times,
    bounds: tuple[float, ...],
) -> None:
    alike.setdefault(key, no_times(bounds)).include(times)


def list_facts(facts: WatchedFacts, *, now: datetime) -> Iterator[Metric]:
    """Yield what the database says; every machine says the same."""
    yield _show("printworks_queue_due", *(([each.kind], each.due) for each in facts.queue))
    yield _show(
        "printworks_queue_oldest_seconds",
        *(
            ([each.kind], _age(each.oldest_due_at, now))
            for each in facts.queue
            if each.oldest_due_at is not None
        ),
    )
    yield _show("printworks_queue_running", *(([each.kind], each.running) for each in facts.queue))
    yield _show("printworks_jobs_failed", *(([each.kind], each.failed) for each in facts.queue))
    alive = sum(is_alive(beat, now=now) for beat in facts.workers)
    yield _show("printworks_workers_alive", ([], alive))
    yield _show("printworks_workers_silent", ([], len(facts.workers) - alive))
    yield _show(
        "printworks_worker_heartbeat_age_seconds",
        *(([beat.worker], _age(beat.beat_at, now)) for beat in facts.workers),
    )
    yield _show("printworks_callbacks_failed", ([], facts.failed_callbacks))
    late = sorted(facts.late_shipments.items())
    yield _show("printworks_late_shipments", *(([lab], count) for lab, count in late))
    yield _show("printworks_unresolved_payments", ([], facts.unresolved_payments))
    yield _show(
        "printworks_verification_faults",
        *(([each.what], each.faults) for each in facts.verifications),
    )
    yield _show(
        "printworks_verification_age_seconds",
        *(([each.what], _age(each.at, now)) for each in facts.verifications),
    )


def _age(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds())


def show_database(*, is_up: bool) -> Metric:
    return _show("printworks_database_up", ([], is_up))


def show_disks(settings: Settings) -> Metric:
    """Return the free space of the disks that data and files are on."""
    places = {"data": settings.data}
    if not is_in_s3(settings.files):
        places["files"] = Path(settings.files)
    found = [([name], disk_usage(path).free) for name, path in places.items() if path.exists()]
    return _show("printworks_disk_free_bytes", *found)
