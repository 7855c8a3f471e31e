"""Creating orders and adding images: durable, and at the same cost however many there are."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from statistics import median

from bench.clients import time_each, write_request
from bench.lines import Line, compare
from bench.servers import Plan
from bench.session import Session, rates
from bench.tools import ROOT
from bench.workload import IMAGE_BODY, ORDER_BODY, PHOTO
from bench.wrk import Sample, Target

# Requests of one client in one round, and images of a full order.
REQUESTS = 20
HUNDRED = 100


def measure(session: Session) -> list[Line]:
    """Measure creating against bare INSERTs, and adding images against creating."""
    seeded, bare = session.seed("ours"), session.seed("bare")
    bare.add_orders(session.sizes.few)
    bare.close()
    empty = seeded.add_orders(session.sizes.open_orders)
    stock = REQUESTS * (session.sizes.rounds + 1)
    nearly_full = iter(seeded.add_orders(stock, [PHOTO] * (HUNDRED - 1)))
    batched, fresh, single = (iter(seeded.add_orders(stock)) for _ in range(3))
    seeded.close()
    ours = session.plan("ours", seeded)
    with session.serving(ours=ours):
        found = session.interleave(
            "writing",
            {
                "bare INSERTs": _inserting(session, bare.url),
                "create": _posting(session, ours, "/v3.0/orders", ORDER_BODY),
                "add image": _posting(
                    session, ours, "/v3.0/orders/%d/images", IMAGE_BODY, ids=empty
                ),
            },
        )
        one = "/v3.0/orders/{}/images"
        laps = session.interleave(
            "adding images",
            {
                "1st image": _timing(ours, one, IMAGE_BODY, fresh),
                "100th image": _timing(ours, one, IMAGE_BODY, nearly_full),
                "batch of 100": _timing(ours, f"{one}/batch", [IMAGE_BODY] * HUNDRED, batched),
                "one image": _timing(ours, one, IMAGE_BODY, single),
            },
        )
    session.note("requests", found)
    session.figures["one client"] = {
        name: {"p50_ms": median(rounds), "rounds": rounds} for name, rounds in laps.items()
    }
    rate = {name: rates(samples) for name, samples in found.items()}
    return _compare(rate | laps)


def _compare(found: Mapping[str, list[float]]) -> list[Line]:
    return [
        compare("create / bare INSERTs", found["create"], found["bare INSERTs"]),
        compare("add image / create", found["add image"], found["create"]),
        compare("100th image / 1st", found["100th image"], found["1st image"]),
        compare("batch of 100 / one image", found["batch of 100"], found["one image"]),
    ]


def _inserting(session: Session, url: str) -> Callable[[], Sample]:
    command = [sys.executable, "-m", "bench.inserts", url, str(session.sizes.seconds)]

    def insert() -> Sample:
        ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        said = json.loads(ended.stdout)
        return Sample(said["per_second"], said["p50"], said["p99"])

    return insert


def _posting(
    session: Session, plan: Plan, path: str, body: object, ids: range = range(1, 2)
) -> Callable[[], Sample]:
    file = session.work / f"{len(path)}.json"
    file.write_text(json.dumps(body))
    return session.driving(Target(plan.port, path, plan.credentials, "POST", file, ids=ids))


def _timing(plan: Plan, path: str, body: object, ids: Iterator[int]) -> Callable[[], float]:
    """Return a measure: the median latency of one client, each request to an order of its own."""

    def time_some() -> float:
        chosen = [path.format(next(ids)) for _ in range(REQUESTS)]
        return time_each(plan, [write_request(plan, "POST", one, body) for one in chosen]).cut(50)

    return time_some
