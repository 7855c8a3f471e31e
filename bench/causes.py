"""Measure what callbacks add to a change: the same change with and without a callback address."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Final

from sqlalchemy import Connection

from bench.lines import compare
from bench.measures import Laps, Measures, cut
from bench.shops import NEW, Shop
from printworks.actions.callbacks import set_callback
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.orders import create_order
from printworks.clock import system_clock
from printworks.rules.events import OrderChanged
from printworks.rules.orders import OrderStatus
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, insert_order, update_order
from tests.factories import a_work, a_work_of

# Transactions of each kind in each round.
CHANGES: Final = 40

Change = Callable[[Connection], object]


def measure_causes(found: Measures, shops: Mapping[str, Shop]) -> None:
    """Time creating and moving orders of merchants with and without callbacks."""
    for name, shop in shops.items():
        changes = _prepare_changes(shop, found.rounds)
        whole: Laps = {f"{change}, {name}": [] for change in changes}
        statements: Laps = {label: [] for label in whole}
        measure_all = partial(_time_changes, shop, changes, whole, statements)
        found.interleave(f"causes, {name}", {name: measure_all})
        found.note_laps(whole)
        for label, rounds in statements.items():
            found.figures[label]["statements_ms"] = median(cut(one, 50) for one in rounds)
        for what in ("create", "move"):
            for laps, kind in ((whole, ""), (statements, ", without the commit")):
                told, feed = (
                    [cut(one, 50) for one in laps[f"{what}, {how}, {name}"]]
                    for how in ("told", "feed alone")
                )
                line = compare(f"{what}, told / feed alone{kind}", told, feed)
                found.lines.append(replace(line, database=name))


def _prepare_changes(shop: Shop, rounds: int) -> dict[str, Change]:
    """Return the changes to time: with a callback, in the feed alone, and with neither."""
    told, quiet = shop.add_merchants(2)
    stock: dict[str, list[Order]] = {}
    with shop.database.writing() as db:
        # Events before the address was set are never sent, so later ones do not wait for them.
        for merchant in (told, quiet):
            set_callback(a_work(db, merchant), None)
        for how, merchant in (("told", told), ("feed alone", quiet), ("event alone", quiet)):
            stock[how] = [
                create_order(a_work(db, merchant, now=system_clock()), NEW)
                for _ in range(CHANGES * rounds)
            ]
        set_callback(a_work(db, told), shop.receiver.url(str(told.id)))

    def create_bare(db: Connection) -> None:
        now = system_clock()
        order, _ = insert_order(db, quiet.id, NEW, payment_token=None, now=now)
        record_event(db, order.id, OrderChanged(["status", "merchant_order_id"]), now=now)

    def move_bare(db: Connection) -> None:
        order, now = stock["event alone"].pop(), system_clock()
        update_order(db, order, {"status": OrderStatus.CANCELLED, "updated_at": now})
        record_event(db, order.id, OrderChanged(["status", "merchant_order_id"]), now=now)

    def move(how: str) -> Change:
        def move_one(db: Connection) -> None:
            order = stock[how].pop()
            move_order(a_work_of(db, order, now=system_clock()), order, OrderStatus.CANCELLED)

        return move_one

    return {
        "create, told": lambda db: create_order(a_work(db, told, now=system_clock()), NEW),
        "create, feed alone": lambda db: create_order(a_work(db, quiet, now=system_clock()), NEW),
        "create, event alone": create_bare,
        "move, told": move("told"),
        "move, feed alone": move("feed alone"),
        "move, event alone": move_bare,
    }


def _time_changes(shop: Shop, changes: Mapping[str, Change], whole: Laps, statements: Laps) -> None:
    for rounds in (*whole.values(), *statements.values()):
        rounds.append([])
    for _ in range(CHANGES):
        for change, wholes, parts in zip(
            changes.values(), whole.values(), statements.values(), strict=True
        ):
            started = time.perf_counter()
            with shop.database.writing() as db:
                change(db)
                until_commit = time.perf_counter() - started
            wholes[-1].append((time.perf_counter() - started) * 1000)
            parts[-1].append(until_commit * 1000)
