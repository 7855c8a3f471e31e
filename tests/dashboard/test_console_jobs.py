"""The queue and the health of the service, as the operator sees them."""

from datetime import timedelta
from pathlib import Path

import pytest

from printworks.dashboard.console.system.health import (
    check_folder,
    check_queue,
    check_schema,
    check_workers,
)
from printworks.dashboard.shared.code_words import speak
from printworks.rules.people import Role
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from printworks.store.queue.heartbeats import write_heartbeat
from printworks.store.queue.outcomes import Exhausted, exhaust
from printworks.store.tables import schema
from printworks.store.tables.schema import SchemaState
from printworks.store.views.console.health import QueueFacts
from tests.api.client import Server
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console
from tests.factories import NOON, a_heartbeat
from tests.worker.queues import KIND, add_merchant, claim_one, enqueue_one, read

JOBS = "/console/jobs"
ERROR = "<script>alert('no such order')</script>"


def fail_one(database: Database) -> int:
    """Let a job fail for good and return its number."""
    job_id = enqueue_one(database, add_merchant(database), request_id="r-1")
    claim = claim_one(database).claim
    with database.writing() as db:
        exhaust(db, [Exhausted(claim, ERROR)], now=NOON)
    return job_id


class TestJobs:
    @pytest.mark.both_databases
    def test_they_are_counted_and_narrowed_down(self, operator: Window, database: Database) -> None:
        failed = fail_one(database)
        waiting = enqueue_one(database, kind="send-to-lab", wait=timedelta(hours=1))

        page = operator.open(JOBS)
        by_state = operator.words(f"{JOBS}?state=failed")
        by_kind = operator.words(f"{JOBS}?kind=send-to-lab")
        nothing = operator.words(f"{JOBS}?state=running&kind=%00%27")

        assert "1 scheduled 0 due 0 running 0 done 1 failed" in words_of(page)
        assert ERROR.encode() not in page.body
        assert f"{speak(KIND)} {failed} Failed" in by_state
        assert f"Send to lab {waiting} Scheduled" not in by_state
        assert f"Send to lab {waiting} Scheduled" in by_kind
        assert "No jobs found" in nothing

    @pytest.mark.both_databases
    def test_one_is_shown_tried_again_and_cancelled(
        self, operator: Window, database: Database
    ) -> None:
        job_id = fail_one(database)
        page = f"{JOBS}/{job_id}"

        assert ERROR in operator.words(page)
        assert "r-1" in operator.words(page)
        assert "The job will run again" in operator.follow(operator.do(page, "retry-job"))
        assert (read(database, job_id).state, read(database, job_id).attempts) == ("due", 0)
        assert "The job was cancelled" in operator.follow(operator.do(page, "cancel-job"))
        refused = operator.do(page, "cancel-job")

        assert refused.status == 400
        assert "A job that is cancelled cannot become cancelled." in words_of(refused)
        with database.reading() as db:
            entries = list_audit(db, merchant_id=read(database, job_id).merchant_id, limit=5)
        assert [entry.action for entry in entries] == ["cancel-job", "retry-job"]
        assert entries[0].subject == f"job {job_id}"

    def test_only_an_admin_changes_one(self, server: Server, database: Database) -> None:
        support = open_console(server, database, Role.SUPPORT)
        job_id = fail_one(database)
        page = f"{JOBS}/{job_id}"

        assert "Run job now" not in support.words(page)
        assert support.do(page, "retry-job").status == 403
        assert read(database, job_id).state == "failed"

    @pytest.mark.parametrize("number", ["42", "9" * 19, "9" * 40, "x", "-1"])
    def test_one_that_is_not_there_is_a_404(self, operator: Window, number: str) -> None:
        assert operator.open(f"{JOBS}/{number}").status == 404


class TestHealth:
    @pytest.mark.both_databases
    def test_the_page_tells_what_can_be_seen(self, operator: Window, database: Database) -> None:
        with database.writing() as db:
            write_heartbeat(db, a_heartbeat("host-17", NOON))

        said = operator.words("/console/health")

        assert "1 worker is running." in said
        assert "host-17 Alive" in said
        assert ("SQLite 3." if database.is_sqlite else "PostgreSQL") in said
        assert f"Revision {schema.LATEST}, as needed." in said
        assert "Nothing is due." in said
        assert "685 products, 11 labs." in said
        assert "GB free." in said
        assert "Unhealthy" not in said

    def test_the_file_store_is_tried(self, operator: Window, tmp_path: Path) -> None:
        tried = operator.do("/console/health", "try-files")

        assert tried.status == 200
        assert "A file was stored, read and deleted." in words_of(tried)
        assert list(tmp_path.rglob("probe.txt")) == []

    def test_a_file_store_that_is_away_is_told(self, operator: Window, tmp_path: Path) -> None:
        (tmp_path / "files").rmdir() if (tmp_path / "files").is_dir() else None
        (tmp_path / "files").write_text("in the way")

        tried = operator.do("/console/health", "try-files")

        assert tried.status == 200
        assert "Unhealthy" in words_of(tried)

    def test_jobs_that_nobody_does_are_told(self, operator: Window, database: Database) -> None:
        enqueue_one(database, now=NOON - timedelta(minutes=5))

        said = operator.words("/console/health")

        assert "1 due, the oldest for 5 minutes." in said
        assert "No worker is running: no order is printed" in said
        assert "Unhealthy" in said

    def test_each_check_says_what_to_do(self, tmp_path: Path) -> None:
        alive = a_heartbeat("alive", NOON - timedelta(seconds=9))
        dead = a_heartbeat("dead", NOON - timedelta(minutes=3))

        assert check_schema(SchemaState("0000", "0000")).tone == "error"
        assert "printworks migrate" in check_schema(SchemaState("0000", "0000")).text
        assert check_schema(SchemaState("9999", schema.LATEST)).tone == "ok"
        assert check_schema(SchemaState("9999", "9999")).tone == "error"
        assert check_queue(QueueFacts(0, None, []), now=NOON).tone == "ok"
        assert "Start `printworks serve`" in check_workers([], now=NOON).text
        assert check_workers([alive, alive], now=NOON).text == "2 workers are running."
        assert check_workers([dead], now=NOON).tone == "error"
        both = check_workers([alive, dead], now=NOON)
        assert both.tone == "warn"
        assert "dead stopped without a word 3 minutes ago" in both.text
        assert check_folder("Data", tmp_path / "none").tone == "warn"
