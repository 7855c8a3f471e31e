"""A day's mix of requests at a fixed rate, whether or not the earlier ones were answered."""

import asyncio
from collections.abc import Iterator, Mapping
from random import Random

from bench.clients import Laps, send_on_schedule, write_request
from bench.lines import Line, state_most
from bench.processes import list_last_children, read_memory
from bench.servers import Plan
from bench.session import Session
from bench.workload import IMAGE_BODY, ORDER_BODY, SUBMIT_BODY, THREE

PER_SECOND = 200
SHARES = {"get": 50, "list": 10, "create": 25, "add image": 10, "submit": 5}
# Before anything counts: connections, caches and threads.
SECONDS_TO_WARM_UP = 2
# How often the memory is looked at. What a process keeps on purpose is there after the first time.
LOOKS = 10
# Images that an order gets in all, however long it takes.
IMAGES_OF_AN_ORDER = 12


def measure(session: Session) -> Iterator[Line]:
    """Measure latencies and errors, and the memory of the web processes meanwhile."""
    seconds = session.sizes.mixed_seconds + 2 * SECONDS_TO_WARM_UP
    seeded = session.seed("ours")
    images = PER_SECOND * seconds * SHARES["add image"] // 100
    plain = seeded.add_orders(max(session.sizes.few, images // IMAGES_OF_AN_ORDER))
    # Each is submitted once, so there are more than will be drawn.
    ready = iter(seeded.add_orders(PER_SECOND * seconds * SHARES["submit"] // 50, THREE))
    seeded.close()
    ours = session.plan("ours", seeded)
    with session.serving(ours=ours) as (server,):
        mix = _mix(ours, plain, ready)
        _drive(ours, mix, SECONDS_TO_WARM_UP)
        web = list_last_children(server.process)
        found: dict[str, Laps] = {}
        memory: list[float] = []
        looks = min(LOOKS, session.sizes.mixed_seconds)
        for _ in range(looks):
            for kind, laps in _drive(ours, mix, session.sizes.mixed_seconds // looks).items():
                every = found.setdefault(kind, Laps())
                every.milliseconds += laps.milliseconds
                every.errors += laps.errors
            memory.append(max(map(read_memory, web)))
    yield from _summarise(session, found)
    yield from session.state_memory("web process", memory)


def _summarise(session: Session, found: Mapping[str, Laps]) -> Iterator[Line]:
    every = Laps()
    for laps in found.values():
        every.milliseconds += laps.milliseconds
        every.errors += laps.errors
    session.figures["latencies"] = {
        kind: {
            "count": len(laps.milliseconds),
            "p50_ms": laps.cut(50),
            "p99_ms": laps.cut(99),
            "most_ms": max(laps.milliseconds, default=0),
        }
        for kind, laps in {**found, "all": every}.items()
    }
    yield state_most("p99 at 200/s, ms", [every.cut(99)])
    note = every.errors[0] if every.errors else ""
    yield Line("errors", len(every.errors), len(every.errors), note=note)


def _drive(plan: Plan, mix: Iterator[tuple[str, bytes]], seconds: int) -> dict[str, Laps]:
    requests = (next(mix) for _ in range(PER_SECOND * seconds))
    return asyncio.run(send_on_schedule(plan, requests, per_second=PER_SECOND))


def _mix(plan: Plan, plain: range, ready: Iterator[int]) -> Iterator[tuple[str, bytes]]:
    chance = Random(20261115)
    while True:
        (kind,) = chance.choices(list(SHARES), list(SHARES.values()))
        order = f"/v3.0/orders/{chance.choice(plain)}"
        if kind == "get":
            yield kind, write_request(plan, "GET", order)
        elif kind == "list":
            yield kind, write_request(plan, "GET", "/v3.0/orders?limit=20")
        elif kind == "create":
            yield kind, write_request(plan, "POST", "/v3.0/orders", ORDER_BODY)
        elif kind == "add image":
            yield kind, write_request(plan, "POST", f"{order}/images", IMAGE_BODY)
        else:
            path = f"/v3.0/orders/{next(ready)}/status"
            yield kind, write_request(plan, "POST", path, SUBMIT_BODY)
