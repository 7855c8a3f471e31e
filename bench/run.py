"""Measure the service against its budgets: run `python -m bench.run` from the repository."""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import track

from bench import callbacks, pictures, production, report, tools
from bench.pace import drive_at
from bench.report import Budget
from bench.seeds import seed_folder
from bench.servers import (
    Certificate,
    Plan,
    make_certificate,
    plan_fastapi,
    plan_hello,
    plan_product,
    serving,
)
from bench.workload import ORDER_BODY
from bench.wrk import Sample, Target, drive

FEW: Final = 1_000
# Orders to which images are added: enough that few get a second one.
OPEN: Final = 20_000
MANY_WITH_IMAGES: Final = 100_000
PARTS: Final = ("throughput", "growth", "pace", "start", "pictures", "production", "callbacks")

Samples = dict[str, list[Sample]]


@dataclass
class Bench:
    """One run: its options, its work folder and its results so far."""

    work: Path
    certificate: Certificate
    rounds: int
    seconds: float
    connections: int
    processes: int
    many: int
    events: int
    result: dict[str, Any] = field(default_factory=dict)
    budgets: list[Budget] = field(default_factory=list)

    def plan(self, name: str, order_count: int) -> Plan:
        """Create a data folder of the product and plan to serve it."""
        credentials = seed_folder(self.work / name, order_count)
        return plan_product(
            self.work / name, self.certificate, credentials, processes=self.processes
        )

    @contextmanager
    def serving(self, **plans: Plan) -> Iterator[None]:
        """Run several servers side by side; only the measured one has work."""
        with ExitStack() as running:
            for name, plan in plans.items():
                running.enter_context(serving(plan, self.work / f"{name}.log"))
            yield

    def interleave(self, title: str, measures: Mapping[str, Callable[[], Sample]]) -> Samples:
        """Measure all in turn, round after round, so that noise affects all alike."""
        samples: Samples = {name: [] for name in measures}
        for measure in measures.values():
            measure()
        turns = [name for _ in range(self.rounds) for name in measures]
        for name in track(turns, title, console=Console(stderr=True)):
            samples[name].append(measures[name]())
        self.result[title] = report.summarise(samples)
        return samples


def measure_throughput(bench: Bench) -> None:
    """Measure GET and create against the peers and against bare INSERTs."""
    body = bench.work / "order.json"
    body.write_text(json.dumps(ORDER_BODY))
    ours = bench.plan("ours", FEW)
    hello = plan_hello(bench.certificate, processes=bench.processes)
    fastapi = plan_fastapi(
        bench.work / "fastapi.db", bench.certificate, processes=bench.processes, order_count=FEW
    )
    seed_folder(bench.work / "inserts", FEW)

    def ask(plan: Plan) -> Callable[[], Sample]:
        path = "/v3.0/orders/%d" if plan is not hello else "/"
        return _driving(bench, Target(plan.port, path, plan.credentials, last_id=FEW))

    def create(plan: Plan) -> Callable[[], Sample]:
        return _driving(bench, Target(plan.port, "/v3.0/orders", plan.credentials, "POST", body))

    with bench.serving(hello=hello, ours=ours, fastapi=fastapi):
        samples = bench.interleave(
            "throughput",
            {
                "hello": ask(hello),
                "GET order, ours": ask(ours),
                "GET order, FastAPI": ask(fastapi),
                "bare INSERTs": _inserting(bench, "rows"),
                "create order, ours": create(ours),
                "create order, FastAPI": create(fastapi),
                "INSERTs through the store": _inserting(bench, "store"),
                "INSERTs of the order alone": _inserting(bench, "driver"),
            },
        )
    bench.budgets += _check_throughput(samples)


def _driving(bench: Bench, target: Target) -> Callable[[], Sample]:
    return lambda: drive(target, connections=bench.connections, seconds=bench.seconds)


def _inserting(bench: Bench, way: str) -> Callable[[], Sample]:
    path = bench.work / "inserts" / "printworks.db"
    command = [sys.executable, "-m", "bench.inserts", way, str(path), str(bench.seconds)]

    def measure() -> Sample:
        ended = subprocess.run(command, cwd=tools.ROOT, stdout=subprocess.PIPE, check=True)
        return Sample(**json.loads(ended.stdout))

    return measure


def _check_throughput(samples: Samples) -> list[Budget]:
    def ratio(name: str, one: str, other: str, at_least: float | None = None) -> Budget:
        ours = [sample.per_second for sample in samples[one]]
        theirs = [sample.per_second for sample in samples[other]]
        return report.compare(name, ours, theirs, at_least=at_least)

    get, create = "GET order, ours", "create order, ours"
    return [
        ratio("GET / hello", get, "hello", 0.25),
        ratio("GET / FastAPI", get, "GET order, FastAPI", 5),
        ratio("create / bare INSERTs", create, "bare INSERTs", 0.4),
        ratio("create / INSERTs through the store", create, "INSERTs through the store"),
        ratio("create / INSERTs of the order alone", create, "INSERTs of the order alone"),
        ratio("create / FastAPI", create, "create order, FastAPI"),
    ]


def measure_growth(bench: Bench) -> None:
    """Measure the same requests with few and with many orders, one at a time."""
    few, many = bench.plan("few", FEW), bench.plan("many", bench.many)

    def ask(plan: Plan, path: str, last_id: int = 1) -> Callable[[], Sample]:
        target = Target(plan.port, path, plan.credentials, last_id=last_id)
        return lambda: drive(target, connections=1, seconds=bench.seconds)

    page, deep = "/v3.0/orders?limit=100", f"/v3.0/orders?limit=100&start={bench.many * 9 // 10}"
    with bench.serving(few=few, many=many):
        samples = bench.interleave(
            "growth",
            {
                "GET, few orders": ask(few, "/v3.0/orders/%d", FEW),
                "GET, many orders": ask(many, "/v3.0/orders/%d", bench.many),
                "list, few orders": ask(few, page),
                "list, many orders": ask(many, page),
                "list, many orders, deep": ask(many, deep),
            },
        )

    def ratio(name: str, one: str, other: str) -> Budget:
        ours, theirs = ([sample.p50 for sample in samples[key]] for key in (one, other))
        return report.compare(name, ours, theirs, at_most=1.3)

    bench.budgets += [
        ratio("GET, many / few orders", "GET, many orders", "GET, few orders"),
        ratio("list, many / few orders", "list, many orders", "list, few orders"),
        ratio("list, deep / first page", "list, many orders, deep", "list, many orders"),
    ]


def measure_pace(bench: Bench) -> None:
    """Measure latencies at a fixed rate of mixed requests."""
    plan = bench.plan("pace", FEW)
    with bench.serving(pace=plan):
        drive_at(plan, per_second=200, seconds=2, last_id=FEW)
        paced = drive_at(plan, per_second=200, seconds=15, last_id=FEW)
    bench.result["pace"] = {
        f"{kind}, at 200 mixed requests/s": {"p50_ms": found.p50, "p99_ms": found.p99}
        for kind, found in paced.items()
    }
    slowest = paced["create"].p99
    bench.budgets.append(report.state("create p99 at 200/s, ms", [slowest], at_most=250))


def measure_start(bench: Bench) -> None:
    """Measure how long a start on an existing data folder takes."""
    plan = bench.plan("start", FEW)
    waits = []
    for _ in range(6):
        with serving(plan, bench.work / "start.log") as seconds:
            waits.append(seconds)
    # The first start creates the data folder for the others.
    bench.result["start"] = {"seconds": waits[1:], "first": waits[0]}
    bench.budgets.append(report.state("start to first answer, s", waits[1:], at_most=2))


def measure_pictures(bench: Bench) -> None:
    """Measure proofs and print files against bare libjpeg-turbo and vipsthumbnail."""
    bench.result["machine"] |= pictures.describe_tools()
    figures, budgets = pictures.measure(bench.work / "pictures", bench.rounds)
    bench.result["pictures"] = figures
    bench.budgets += budgets


def measure_production(bench: Bench) -> None:
    """Measure what images and shipments add to a request, and the time of pricing and routing."""
    figures, budgets = production.measure_routing(bench.work / "routing", bench.rounds)
    bench.result["routing"] = figures
    hello = plan_hello(bench.certificate, processes=bench.processes)
    # First orders with images and shipments, then empty ones, then those that get images.
    ours = _plan_web(bench, "production", 2 * FEW + OPEN, FEW, production.THREE, is_sent=True)
    few = _plan_web(bench, "status-few", FEW, FEW, production.ONE)
    many = _plan_web(bench, "status-many", MANY_WITH_IMAGES, MANY_WITH_IMAGES, production.ONE)
    # There are seven measures, and wrk counts in whole seconds.
    seconds = max(1, bench.seconds // 2)

    def ask(plan: Plan, path: str, connections: int, **target: Any) -> Callable[[], Sample]:
        chosen = Target(plan.port, path, plan.credentials, **target)
        return lambda: drive(chosen, connections=connections, seconds=seconds)

    def send(path: str, body: Mapping[str, Any], **target: Any) -> Callable[[], Sample]:
        file = bench.work / f"{len(body)}-members.json"
        file.write_text(json.dumps(body))
        return ask(ours, path, bench.connections, method="POST", body=file, **target)

    get, status = "/v3.0/orders/%d", "/v3.0/orders/%d/SubmissionStatus"
    with bench.serving(hello=hello, production=ours, few=few, many=many):
        samples = bench.interleave(
            "production",
            {
                "hello": ask(hello, "/", bench.connections),
                "GET, no images": ask(
                    ours, get, bench.connections, first_id=FEW + 1, last_id=2 * FEW
                ),
                "GET, 3 images, 2 shipments": ask(ours, get, bench.connections, last_id=FEW),
                "create order": send("/v3.0/orders", ORDER_BODY),
                "add image": send(
                    f"{get}/images",
                    production.IMAGE_BODY,
                    first_id=2 * FEW + 1,
                    last_id=2 * FEW + OPEN,
                ),
                "SubmissionStatus, few orders": ask(few, status, 1, last_id=FEW),
                "SubmissionStatus, many orders": ask(many, status, 1, last_id=MANY_WITH_IMAGES),
            },
        )
    bench.budgets += [*_check_production(samples), *budgets]


def _plan_web(
    bench: Bench,
    name: str,
    order_count: int,
    last_with_images: int,
    skus: Sequence[str],
    *,
    is_sent: bool = False,
) -> Plan:
    """Plan to serve orders with images, without a worker: no image must be downloaded."""
    plan = bench.plan(name, order_count)
    production.fill_orders(bench.work / name, last_with_images, skus, is_sent=is_sent)
    program, _, *rest = plan.command
    return replace(plan, command=(program, "web", *rest))


def _check_production(samples: Samples) -> list[Budget]:
    def rates(name: str) -> list[float]:
        return [sample.per_second for sample in samples[name]]

    def waits(name: str) -> list[float]:
        return [sample.p50 for sample in samples[name]]

    full, empty = rates("GET, 3 images, 2 shipments"), rates("GET, no images")
    few, many = "SubmissionStatus, few orders", "SubmissionStatus, many orders"
    return [
        report.compare("GET, 3 images / hello", full, rates("hello"), at_least=0.25),
        report.compare("GET, no images / hello", empty, rates("hello"), at_least=0.25),
        report.compare("GET, 3 images / no images", full, empty),
        report.compare("add image / create order", rates("add image"), rates("create order")),
        report.compare("SubmissionStatus, many / few", waits(many), waits(few), at_most=1.3),
    ]


def measure_callbacks(bench: Bench) -> None:
    """Measure the rate and latency of callbacks, and their effect on others."""
    figures, budgets = callbacks.measure(bench.work / "callbacks", bench.rounds, bench.events)
    bench.result["callbacks"] = figures
    bench.budgets += budgets


def main() -> None:
    """Run the chosen parts, print the tables, write the files."""
    options = _read_options()
    tools.prepare(options.only)
    work = tools.ROOT / "bench" / ".work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / ".gitignore").write_text("*\n")
    bench = Bench(
        work,
        make_certificate(work),
        options.rounds,
        options.seconds,
        options.connections,
        options.processes,
        options.many,
        options.events,
    )
    told = ("rounds", "seconds", "connections", "processes", "many", "events")
    how = {name: getattr(bench, name) for name in told}
    bench.result |= {"machine": report.describe_machine(work), "how": how}
    measures = (
        measure_throughput,
        measure_growth,
        measure_pace,
        measure_start,
        measure_pictures,
        measure_production,
        measure_callbacks,
    )
    try:
        for part, measure in zip(PARTS, measures, strict=True):
            if part in options.only:
                measure(bench)
    finally:
        if not options.keep:
            shutil.rmtree(work)
    report.show(bench.result, bench.budgets)
    if set(options.only) == set(PARTS):
        report.write(bench.result, bench.budgets)
    if options.check and not all(budget.is_met for budget in bench.budgets):
        sys.exit(1)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="length of one measurement")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--processes", type=int, default=2, help="web processes of each server")
    parser.add_argument("--many", type=int, default=1_000_000, help="orders of the large folder")
    parser.add_argument("--events", type=int, default=1_500, help="callbacks of one measurement")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--keep", action="store_true", help="keep the work folder and its logs")
    parser.add_argument("--check", action="store_true", help="fail when a budget is missed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
