"""`printworks jobs`: an operator looks at the queue, and puts it right."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from printworks.store.engine.database import Database
from printworks.store.queue.outcomes import Exhausted, exhaust
from tests.cli.operators import NO_NUMBER
from tests.cli.program import run
from tests.commands import Ended
from tests.factories import NOON
from tests.worker.queues import KIND, add_merchant, claim_one, enqueue_one, read


class Operator:
    """Somebody with a shell on the machine where the database is."""

    def __init__(self, database: Database, database_url: str, data: Path) -> None:
        self.database = database
        self._url = database_url
        self._data = data

    def asks(self, *words: str) -> Ended:
        """Run `printworks jobs ...`."""
        return run("jobs", *words, "--data", self._data, database_url=self._url)

    def finds_a_failed_job(self) -> int:
        """Let a job fail for good and return its number."""
        job_id = enqueue_one(self.database, request_id="r-1")
        claim = claim_one(self.database).claim
        with self.database.writing() as db:
            exhaust(db, [Exhausted(claim, "No [such] order.")], now=NOON)
        return job_id


@pytest.fixture
def operator(database_url: str, tmp_path: Path) -> Iterator[Operator]:
    database = Database(database_url)
    yield Operator(database, database_url, tmp_path)
    database.close()


@pytest.mark.both_databases
def test_the_list_can_be_narrowed_down(operator: Operator) -> None:
    merchant = add_merchant(operator.database)
    wanted = enqueue_one(operator.database, merchant, wait=timedelta(hours=1))
    enqueue_one(operator.database, merchant)
    enqueue_one(operator.database, wait=timedelta(hours=1))

    by_state = operator.asks("list", "--state", "scheduled", "--merchant", merchant.code, "--json")
    by_limit = operator.asks("list", "--kind", KIND, "--limit", "2")

    assert [job["id"] for job in json.loads(by_state.said)] == [wanted]
    assert by_limit.said.count(KIND) == 2


def test_an_empty_list_says_so(operator: Operator) -> None:
    assert operator.asks("list").said == "There is no such job.\n"


@pytest.mark.both_databases
def test_a_job_can_be_looked_at(operator: Operator) -> None:
    job_id = operator.finds_a_failed_job()

    for_people = operator.asks("show", str(job_id))
    for_programs = json.loads(operator.asks("show", str(job_id), "--json").said)

    assert "No [such] order." in for_people.said
    assert "2026-11-15 12:00:00 UTC" in for_people.said
    assert for_programs["state"] == "failed"
    assert for_programs["requestId"] == "r-1"


@pytest.mark.both_databases
def test_a_failed_job_can_be_tried_again_and_then_called_off(operator: Operator) -> None:
    job_id = operator.finds_a_failed_job()

    retried = operator.asks("retry", str(job_id))
    after_retry = read(operator.database, job_id)
    cancelled = operator.asks("cancel", str(job_id))

    assert retried.said == f"Job {job_id} is due.\n"
    assert (after_retry.state, after_retry.attempts) == ("due", 0)
    assert cancelled.said == f"Job {job_id} is cancelled.\n"
    assert read(operator.database, job_id).state == "cancelled"


@pytest.mark.parametrize("number", ["42", NO_NUMBER])
@pytest.mark.parametrize("verb", ["show", "retry", "cancel"])
def test_a_job_that_is_not_there_is_one_sentence(
    operator: Operator, verb: str, number: str
) -> None:
    ended = operator.asks(verb, number)

    assert ended.code == 1
    assert ended.complained == f"printworks: There is no job {number}.\n"


@pytest.mark.both_databases
def test_a_job_that_failed_can_be_dismissed_once(operator: Operator) -> None:
    job_id = operator.finds_a_failed_job()

    assert operator.asks("cancel", str(job_id)).code == 0
    assert read(operator.database, job_id).state == "cancelled"
    again = operator.asks("cancel", str(job_id))
    assert again.code == 1
    assert again.complained == "printworks: A job that is cancelled cannot become cancelled.\n"
