"""Measure what one merchant feels while another is greedy: `python -m bench.fairness`.

Two merchants on one service with its usual settings. One sends forty requests a second: reads,
lists and creates. Each way of being greedy (`bench.greedy`) runs for a while, in a process of its
own; the first merchant's latencies before and during it are printed and stored as a table. Exit code: 1 if
its p99 more than doubled or it got an answer that was not a success.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench import tools
from bench.budgets import BOTH, POSTGRESQL
from bench.clients import Connection, Laps, ask, send_on_schedule, write_request
from bench.greedy import NICENESS, WAYS
from bench.parts.arrivals import offering
from bench.results import RESULTS, describe_machine, find_commit
from bench.seeds import SeededDatabase
from bench.servers import Plan, make_certificate
from bench.session import LazyPostgresql, Session, Sizes
from bench.workload import IMAGE_BODY, ORDER_BODY, PHOTO, USUAL_SETTINGS

# Fewer than its share, and enough for a p99 that is not a single answer.
PER_SECOND: Final = 40
SHARES: Final = {"get": 60, "list": 15, "create": 25}
# A p99 of a few milliseconds doubles by chance; nobody feels that.
LEAST_MS: Final = 25.0
MOST_TIMES: Final = 2.0
SECONDS_TO_ARRIVE: Final = 120
# Wrong keys are counted by address, and all processes here have the same.
NO_STRANGERS: Final = {
    "PRINTWORKS_STRANGER_RATE": "1000000",
    "PRINTWORKS_STRANGER_BURST": "1000000",
}
# Latencies of the API say nothing about pictures; this way is about when they are there.
OF_PICTURES: Final = "slow-hosts"


@dataclass(frozen=True)
class Amounts:
    """How much is seeded and measured."""

    seconds: int = 20
    # Before anything counts: hundreds of TLS connections take a while, and are no request yet.
    seconds_to_begin: int = 12
    lists: int = 250
    images: int = 500
    large: int = 1_000
    pictures: int = 20


QUICK: Final = Amounts(seconds=4, seconds_to_begin=4, lists=50, images=100, large=300, pictures=4)


@dataclass(frozen=True)
class Felt:
    """What the modest merchant felt: milliseconds, and answers that were not successes."""

    count: int
    p50: float
    p99: float
    failed: int
    server_errors: int
    example: str = ""


@dataclass(frozen=True)
class Row:
    """One way, what was felt without and with it, and how the greedy one was answered."""

    way: str
    database: str
    quiet: Felt
    greedy: Felt
    answers: dict[str, Any]

    @property
    def is_fair(self) -> bool:
        """Whether the other merchant felt at most twice its quiet p99 and no failure."""
        most = max(MOST_TIMES * self.quiet.p99, LEAST_MS)
        return self.greedy.p99 <= most and not self.greedy.failed


@dataclass
class Town:
    """A service, its two merchants and their orders."""

    plan: Plan
    modest: SeededDatabase
    greedy: SeededDatabase
    orders: range
    large: int
    plain: range
    amounts: Amounts
    picture: str

    def describe_greed(self, number: int) -> dict[str, Any]:
        """Return what a greedy process needs to know."""
        return {
            "port": self.plan.port,
            "ca": str(self.plan.certificate.ca),
            "merchant": self.greedy.credentials.merchant,
            "key": self.greedy.credentials.key,
            "large": self.large,
            "plain": self.plain[number],
        }


def main() -> None:
    """Try the chosen ways on the chosen databases."""
    options = _read_options()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    amounts = QUICK if options.quick else Amounts()
    amounts = replace(amounts, seconds=options.seconds or amounts.seconds)
    work = tools.ROOT / "bench" / ".fairness"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    console, rows = Console(width=150), list[Row]()
    commit = f"{find_commit()}{'-unlimited' if options.unlimited else ''}"
    path = RESULTS / f"fairness-{commit}{'-quick' if options.quick else ''}.json"
    try:
        with LazyPostgresql() as open_postgresql:
            for database in options.database:
                session = Session(
                    work / database.lower(),
                    database,
                    make_certificate(work),
                    Sizes(),
                    open_postgresql,
                )
                for row in _try_all(session, amounts, options):
                    rows.append(row)
                    _store(path, work, rows)
    finally:
        _show(console, rows)
        shutil.rmtree(work, ignore_errors=True)
    console.print(f"Kept in {path.relative_to(tools.ROOT)}.")
    sys.exit(0 if all(row.is_fair for row in rows) else 1)


def _read_options() -> argparse.Namespace:
    reader = argparse.ArgumentParser(prog="python -m bench.fairness", description=__doc__)
    reader.add_argument("--quick", action="store_true", help="small numbers, in some minutes")
    reader.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS), help="some ways")
    reader.add_argument("--database", nargs="+", choices=BOTH, default=list(BOTH))
    reader.add_argument("--seconds", type=int, help="how long each way is measured")
    reader.add_argument(
        "--unlimited", action="store_true", help="without the limits of requests, to compare"
    )
    return reader.parse_args()


def _try_all(session: Session, amounts: Amounts, options: argparse.Namespace) -> Iterator[Row]:
    session.work.mkdir(parents=True)
    if session.database == POSTGRESQL:
        tools.prepare("fairness")
    photo = session.work / "photo.jpg"
    command = [sys.executable, "-m", "bench.photos", str(photo), "600", "900"]
    subprocess.run(command, cwd=tools.ROOT, check=True)
    town = _build(session, amounts, photo)
    limited = {name: "" for name in USUAL_SETTINGS if "MERCHANT" in name}
    limits = NO_STRANGERS if options.unlimited else limited
    plan = replace(town.plan, environment={**town.plan.environment, **limits})
    with offering(photo) as address:
        town = replace(town, plan=plan, picture=address)
        # What must still be done for one merchant after its requests is not another way's.
        for number, way in enumerate(options.only):
            with session.serving(ours=plan):
                _feel(town, seconds=2)
                yield _try_way(town, way, number, session.database)
    town.modest.close()
    town.greedy.close()


def _build(session: Session, amounts: Amounts, photo: Path) -> Town:
    url = session.make_url("ours")
    greedy = SeededDatabase(url)
    greedy.add_orders(amounts.lists, [PHOTO] * amounts.images)
    (large,) = greedy.add_orders(1, [PHOTO] * amounts.large)
    plain = greedy.add_orders(len(WAYS))
    # The lists begin with the newest: those with many images must be among them.
    modest = SeededDatabase(url)
    orders = modest.add_orders(200)
    plan = session.plan("ours", modest, "serve")
    plan = replace(plan, path=f"/v3.0/orders/{orders.start}")
    return Town(plan, modest, greedy, orders, large, plain, amounts, str(photo))


def _try_way(town: Town, way: str, number: int, database: str) -> Row:
    feel = _wait_for_pictures if way == OF_PICTURES else _feel
    with _going_first():
        quiet = feel(town)
    with _being_greedy(town, way, number) as process:
        time.sleep(town.amounts.seconds_to_begin)
        with _going_first():
            during = feel(town)
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        answers = json.loads(process.stdout.readline() or '{"failed": "no answer"}')
    row = Row(way, database, quiet, during, answers)
    print(_write_row(row), file=sys.stderr, flush=True)
    return row


@contextmanager
def _going_first() -> Iterator[None]:
    """Measure without waiting for a processor, as on a machine of one's own; needs root."""
    _prefer(-NICENESS)
    try:
        yield
    finally:
        _prefer(0)


def _prefer(niceness: int) -> None:
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
        Path("/proc/self/autogroup").write_text(str(niceness))


@contextmanager
def _being_greedy(town: Town, way: str, number: int) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.greedy", way],
        cwd=tools.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Which gives way to the service.
        start_new_session=True,
    )
    try:
        assert process.stdin is not None
        process.stdin.write(json.dumps(town.describe_greed(number)) + "\n")
        process.stdin.flush()
        assert process.stdout is not None
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()


def _feel(town: Town, seconds: int | None = None) -> Felt:
    """Send what a modest merchant sends, and return how it was answered."""
    chance = Random(20261116)
    plan, count = town.plan, PER_SECOND * (seconds or town.amounts.seconds)

    def mix() -> Iterator[tuple[str, bytes]]:
        for kind in chance.choices(list(SHARES), list(SHARES.values()), k=count):
            if kind == "get":
                yield kind, write_request(plan, "GET", f"/v3.0/orders/{chance.choice(town.orders)}")
            elif kind == "list":
                yield kind, write_request(plan, "GET", "/v3.0/orders?limit=20")
            else:
                yield kind, write_request(plan, "POST", "/v3.0/orders", ORDER_BODY)

    found = asyncio.run(send_on_schedule(plan, mix(), per_second=PER_SECOND, connections=8))
    return _sum_up(list(found.values()))


def _sum_up(found: Sequence[Laps]) -> Felt:
    every = Laps([lap for laps in found for lap in laps.milliseconds])
    errors = [error for laps in found for error in laps.errors]
    return Felt(
        count=len(every.milliseconds) + len(errors),
        p50=round(statistics.median(every.milliseconds or [0.0]), 1),
        p99=round(every.cut(99), 1),
        failed=len(errors),
        server_errors=sum(error.startswith("5") for error in errors),
        example=errors[0][:120] if errors else "",
    )


def _wait_for_pictures(town: Town) -> Felt:
    """Add pictures from a quick host, one after the other, and time until each is Ok."""
    order = json.loads(ask(town.plan, "POST", "/v3.0/orders", ORDER_BODY).body)["data"]["id"]
    return asyncio.run(_add_pictures(town, order))


async def _add_pictures(town: Town, order: int) -> Felt:
    laps, connection = Laps(), Connection(town.plan)
    path, run = f"/v3.0/orders/{order}", time.monotonic_ns()
    for number in range(town.amounts.pictures):
        body = {**IMAGE_BODY, "url": f"{town.picture}/{run}-{number}.jpg"}
        began = time.perf_counter()
        await connection.ask(write_request(town.plan, "POST", f"{path}/images", body))
        while time.perf_counter() - began < SECONDS_TO_ARRIVE:
            answer = await connection.ask(write_request(town.plan, "GET", path))
            states = [image["status"] for image in json.loads(answer.body)["data"]["images"]]
            if states == ["Ok"] * (number + 1):
                laps.milliseconds.append((time.perf_counter() - began) * 1000)
                break
            await asyncio.sleep(0.05)
        else:
            laps.errors.append(f"A picture was not there after {SECONDS_TO_ARRIVE} s.")
            break
    await connection.close()
    return _sum_up([laps])


def _store(path: Path, work: Path, rows: Sequence[Row]) -> None:
    path.parent.mkdir(exist_ok=True)
    facts = {"machine": describe_machine(work), "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(facts, indent=1) + "\n")


def _write_row(row: Row) -> str:
    felt = f"{row.quiet.p50} / {row.quiet.p99} → {row.greedy.p50} / {row.greedy.p99} ms"
    return f"{row.way} ({row.database}): {felt}, {row.greedy.failed} failed; greedy: {row.answers}"


def _show(console: Console, rows: Sequence[Row]) -> None:
    table = Table(title="What one merchant feels while another is greedy (milliseconds)")
    for name in (
        "way",
        "database",
        "quiet p50",
        "quiet p99",
        "p50",
        "p99",
        "times",
        "5xx",
        "other",
    ):
        table.add_column(name, justify="left" if name in {"way", "database"} else "right")
    table.add_column("fair")
    table.add_column("the greedy one was answered")
    for row in rows:
        during, quiet = row.greedy, row.quiet
        figures = (quiet.p50, quiet.p99, during.p50, during.p99)
        table.add_row(
            row.way,
            row.database,
            *(f"{figure:,.1f}" for figure in figures),
            f"{during.p99 / quiet.p99:.1f}" if quiet.p99 else "",
            str(during.server_errors),
            str(during.failed - during.server_errors),
            "yes" if row.is_fair else "NO",
            ", ".join(f"{name}: {count}" for name, count in row.answers.items()),
        )
    console.print(table)


if __name__ == "__main__":
    main()
