"""`/metrics` says what all processes have done and what the database knows."""

import http.client
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from printworks.actions.services import Services
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.money.verifications import LEDGER, Verification, note_verification
from printworks.store.queue.heartbeats import write_heartbeat
from printworks.store.queue.outcomes import Exhausted, exhaust
from printworks.store.views.console.watching import list_waiting, read_facts
from printworks.watch.counts import Counts
from printworks.watch.exporter import SECONDS_OF_TRUST, FactCache, MetricsPort, write_metrics
from printworks.watch.metrics import METRICS
from tests.factories import NOON, a_heartbeat, some_services
from tests.store.plans import explain_on_sqlite
from tests.watch.test_counts import share
from tests.worker.queues import KIND, claim_one, enqueue_one

Samples = dict[tuple[str, ...], float]


def read(text: bytes) -> Samples:
    """Return the value of each sample, by its name and its labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


@pytest.fixture
def services(database: Database, tmp_path: Path) -> Services:
    """An installation with something of everything."""
    counts = Counts()
    counts.show("connections", lambda: 7)
    counts.note_request("3.0", "GET", "/orders", 200, 0.003)
    counts.note_request("3.0", "GET", "/orders", 404, 0.2)
    counts.note_job("render-image", "done", 1.5)
    share(counts, tmp_path)
    with database.writing() as db:
        write_heartbeat(db, a_heartbeat("alive", NOON - timedelta(seconds=4)))
        write_heartbeat(db, a_heartbeat("silent", NOON - timedelta(minutes=4)))
        note_verification(db, Verification(LEDGER, NOON - timedelta(hours=2), 0))
        note_verification(db, Verification(LEDGER, NOON - timedelta(hours=1), 3))
    enqueue_one(database, now=NOON - timedelta(minutes=1))
    return some_services(database, Settings.load(tmp_path, {}))


def test_everything_that_is_measured_is_written(services: Services) -> None:
    text = write_metrics(services)()
    samples = read(text)

    assert samples["printworks_requests_total", "GET /orders", "200", "3.0"] == 1
    assert samples["printworks_requests_total", "GET /orders", "404", "3.0"] == 1
    assert samples["printworks_request_seconds_count", "GET /orders", "3.0"] == 2
    assert samples["printworks_request_seconds_bucket", "0.005", "GET /orders", "3.0"] == 1
    assert samples["printworks_job_seconds_sum", "render-image"] == 1.5
    assert samples["printworks_processes", "web"] == 0
    assert samples["printworks_queue_due", KIND] == 1
    assert samples["printworks_queue_oldest_seconds", KIND] == 60
    assert samples["printworks_workers_alive",] == 1
    assert samples["printworks_workers_silent",] == 1
    assert samples["printworks_worker_heartbeat_age_seconds", "alive"] == 4
    assert samples["printworks_verification_faults", "ledger"] == 3
    assert samples["printworks_verification_age_seconds", "ledger"] == 3600
    assert samples["printworks_disk_free_bytes", "data"] > 0
    assert samples["printworks_database_up",] == 1
    names = {family.name for family in text_string_to_metric_families(text.decode())}
    assert names == {name.removesuffix("_total") for name in METRICS}


def test_jobs_are_shown_by_kind(database: Database) -> None:
    enqueue_one(database, now=NOON - timedelta(minutes=3))
    failed = claim_one(database)
    with database.writing() as db:
        exhaust(db, [Exhausted(failed.claim, "no")], now=NOON)
    enqueue_one(database, now=NOON - timedelta(minutes=2))
    claim_one(database)
    enqueue_one(database, now=NOON - timedelta(minutes=1))
    # Its time has come, and nobody has made it due; that of the next one has not.
    enqueue_one(database, now=NOON - timedelta(hours=1), wait=timedelta(minutes=50))
    enqueue_one(database, wait=timedelta(minutes=1))

    with database.reading() as db:
        (found,) = list_waiting(db, now=NOON)

    assert (found.kind, found.due, found.running, found.failed) == (KIND, 2, 1, 1)
    assert found.oldest_due_at == NOON - timedelta(minutes=10)


def test_the_database_is_asked_once_in_five_seconds(services: Services) -> None:
    elapsed = 0.0
    cache = FactCache(services, steady_clock=lambda: elapsed)
    first = cache.read()
    enqueue_one(services.database)

    assert cache.read() is first
    elapsed = SECONDS_OF_TRUST
    assert cache.read() != first


def test_without_a_database_the_rest_is_still_told(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'gone.db'}")
    (tmp_path / "gone.db").mkdir()

    samples = read(write_metrics(some_services(database, Settings.load(tmp_path, {})))())

    assert samples["printworks_database_up",] == 0
    assert ("printworks_workers_alive",) not in samples


@pytest.fixture
def port() -> Iterator[MetricsPort]:
    """A port that somebody answers."""
    answers = iter([b"a_metric 1\n"])
    port = MetricsPort("127.0.0.1", 0, lambda: next(answers))
    assert port.open()
    yield port
    port.close()


def ask(port: MetricsPort, path: str) -> tuple[int, bytes]:
    """Ask at the port."""
    connection = http.client.HTTPConnection("127.0.0.1", port.port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_the_port_answers_for_metrics_alone(port: MetricsPort) -> None:
    assert ask(port, "/metrics") == (200, b"a_metric 1\n")
    assert ask(port, "/console")[0] == 404
    # It cannot be written now.
    assert ask(port, "/metrics")[0] == 500


def test_whoever_comes_second_waits_for_the_port(port: MetricsPort) -> None:
    second = MetricsPort("127.0.0.1", port.port, lambda: b"")

    assert not second.open()
    port.close()
    assert second.open()
    second.close()


def test_what_is_watched_is_read_by_its_indexes(sqlite_database: Database) -> None:
    plans = explain_on_sqlite(
        sqlite_database, lambda db: read_facts(db, transit_days={"slow": 5}, now=NOON)
    )

    steps = [step for plan in plans.values() for step in plan if step.startswith("SCAN")]
    assert steps
    few = ("SCAN heartbeats", "SCAN verifications", "SCAN merchants")
    assert [step for step in steps if "USING" not in step and not step.startswith(few)] == []
