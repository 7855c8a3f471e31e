"""Payments that only wait for their payers are checked rarely, and not at all while a clock moves."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from printworks.payments.provider import Outcome, Unknown
from printworks.payments.simulated import SimulatedProvider
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import PaymentState
from printworks.worker.advance import advance
from printworks.worker.loop import Context
from tests.scale import scaled
from tests.worker.cashiers import Cashier
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, Shop

DAY = timedelta(days=1)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the payments for which the bank was asked, in order."""
    keys: list[str] = []
    look_up = SimulatedProvider.look_up

    def count(bank: SimulatedProvider, charge: Any, reference: str = "") -> Outcome | Unknown:
        keys.append(charge.key)
        return look_up(bank, charge, reference)

    monkeypatch.setattr(SimulatedProvider, "look_up", count)
    return keys


def move_clock(shop: Shop, by: timedelta) -> None:
    """Move the merchant's clock, as the sandbox does."""

    async def play() -> None:
        with ThreadPoolExecutor(2) as threads:
            context = Context(shop.resources.services, threads, shop.resources)
            await advance(context, shop.merchant.id, by)

    shop._loop.run(play())


def test_a_moved_clock_asks_once_for_each_payment_that_waits(shop: Shop, asked: list[str]) -> None:
    cashier = Cashier(shop)
    waiting = cashier.many_drafts(scaled(32), destination_country="FR")
    keys = [cashier.submit(order).key for order in waiting]

    for _ in range(4):
        move_clock(shop, DAY / 8)

    assert sorted(asked) == sorted(keys)
    assert {shop.order(order).status for order in waiting} == {OrderStatus.AWAITING_PAYMENT}
    move_clock(shop, DAY)
    assert sorted(asked) == sorted(keys)
    assert {shop.order(order).status for order in waiting} == {OrderStatus.NOT_YET_SUBMITTED}


def test_one_that_is_authorised_before_the_clock_moves_is_found(shop: Shop) -> None:
    cashier = Cashier(shop)
    order = cashier.a_draft(destination_country="FR")
    request = cashier.submit(order)
    shop.resources.gateway.bank.authorise(request.key)

    move_clock(shop, DAY / 24)

    assert shop.order(order).status is OrderStatus.SUBMITTED


def test_one_that_is_authorised_between_two_moves_is_found_before_it_expires(shop: Shop) -> None:
    cashier = Cashier(shop)
    order = shop.add_order(destination_country="FR")
    shop.add_images(order, shop.host.at("/a.jpg", holds(A_PICTURE)))
    request = cashier.submit(shop.order(order))
    move_clock(shop, DAY / 24)
    shop.resources.gateway.bank.authorise(request.key)

    move_clock(shop, DAY)

    assert cashier.request(request).state is PaymentState.PAID
    assert cashier.count_taken(order) == (1, 1)


def test_time_that_passes_by_itself_asks_ever_more_rarely(shop: Shop, asked: list[str]) -> None:
    Cashier(shop).submit(Cashier(shop).a_draft(destination_country="FR"))

    for _ in range(24 * 4 - 1):
        shop.pass_time(minutes=15)

    assert len(asked) == 7
