"""Measure the queue: run `python -m bench.jobs URL` with the address of an empty database."""

import asyncio
import statistics
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import structlog
import uvloop
from sqlalchemy import delete, func, insert, select, text

from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.services import Services
from printworks.clock import system_clock
from printworks.rules.jobs import Acknowledge, Policy
from printworks.rules.pools import Pool
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.queue.claims import Claimant, claim
from printworks.store.queue.jobs import Job, NewJob, enqueue
from printworks.store.queue.outcomes import finish
from printworks.store.queue.shares import Room
from printworks.store.tables import jobs, schema
from printworks.worker.loop import Context, Worker
from tests.factories import a_system_work

KIND: Final = "bench"
JOBS: Final = 10_000
CLAIMS: Final = 60
SLOTS: Final = 32
LEASE: Final = timedelta(minutes=10)


def make_policy(*, in_flight: int, acknowledge: Acknowledge = Acknowledge.GROUPED) -> Policy:
    """Return a policy that only limits jobs in flight."""
    return Policy(
        in_flight=in_flight,
        attempts=5,
        timeout=timedelta(seconds=30),
        acknowledge=acknowledge,
        wait_after=lambda _: timedelta(seconds=1),
    )


def empty(database: Database) -> None:
    """Delete all jobs, including dead rows."""
    with database.writing() as db:
        db.execute(delete(jobs))
    if not database.is_sqlite:
        with database.reading() as db:
            db.execute(text("VACUUM ANALYZE jobs"))


def fill(database: Database, *, lanes: int, jobs_in_each: int, wait: timedelta) -> None:
    """Add jobs that are due or scheduled, in this many lanes."""
    now = system_clock()
    rows: list[dict[str, Any]] = [
        {
            "kind": KIND,
            "lane": f"{KIND}:{lane}",
            "args": {},
            "state": "scheduled" if wait else "due",
            "due_at": now + wait,
            "created_at": now,
        }
        for _ in range(jobs_in_each)
        for lane in range(lanes)
    ]
    with database.writing() as db:
        for start in range(0, len(rows), 5000):
            db.execute(insert(jobs), rows[start : start + 5000])


def measure_claims(database: Database) -> float:
    """Return the median duration of a claim, in milliseconds."""
    policies = {KIND: make_policy(in_flight=4)}
    cursor, durations = "", []
    for _ in range(CLAIMS):
        begun = time.perf_counter()
        with database.writing() as db:
            claimed = claim(
                db,
                policies,
                Claimant(
                    worker="bench",
                    rooms={Pool.UPKEEP: Room(SLOTS, SLOTS, cursor)},
                    lease=LEASE,
                ),
                now=system_clock(),
            )
        durations.append(time.perf_counter() - begun)
        cursor = claimed.cursors[Pool.UPKEEP]
        with database.writing() as db:
            finish(db, [job.claim for job in claimed.jobs], now=system_clock())
    return statistics.median(durations) * 1000


def bench_claims(database: Database) -> None:
    """Claim from queues of very different sizes."""
    hour, none = timedelta(hours=1), timedelta(0)
    queues: Mapping[str, list[dict[str, Any]]] = {
        "nothing": [],
        "20 lanes, 2,000 due": [{"lanes": 20, "jobs_in_each": 100, "wait": none}],
        "the same and 100,000 sleepers": [
            {"lanes": 20, "jobs_in_each": 100, "wait": none},
            {"lanes": 5000, "jobs_in_each": 20, "wait": hour},
        ],
        "5,000 lanes, 200,000 due": [{"lanes": 5000, "jobs_in_each": 40, "wait": none}],
    }
    for name, parts in queues.items():
        empty(database)
        for part in parts:
            fill(database, **part)
        print(f"claim of {SLOTS}, {name}: {measure_claims(database):.1f} ms")


def enqueue_jobs(
    database: Database, merchants: list[Merchant], count: int, args: Mapping[str, Any]
) -> None:
    """Enqueue this many jobs in one transaction."""
    with database.writing() as db:
        for number in range(count):
            merchant = merchants[number % len(merchants)]
            enqueue(db, NewJob(KIND, merchant.id, args), now=system_clock())


def count_done(database: Database) -> int:
    """Return how many jobs are done."""
    with database.reading() as db:
        done = select(func.count()).where(jobs.c.state == "done")
        return int(db.execute(done).scalar_one())


async def bench_worker(context: Context, merchants: list[Merchant], how: Acknowledge) -> None:
    """Run trivial jobs, first a backlog and then one at a time."""
    database = context.database
    begun_after: list[float] = []

    async def begin(_context: Context, job: Job) -> None:
        if "promised" in job.args:
            begun_after.append(time.perf_counter() - job.args["promised"])

    empty(database)
    enqueue_jobs(database, merchants, JOBS, {})
    worker = Worker(
        context,
        handlers={KIND: begin},
        policies={KIND: make_policy(in_flight=JOBS, acknowledge=how)},
        slots=SLOTS,
        lease=LEASE,
        stop_timeout=timedelta(seconds=10),
    )
    stop = asyncio.Event()
    begun = time.perf_counter()
    working = asyncio.create_task(worker.run(stop))
    while await context.in_thread(count_done, database) < JOBS:
        await asyncio.sleep(0.05)
    print(f"{how}: {JOBS / (time.perf_counter() - begun):,.0f} jobs/s")
    for _ in range(100):
        await asyncio.sleep(0.037)
        promised = {"promised": time.perf_counter()}
        await context.in_thread(enqueue_jobs, database, merchants, 1, promised)
    await asyncio.sleep(0.2)
    stop.set()
    await working
    print(f"{how}: enqueue to start p50 {statistics.median(begun_after) * 1000:.1f} ms")


def main() -> None:
    """Measure everything on one database."""
    # Standard output is for the figures.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    database = Database(sys.argv[1])
    schema.migrate(database)
    with database.writing() as db:
        if db.execute(select(jobs.c.id).limit(1)).one_or_none():
            sys.exit("There are jobs in this database, and the benchmark would delete them.")
        merchants = [
            add_merchant(
                a_system_work(db, now=system_clock(), environment="sandbox"), f"Shop {number}"
            ).merchant
            for number in range(20)
        ]
    bench_claims(database)
    for how in Acknowledge:
        with (
            ThreadPoolExecutor(6) as threads,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            context = Context(
                Services(Settings(data=Path()), given={"database": database}), threads
            )
            runner.run(bench_worker(context, merchants, how))
    empty(database)
    database.close()


if __name__ == "__main__":
    main()
