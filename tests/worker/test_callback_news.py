"""A callback that would tell nothing new is not sent, unless somebody asks for it."""

from collections.abc import Iterator

import pytest

from printworks.actions.callbacks import replay, send_again
from printworks.rules.callbacks import WAITS, CallbackFormat
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.orders.orders import Order
from tests.factories import NOON, a_work
from tests.worker.receivers import Receiver, attempts, feed, listen, says
from tests.worker.shops import Shop

_C = CallbackState
_S = OrderStatus


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of callbacks."""
    with Receiver() as receiver:
        yield receiver


def add_waiting(shop: Shop) -> Order:
    """Add an order that awaits its payment, which 3.0 calls NotYetSubmitted in both callbacks."""
    order = shop.add_order()
    shop.move(order, _S.AWAITING_PAYMENT)
    return order


def states(shop: Shop) -> list[CallbackState]:
    """Return the states of all callbacks."""
    return [callback.state for callback in feed(shop)]


def ask_for(shop: Shop, number: int) -> None:
    """Ask for one callback, by its number in the feed."""
    with shop.database.writing() as db:
        send_again(a_work(db, shop.merchant, now=shop.clock()), feed(shop)[number - 1].id)


def test_what_tells_nothing_new_is_skipped_and_holds_up_nothing(
    shop: Shop, receiver: Receiver
) -> None:
    listen(shop, receiver.at("/cb"))
    order = add_waiting(shop)
    shop.move(order, _S.SUBMITTED)

    shop.drain()

    assert receiver.statuses() == ["NotYetSubmitted", "Submitted"]
    assert states(shop) == [_C.DELIVERED, _C.SKIPPED, _C.DELIVERED]
    skipped = feed(shop)[1]
    assert (skipped.attempts, skipped.failures, skipped.next_at) == (0, 0, None)
    assert attempts(shop, skipped) == []


def test_it_depends_on_the_format_that_is_chosen_when_it_is_sent(
    shop: Shop, receiver: Receiver
) -> None:
    listen(shop, receiver.at("/cb"), chosen=CallbackFormat.V3_0)
    add_waiting(shop)
    listen(shop, receiver.at("/cb"), chosen=CallbackFormat.V2_3)

    shop.drain()

    told = [heard.told["eventData"] for heard in receiver.heard]
    assert told == ["NotYetSubmitted", "AwaitingPayment"]


def test_what_repeats_one_that_waits_for_its_next_attempt_is_skipped(
    shop: Shop, receiver: Receiver
) -> None:
    listen(shop, receiver.at("/cb", says(500), says(200)))
    add_waiting(shop)

    shop.drain()
    shop.pass_time(days=1)

    assert len(receiver.heard) == 2
    assert states(shop) == [_C.DELIVERED, _C.SKIPPED]


def test_what_repeats_one_that_was_never_sent_is_sent(shop: Shop, receiver: Receiver) -> None:
    order = shop.add_order()
    listen(shop, receiver.at("/cb"))
    shop.move(order, _S.AWAITING_PAYMENT)

    shop.drain()

    assert states(shop) == [_C.QUIET, _C.DELIVERED]


def test_what_repeats_one_that_failed_for_good_is_sent(shop: Shop, receiver: Receiver) -> None:
    listen(shop, receiver.at("/cb", *[says(500)] * (len(WAITS) + 1), says(200)))
    order = shop.add_order()
    for wait in WAITS:
        shop.drain()
        shop.clock.advance(seconds=wait.total_seconds() * 1.1)
    shop.drain()

    shop.move(order, _S.AWAITING_PAYMENT)
    shop.drain()

    assert states(shop) == [_C.FAILED, _C.DELIVERED]


def test_what_was_skipped_is_sent_if_it_is_asked_for_with_all_its_attempts(
    shop: Shop, receiver: Receiver
) -> None:
    listen(shop, receiver.at("/cb", says(200), says(500), says(200)))
    add_waiting(shop)
    shop.drain()

    ask_for(shop, 2)
    shop.drain()
    shop.pass_time(minutes=1)

    skipped = feed(shop)[1]
    assert [attempt.status for attempt in attempts(shop, skipped)] == [500, 200]
    assert skipped.state is _C.DELIVERED


def test_a_job_that_runs_twice_skips_once(shop: Shop, receiver: Receiver) -> None:
    listen(shop, receiver.at("/cb"))
    order = add_waiting(shop)
    shop.move(order, _S.SUBMITTED)
    shop.drain()

    for number in (1, 2, 3):
        args = {"callback": feed(shop)[number - 1].id, "round": 1}
        shop.enqueue_again(JobKind.DELIVER_CALLBACK, args)
    shop.drain()

    assert len(receiver.heard) == 2
    assert states(shop) == [_C.DELIVERED, _C.SKIPPED, _C.DELIVERED]


def test_a_replay_sends_again_what_carried_news(shop: Shop, receiver: Receiver) -> None:
    listen(shop, receiver.at("/cb"))
    order = add_waiting(shop)
    shop.move(order, _S.SUBMITTED)
    shop.drain()

    for _ in range(2):
        with shop.database.writing() as db:
            replay(a_work(db, shop.merchant, now=shop.clock()), since=NOON)
        shop.drain()

    assert receiver.statuses() == ["NotYetSubmitted", "Submitted"] * 3
    assert states(shop) == [_C.DELIVERED, _C.SKIPPED, _C.DELIVERED]
