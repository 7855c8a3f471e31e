"""`printworks top`: what the installation is doing now."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from printworks.cli.top import _write_span, draw
from printworks.store.engine.database import Database
from printworks.store.money.verifications import LEDGER, Verification
from printworks.store.queue.heartbeats import write_heartbeat
from printworks.store.views.console.watching import WaitingJobs, WatchedFacts
from printworks.watch.counts import REQUEST_BOUNDS, Counts, no_times
from printworks.watch.readings import Pace, Reading, find_pace, find_quantile
from tests.cli.program import run
from tests.factories import NOON, a_heartbeat
from tests.watch.test_counts import share
from tests.worker.queues import KIND, enqueue_one


@pytest.fixture
def opened(database_url: str) -> Iterator[Database]:
    """The database of the installation."""
    database = Database(database_url)
    yield database
    database.close()


@pytest.mark.both_databases
def test_one_look_is_for_scripts(opened: Database, database_url: str, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    counts = Counts()
    counts.note_request("3.0", "GET", "/orders", 200, 0.003)
    counts.note_request("3.0", "GET", "/orders", 503, 0.003)
    share(counts, tmp_path)
    enqueue_one(opened, now=now)
    with opened.writing() as db:
        write_heartbeat(db, a_heartbeat("alive", now))

    said = run("top", "--json", "--data", tmp_path, database_url=database_url).said
    shown = run("top", "--once", "--data", tmp_path, database_url=database_url).said

    found = json.loads(said)
    assert (found["requests"], found["failedRequests"]) == (2, 1)
    assert [(each["kind"], each["due"]) for each in found["queue"]] == [(KIND, 1)]
    assert [(each["worker"], each["isAlive"]) for each in found["workers"]] == [("alive", True)]
    assert found["failedCallbacks"] == found["unresolvedPayments"] == 0
    assert "2 requests, 1 failed since the first start." in shown
    assert KIND in shown


def test_without_a_worker_it_says_so(database_url: str, tmp_path: Path) -> None:
    shown = run("top", "--data", tmp_path, database_url=database_url).said

    assert "No worker is running; start `printworks serve`" in shown
    assert "Nothing is due." in shown


def some_reading(at: datetime, requests: int, jobs: int) -> Reading:
    """Take a reading after so many requests, a tenth of which failed slowly, and so many jobs."""
    failed = requests // 10
    times = no_times(REQUEST_BOUNDS)
    times.classes[REQUEST_BOUNDS.index(0.0025)] = requests - failed
    times.classes[REQUEST_BOUNDS.index(2.5)] = failed
    facts = WatchedFacts(
        queue=[WaitingJobs(KIND, due=3, oldest_due_at=NOON, failed=2)],
        workers=[a_heartbeat("alive", at), a_heartbeat("killed", at - timedelta(minutes=9))],
        failed_callbacks=4,
        late_shipments={"north": 5},
        unresolved_payments=6,
        verifications=[Verification(LEDGER, NOON, 7)],
    )
    return Reading(
        at=at,
        facts=facts,
        processes=("web-1", "worker-1"),
        requests=times,
        failed_requests=failed,
        jobs={"render-image": jobs},
    )


def test_between_two_looks_there_is_a_pace() -> None:
    before, after = some_reading(NOON, 10, 4), some_reading(NOON + timedelta(seconds=10), 110, 24)

    pace = find_pace(before, after)

    assert (pace.requests, pace.failed_requests) == (10, 1)
    assert pace.within == 2.5
    assert pace.jobs == {"render-image": 2}
    assert find_pace(after, before) == Pace(0, 0, None, {})


def test_a_part_of_nothing_is_nothing() -> None:
    assert find_quantile([0, 0], (1.0,), 0.5) is None
    assert find_quantile([1, 9], (1.0,), 0.5) is None
    assert find_quantile([9, 1], (1.0,), 0.5) == 1.0


def test_the_screen_shows_what_is_wrong() -> None:
    before, after = some_reading(NOON, 10, 4), some_reading(NOON + timedelta(seconds=10), 110, 24)
    console = Console(width=120)

    with console.capture() as captured:
        console.print(draw(after, find_pace(before, after), "sandbox"))

    shown = captured.get()
    for part in (
        "2 processes on this machine: 10.0 requests/s, 95 % within 2500 ms, 1.0/s failed",
        "4 callbacks failed for good.",
        "5 shipments of lab north will arrive late.",
        "6 payments are unresolved.",
        "The ledger has 7 faults.",
        "silent",
        "9 min 0 s ago",
        "render-image",
    ):
        assert part in shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3661, "1 h 1 min"), (90_000, "1 d 1 h")],
)
def test_spans_are_short(seconds: int, shown: str) -> None:
    assert _write_span(timedelta(seconds=seconds)) == shown
