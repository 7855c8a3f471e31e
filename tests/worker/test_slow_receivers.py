"""A receiver that hangs, drips or fails slows nobody but itself."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from printworks.rules.events import CallbackState
from printworks.rules.jobs import POLICIES, JobKind
from printworks.store.accounts.merchants import Merchant
from tests.factories import a_merchant
from tests.worker.conftest import OpenShop
from tests.worker.hosts import says_nothing, wait_until
from tests.worker.receivers import Receiver, attempts, drips, feed, listen, says
from tests.worker.shops import Shop

pytestmark = pytest.mark.slow

BAD_ONES = 10
ORDERS = 20


@pytest.fixture
def bad() -> Iterator[Receiver]:
    """A receiver that is in trouble."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that is well."""
    with Receiver() as receiver:
        yield receiver


def add_merchants(shop: Shop, count: int, url: str) -> list[Merchant]:
    """Add merchants who are told at an address."""
    with shop.database.writing() as db:
        added = [a_merchant(db, f"Shop {number}") for number in range(count)]
    for merchant in added:
        listen(shop, url, merchant=merchant)
    return added


def add_orders(shop: Shop, merchants: list[Merchant]) -> None:
    """Add some orders of each."""
    for merchant in merchants:
        for _ in range(ORDERS):
            shop.add_order(merchant)


def is_told(shop: Shop, merchant: Merchant | None = None) -> bool:
    """Say whether a merchant has heard everything."""
    return all(callback.state is CallbackState.DELIVERED for callback in feed(shop, merchant))


@pytest.mark.parametrize("behave", [says_nothing, drips], ids=["hang", "drip"])
@pytest.mark.timeout(120)
def test_many_that_hang_hold_up_nobody_else(
    a_shop: OpenShop, receiver: Receiver, bad: Receiver, behave: object
) -> None:
    shop = a_shop(callback_timeout=timedelta(minutes=5), stop_timeout="1s")
    hanging = add_merchants(shop, BAD_ONES, bad.at("/cb", behave))  # type: ignore[arg-type]
    add_orders(shop, hanging)
    listen(shop, receiver.at("/cb"))

    with shop.working():
        wait_until(lambda: bad.heard)
        add_orders(shop, [shop.merchant])
        wait_until(lambda: is_told(shop))
        add_orders(shop, [shop.merchant])
        wait_until(lambda: is_told(shop))

    assert len(receiver.heard) == 2 * ORDERS
    assert [attempts(shop, one) for merchant in hanging for one in feed(shop, merchant)] == [
        [] for _ in range(BAD_ONES * ORDERS)
    ]


def test_a_receiver_that_is_quick_again_hears_everything(
    a_shop: OpenShop, receiver: Receiver
) -> None:
    shop = a_shop(callback_timeout=timedelta(seconds=1.5))
    gate = receiver.gate()
    listen(shop, receiver.at("/cb", gate.before(says(200)), says(200)))
    add_orders(shop, [shop.merchant])

    with shop.working():
        wait_until(lambda: any(attempts(shop, one) for one in feed(shop)))
        gate.open()
        add_orders(shop, [shop.merchant])
        shop.clock.advance(seconds=12)
        wait_until(lambda: is_told(shop))

    assert len(feed(shop)) == 2 * ORDERS


def test_later_tries_have_few_places(shop: Shop, receiver: Receiver) -> None:
    listen(shop, receiver.at("/cb", *[says(500)] * ORDERS, says(200)))
    add_orders(shop, [shop.merchant])
    shop.drain()
    receiver.most_at_once = 0

    shop.pass_time(seconds=12)

    assert is_told(shop)
    assert receiver.most_at_once <= POLICIES[JobKind.RETRY_CALLBACK].in_flight == 2
