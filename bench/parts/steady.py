"""Whole orders at a steady rate, from creation to dispatch, and the memory of all processes."""

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

from sqlalchemy import func, select

from bench.clients import Connection, write_request
from bench.lines import Line
from bench.parts.arrivals import offering, write_photo
from bench.processes import list_last_children, read_memory
from bench.receiver import receiving
from bench.seeds import SeededDatabase
from bench.servers import Plan
from bench.session import Session
from bench.shops import running
from bench.tools import PROGRAM
from bench.workload import IMAGE_BODY, ORDER_BODY, SUBMIT_BODY
from bench.wrk import NoAnswers
from printworks.actions.callbacks import set_callback
from printworks.clock import system_clock
from printworks.rules.events import CallbackState
from printworks.rules.orders import OrderStatus
from printworks.store.tables import callbacks, orders
from tests.factories import a_work

# Orders that are printed, and orders that are only created, of which a callback tells.
PER_SECOND = 1
ONLY_CREATED = 20
# A print of 4 by 6 inches at 300 dots an inch.
PIXELS = (1800, 1200)
# How often the memory is looked at. What a worker keeps on purpose is there after the first time.
LOOKS = 12
# Before anything counts: connections, caches and threads.
SECONDS_TO_WARM_UP = 2
# The simulated lab dispatches after twenty minutes, give or take a tenth, and is asked now and then.
TO_DISPATCH = timedelta(minutes=25)
# From a change to its callback.
TO_CATCH_UP = timedelta(seconds=30)


def measure(session: Session) -> Iterator[Line]:
    """Create, picture and submit orders while a worker fetches, routes, prints and calls back."""
    photo = write_photo(session.work, PIXELS)
    seeded = session.seed("ours")
    seeded.add_orders(1)
    plan = session.plan("ours", seeded)
    work = (PROGRAM, "work", "--data", session.work / "ours")
    with (
        offering(photo) as pictures,
        receiving() as receiver,
        session.serving(ours=plan) as (server,),
        running(work, session.work / "worker.log", plan.environment) as worker,
    ):
        with seeded.database.writing() as db:
            set_callback(a_work(db, seeded.merchant, now=system_clock()), receiver.url("orders"))
        numbers = count()
        asyncio.run(_make_orders(plan, pictures, numbers, SECONDS_TO_WARM_UP))
        web = list_last_children(server.process)
        memory: dict[str, list[float]] = {"web process": [], "worker": []}
        received = 0
        looks = min(LOOKS, session.sizes.steady_seconds)
        seconds = session.sizes.steady_seconds // looks
        for _ in range(looks):
            asyncio.run(_make_orders(plan, pictures, numbers, seconds))
            memory["web process"].append(max(map(read_memory, web)))
            memory["worker"].append(read_memory(worker))
            received += len(receiver.take())
        late = _count_late(seeded)
    seeded.close()
    for process, looked in memory.items():
        yield from session.state_memory(process, looked)
    for name, counted in (
        ("orders and callbacks that are late", late),
        ("orders that are printed", next(numbers)),
        ("callbacks", received),
    ):
        yield Line(name, counted, counted)


async def _make_orders(plan: Plan, pictures: str, numbers: Iterator[int], seconds: int) -> None:
    start, each_second = time.perf_counter(), PER_SECOND + ONLY_CREATED
    async with asyncio.TaskGroup() as tasks:
        for step in range(each_second * seconds):
            await asyncio.sleep(start + step / each_second - time.perf_counter())
            is_printed = step % each_second < PER_SECOND
            url = f"{pictures}/{next(numbers)}.jpg" if is_printed else None
            tasks.create_task(_make_order(plan, url))
        await asyncio.sleep(start + seconds - time.perf_counter())


async def _make_order(plan: Plan, url: str | None) -> None:
    """Create an order; with an address, add the picture there and submit it."""
    connection = Connection(plan)

    async def post(path: str, body: object) -> dict[str, Any]:
        answer = await connection.ask(write_request(plan, "POST", f"/v3.0/orders{path}", body))
        if answer.status != 200:
            message = f"{path} answers {answer.status}: {answer.body[:200].decode()}"
            raise NoAnswers(message)
        said: dict[str, Any] = json.loads(answer.body)
        return said

    try:
        order = (await post("", ORDER_BODY))["data"]["id"]
        if url:
            await post(f"/{order}/images", {**IMAGE_BODY, "url": url})
            await post(f"/{order}/status", SUBMIT_BODY)
    finally:
        await connection.close()


def _count_late(seeded: SeededDatabase) -> int:
    """Count orders that should be dispatched by now, and callbacks that should be delivered."""
    now = system_clock()
    behind = select(func.count()).where(
        orders.c.status.not_in([OrderStatus.COMPLETE, OrderStatus.NOT_YET_SUBMITTED]),
        orders.c.created_at < now - TO_DISPATCH,
    )
    pending = select(func.count()).where(
        callbacks.c.state == CallbackState.PENDING, callbacks.c.created_at < now - TO_CATCH_UP
    )
    with seeded.database.reading() as db:
        return sum(db.execute(counted).scalar_one() for counted in (behind, pending))
