"""Measure callbacks: rate, latency, the effect of bad receivers, and the cost for a change."""

import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from random import Random
from typing import Final

from bench import postgres
from bench.budgets import POSTGRESQL, SQLITE
from bench.causes import measure_causes
from bench.deliveries import measure_deliveries
from bench.lines import Line, compare, state
from bench.measures import MERCHANTS, SHORT_ROUNDS, WARM_UP, Laps, Measures, OpenShop, cut
from bench.receiver import ReceivedCallback, receiving
from bench.session import Session
from bench.shops import NEW, Shop, UnexpectedCallbacks
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.orders import create_order
from printworks.clock import system_clock
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant
from tests.factories import a_work, a_work_of

# Orders that are created and moved, one at a time, in each round.
ORDERS_WHILE_IDLE: Final = 10
PAUSE_WHILE_IDLE: Final = (0.02, 0.06)
# With bad receivers: events per second, every third of them theirs, and events in a round.
PER_SECOND: Final = 100
PACED: Final = 150
BURST_FOR_EACH: Final = 30


def measure(session: Session) -> Iterator[Line]:
    """Measure everything; every callback is verified, and a missing one ends the part."""
    with postgres.running() as server, receiving() as receiver:
        found = Measures(session.work, server, receiver, session.sizes.rounds)
        session.figures["callbacks"] = found.figures
        shops = {
            POSTGRESQL: found.open_postgresql("busy"),
            SQLITE: found.open_sqlite("busy-sqlite"),
        }
        with ExitStack() as workers:
            opened = {
                name: OpenShop(
                    shop, shop.add_merchants(MERCHANTS), workers.enter_context(shop.working())
                )
                for name, shop in shops.items()
            }
            measure_deliveries(found, opened, session.sizes.events)
            yield from found.take_lines()
            _measure_while_idle(found, opened)
            yield from found.take_lines()
        measure_causes(found, shops)
        yield from found.take_lines()
        _measure_beside_bad_ones(found)
        yield from found.take_lines()
        for shop in shops.values():
            shop.database.close()


def _measure_while_idle(found: Measures, shops: Mapping[str, OpenShop]) -> None:
    """Create and move orders one at a time on an idle service."""
    labels = {name: f"change to delivery while idle, {name}" for name in shops}
    laps: Laps = {label: [] for label in labels.values()}
    random = Random(1)

    def measure_one(name: str) -> None:
        shop, merchants, _ = shops[name]
        received, waits = list[ReceivedCallback](), list[float]()

        def wait(began: float) -> None:
            found.receiver.wait_for(1)
            (came, *_) = one = found.receiver.take()
            received.extend(one)
            waits.append((came.at - began) * 1000)
            time.sleep(random.uniform(*PAUSE_WHILE_IDLE))

        for number in range(ORDERS_WHILE_IDLE):
            with shop.database.writing() as db:
                merchant = merchants[number % MERCHANTS]
                order = create_order(a_work(db, merchant, now=system_clock()), NEW)
                began = time.monotonic()
            wait(began)
            with shop.database.writing() as db:
                move_order(a_work_of(db, order, now=system_clock()), order, OrderStatus.CANCELLED)
                began = time.monotonic()
            wait(began)
        shop.check(received)
        laps[labels[name]].append(waits)

    found.interleave("while idle", {name: partial(measure_one, name) for name in shops})
    found.note_laps(laps)
    for name, label in labels.items():
        for percent in (50, 95):
            cuts = [cut(one, percent) for one in laps[label]]
            line = state(f"change to delivery while idle, p{percent} ms", cuts)
            found.lines.append(replace(line, database=name))


def _measure_beside_bad_ones(found: Measures) -> None:
    """Send at a steady rate, with ten fast or bad receivers in the same worker."""
    calm, troubled = "healthy, among healthy ones", "healthy, beside ten bad ones"
    shops = {calm: found.open_postgresql("calm"), troubled: found.open_postgresql("troubled")}
    healthy = {name: shop.add_merchants(MERCHANTS // 2) for name, shop in shops.items()}
    others = {
        calm: shops[calm].add_merchants(len(found.receiver.bad_urls)),
        troubled: [shops[troubled].add_merchant(url) for url in found.receiver.bad_urls],
    }
    laps: Laps = {name: [] for name in shops}
    firsts: Laps = {f"{name}, at first": [] for name in shops}

    workers: dict[str, int] = {}

    def measure_one(name: str, kept: list[list[float]]) -> None:
        (other,) = (worker for one, worker in workers.items() if one != name)
        with _paused(other):
            kept.append(_drive(shops[name], healthy[name], others[name]))

    with ExitStack() as running:
        for name, shop in shops.items():
            workers[name] = running.enter_context(shop.working())
            shop.create_orders(healthy[name], WARM_UP)
            found.receiver.wait_for(WARM_UP)
            shop.check(found.receiver.take())
        for name, kept in zip(shops, firsts.values(), strict=True):
            # A burst, before the worker knows that they are bad.
            shops[name].create_orders(others[name], BURST_FOR_EACH * len(others[name]))
            measure_one(name, kept)
        calls = {name: partial(measure_one, name, laps[name]) for name in shops}
        found.interleave("beside bad ones", calls, times=SHORT_ROUNDS)
    if not all(found.receiver.count_bad_requests().values()):
        message = f"Not all bad receivers were asked: {found.receiver.count_bad_requests()}."
        raise UnexpectedCallbacks(message)
    found.note_laps(laps | firsts)
    ours, theirs = ([cut(one, 95) for one in laps[name]] for name in (troubled, calm))
    line = compare("healthy p95, beside bad / healthy", ours, theirs)
    found.lines.append(replace(line, database=POSTGRESQL))
    for shop in shops.values():
        shop.database.close()


@contextmanager
def _paused(worker: int) -> Iterator[None]:
    """Pause a worker during the block, so that it does not slow down the other one."""
    os.kill(worker, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(worker, signal.SIGCONT)


def _drive(shop: Shop, healthy: Sequence[Merchant], others: Sequence[Merchant]) -> list[float]:
    """Create orders at a steady rate; return the callback latencies of healthy merchants."""
    began: dict[int, float] = {}
    start = time.monotonic()
    for number in range(PACED):
        time.sleep(max(0, start + number / PER_SECOND - time.monotonic()))
        is_other = number % 3 == 2
        merchants = others if is_other else healthy
        with shop.database.writing() as db:
            merchant = merchants[number % len(merchants)]
            order = create_order(a_work(db, merchant, now=system_clock()), NEW)
            at = time.monotonic()
        if not is_other:
            began[order.id] = at
    shop.wait_until_acknowledged()
    received = shop.receiver.take()
    shop.check(received)
    came = {one.content["orderId"]: one.at for one in reversed(received)}
    return [(came[order_id] - at) * 1000 for order_id, at in began.items()]
