"""A trace goes from a request to its jobs and its callbacks, and costs nothing if nobody asks."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.settings import BadSetting, Settings
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import Job
from printworks.store.tables import callbacks, jobs
from printworks.trace_parent import caused_by, current_parent
from printworks.watch.counts import Counts
from printworks.watch.observing import Observer
from printworks.watch.traces import open_tracer
from printworks.web.app import build_app
from printworks.worker.loop import Context, Worker
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, an_order, sign_up
from tests.factories import NO_LIMITS
from tests.running import Answer
from tests.watch.collectors import Collector
from tests.worker.queues import enqueue_one
from tests.worker.receivers import Receiver, listen, says
from tests.worker.running import work
from tests.worker.shops import Shop

pytestmark = pytest.mark.slow

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = f"00-{TRACE}-00f067aa0ba902b7-01"
OTHER = f"00-{'1' * 32}-{'2' * 16}-01"


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Somebody who wants traces."""
    with Collector() as collector:
        yield collector


@pytest.fixture
def traced(collector: Collector, tmp_path: Path) -> Settings:
    """The settings of an installation that is traced."""
    given = {**NO_LIMITS, "PRINTWORKS_TRACES_ENDPOINT": collector.url}
    return Settings.load(tmp_path, given)


def list_callbacks(database: Database) -> list[str | None]:
    """Return the spans that caused all callbacks."""
    with database.reading() as db:
        wanted = select(callbacks.c.trace_parent).order_by(callbacks.c.id)
        return list(db.execute(wanted).scalars())


def list_jobs(database: Database, *kinds: JobKind) -> list[str | None]:
    """Return the spans that caused all jobs of these kinds."""
    with database.reading() as db:
        wanted = select(jobs.c.trace_parent).where(jobs.c.kind.in_(kinds)).order_by(jobs.c.id)
        return list(db.execute(wanted).scalars())


def test_a_request_is_part_of_the_trace_of_its_client(
    database: Database, traced: Settings, collector: Collector
) -> None:
    url = database.url.render_as_string(hide_password=False)
    server = Server(build_app(msgspec.structs.replace(traced, database_url=url), MovableClock()))
    with closing(server):
        alice = sign_up(server, database, "Alice")
        order = ask(alice, "POST", "/orders", an_order()).data["id"]
        image = {"sku": "M-STI-4X6", "url": "https://pictures.example/a.jpg", "copies": 1}
        ask(alice, "POST", f"/orders/{order}/images", image)
        ask(alice, "GET", "/nowhere", None)

    created, added, lost = collector.spans
    assert (created.service, created.name) == ("printworks-web", "POST /orders")
    assert (created.trace, created.parent) == (TRACE, "00f067aa0ba902b7")
    assert created.facts["http.response.status_code"] == 200
    assert created.facts["printworks.version"] == "3.0"
    assert (lost.name, lost.facts["http.response.status_code"]) == ("unknown", 404)
    assert list_callbacks(database) == [f"00-{TRACE}-{created.id}-01"]
    assert list_jobs(database, JobKind.FETCH_IMAGE) == [f"00-{TRACE}-{added.id}-01"]


def ask(client: Client, method: str, path: str, body: Any) -> Answer:
    """Ask as a client does that is traced itself."""
    content = b"" if body is None else json.dumps(body).encode()
    headers = {"traceparent": CALLER, "Content-Type": "application/json"}
    return client.request(method, path, content, headers)


def test_a_job_and_what_it_enqueues_follow_from_the_request(
    database: Database, traced: Settings, collector: Collector
) -> None:
    async def handle(context: Context, job: Job) -> None:
        if job.trace_parent == CALLER:
            await context.in_thread(enqueue_one, database)

    async def scene(worker: Worker) -> None:
        tracer = open_tracer(traced, "worker")
        assert tracer is not None
        worker._context = dataclasses.replace(worker._context, observer=Observer(Counts(), tracer))
        await worker.drain()
        tracer.close()

    with caused_by(CALLER):
        enqueue_one(database)
    assert current_parent() is None

    work(database, handle, scene)

    first, second = collector.spans
    assert {first.service, second.service} == {"printworks-worker"}
    assert (first.trace, first.parent) == (TRACE, "00f067aa0ba902b7")
    assert (second.trace, second.parent) == (TRACE, first.id)
    assert first.facts["printworks.outcome"] == "done"


def test_callbacks_that_wait_or_are_retried_stay_in_their_trace(shop: Shop) -> None:
    with Receiver() as receiver:
        listen(shop, receiver.at("/cb", says(200), says(500), says(200)))
        with caused_by(CALLER):
            order = shop.add_order()
        with caused_by(OTHER):
            shop.move(order, OrderStatus.CANCELLED)
        shop.drain()
        shop.pass_time(hours=1)
        shop.drain()

    assert list_callbacks(shop.database) == [CALLER, OTHER]
    assert list_jobs(shop.database, JobKind.DELIVER_CALLBACK) == [CALLER, OTHER]
    assert list_jobs(shop.database, JobKind.RETRY_CALLBACK) == [OTHER]


def test_without_an_endpoint_nothing_is_imported(tmp_path: Path) -> None:
    script = (
        "import sys, printworks.web.app, printworks.worker.main;"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    assert said.stdout == b"[]\n"
    assert open_tracer(Settings.load(tmp_path, {}), "web") is None


def test_without_opentelemetry_the_setting_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_nothing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("printworks.settings.find_spec", find_nothing)

    with pytest.raises(BadSetting, match=r"install `printworks\[traces\]`"):
        Settings.load(tmp_path, {"PRINTWORKS_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"})
