"""Callbacks are delivered: signed, tried again, given up in the end, and all of it written down."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Final

import pytest
from standardwebhooks import Webhook
from structlog.typing import EventDict

from printworks.actions.callbacks import open_secrets, rotate_secret, send_again, send_test
from printworks.rules.callbacks import MOST_FAILURES, WAITS, CallbackFormat
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.callbacks.callbacks import Callback, get_callback, list_callbacks, list_tests
from printworks.store.callbacks.settings import read_callback_settings
from printworks.worker.advance import Advanced, advance
from printworks.worker.loop import Context
from tests.factories import NOON, VAULT, a_work
from tests.worker.conftest import OpenShop
from tests.worker.hosts import Behaviour, answers, redirects, says_nothing
from tests.worker.receivers import (
    Receiver,
    attempts,
    drips,
    feed,
    listen,
    resets,
    says,
)
from tests.worker.shops import Shop

# Long enough for whoever answers at all on a busy machine.
PATIENCE: Final = timedelta(seconds=2)
A_SECOND: Final = timedelta(seconds=1)
FOUR_DAYS: Final = timedelta(days=4)
# What the merchant can read in its log when no answer came.
NO_ANSWER: Final = "The address took too long to answer."
UNREACHABLE: Final = "The address could not be reached."


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of callbacks."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def shop(a_shop: OpenShop) -> Shop:
    """A shop that does not wait long for receivers."""
    return a_shop(callback_timeout=PATIENCE)


def only(shop: Shop) -> Callback:
    """Return the only callback there is."""
    (callback,) = feed(shop)
    return callback


def move_clock(shop: Shop, by: timedelta) -> Advanced:
    """Move the merchant's clock, as the sandbox does."""

    async def play() -> Advanced:
        with ThreadPoolExecutor(2) as threads:
            context = Context(shop.resources.services, threads, shop.resources)
            return await advance(context, shop.merchant.id, by)

    return shop._loop.run(play())


class TestDelivery:
    def test_a_receiver_hears_what_happened(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb?shop=7&sig=a%2Fb"))
        order = shop.add_order(merchant_order_id="R-1")

        shop.drain()

        (heard,) = receiver.heard
        assert heard.path == "/cb?shop=7&sig=a%2Fb"
        assert heard.headers["content-type"] == "application/json"
        assert heard.told == {
            "orderId": order.id,
            "environment": "SANDBOX",
            "timestamp": "2026-11-15T12:00:00.000",
            "status": "NotYetSubmitted",
            "shipments": [],
            "id": order.id,
            "merchantOrderId": "R-1",
        }
        callback = only(shop)
        assert (callback.state, callback.failures, callback.delivered_at) == (
            CallbackState.DELIVERED,
            0,
            NOON,
        )

    def test_what_the_receiver_said_is_written_down(self, shop: Shop, receiver: Receiver) -> None:
        url = receiver.at("/cb", says(200, b"thanks\0" + b"x" * 5000 + b"\xff"))
        listen(shop, url)
        shop.add_order()

        shop.drain()

        (attempt,) = attempts(shop, only(shop))
        assert (attempt.number, attempt.at, attempt.url) == (1, NOON, url)
        assert (attempt.status, attempt.error) == (200, None)
        assert attempt.answer == "thanks" + "x" * (2048 - len(b"thanks\0"))
        assert attempt.milliseconds >= 0

    def test_it_is_signed_with_the_merchants_secret(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb", says(500), says(200)))
        shop.clock.now = NOON.now(tz=NOON.tzinfo)
        shop.add_order()

        shop.drain()
        shop.pass_time(seconds=12)

        first, second = receiver.heard
        with shop.database.reading() as db:
            stored = read_callback_settings(db, shop.merchant.id).secrets
        (secret,) = open_secrets(VAULT, shop.merchant.id, stored, NOON)
        assert Webhook(secret).verify(first.body, first.headers) == first.told
        assert Webhook(secret).verify(second.body, second.headers) == second.told
        assert first.id == second.id
        assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]

    def test_for_a_day_it_is_signed_with_the_last_secret_too(
        self, shop: Shop, receiver: Receiver
    ) -> None:
        listen(shop, receiver.at("/cb"))
        with shop.database.writing() as db:
            rotate_secret(a_work(db, shop.merchant, now=shop.clock()))

        for _ in range(2):
            shop.add_order()
            shop.drain()
            shop.clock.advance(hours=24)

        both, newest = (heard.headers["webhook-signature"].split() for heard in receiver.heard)
        assert (len(both), len(newest)) == (2, 1)

    @pytest.mark.parametrize(
        ("chosen", "status"), [(None, "submitted"), (CallbackFormat.V3_0, "Submitted")]
    )
    def test_it_is_written_as_the_merchant_chose_or_else_as_the_order_was_made(
        self, shop: Shop, receiver: Receiver, chosen: CallbackFormat | None, status: str
    ) -> None:
        listen(shop, receiver.at("/cb"), chosen=chosen)
        order = shop.add_order(callback_format="2.6")
        shop.move(order, OrderStatus.SUBMITTED)

        shop.drain()

        assert receiver.statuses()[-1] == status

    def test_it_tells_what_was_true_then(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb"))
        order = shop.add_order()
        shop.move(order, OrderStatus.SUBMITTED)
        shop.move(order, OrderStatus.CANCELLED)

        shop.drain()

        assert receiver.statuses() == ["NotYetSubmitted", "Submitted", "Cancelled"]

    def test_nobody_is_called_without_an_address(self, shop: Shop) -> None:
        shop.add_order()

        shop.drain()

        assert only(shop).state is CallbackState.QUIET
        assert shop.jobs(JobKind.DELIVER_CALLBACK) == []

    def test_an_address_that_is_taken_away_quiets_what_waits(
        self, shop: Shop, receiver: Receiver
    ) -> None:
        listen(shop, receiver.at("/cb"))
        order = shop.add_order()
        shop.move(order, OrderStatus.SUBMITTED)
        listen(shop, None)

        shop.drain()

        assert [callback.state for callback in feed(shop)] == [CallbackState.QUIET] * 2
        assert receiver.heard == []

    def test_a_new_address_gets_what_waits(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/old", says(500)))
        shop.add_order()
        shop.drain()
        listen(shop, receiver.at("/new"))

        shop.pass_time(seconds=12)

        assert [heard.path for heard in receiver.heard] == ["/old", "/new"]
        assert only(shop).state is CallbackState.DELIVERED


class TestFailure:
    @pytest.mark.parametrize("status", [201, 202, 204, 301, 304, 400, 404, 410, 429, 500, 503])
    def test_only_200_acknowledges(self, shop: Shop, receiver: Receiver, status: int) -> None:
        listen(shop, receiver.at("/cb", answers(f"{status} So"), says(200)))
        shop.add_order()

        shop.drain()
        failed = only(shop)
        shop.pass_time(seconds=12)

        assert (failed.state, failed.failures) == (CallbackState.PENDING, 1)
        assert NOON + 10 * A_SECOND <= (failed.next_at or NOON) <= NOON + 11 * A_SECOND
        assert only(shop).state is CallbackState.DELIVERED
        assert [attempt.status for attempt in attempts(shop, failed)] == [status, 200]

    def test_a_redirect_is_not_followed(self, shop: Shop, receiver: Receiver) -> None:
        elsewhere = receiver.at("/elsewhere")
        listen(shop, receiver.at("/cb", redirects(elsewhere)))
        shop.add_order()

        shop.drain()

        assert [heard.path for heard in receiver.heard] == ["/cb"]
        assert [attempt.status for attempt in attempts(shop, only(shop))] == [302]

    @pytest.mark.parametrize(
        ("behave", "error"),
        [(says_nothing, NO_ANSWER), (drips, NO_ANSWER), (resets, UNREACHABLE)],
        ids=["hangs", "drips", "resets"],
    )
    def test_no_answer_is_a_failure(
        self, a_shop: OpenShop, receiver: Receiver, behave: Behaviour, error: str
    ) -> None:
        shop = a_shop(callback_timeout=timedelta(seconds=0.3))
        listen(shop, receiver.at("/cb", behave))
        shop.add_order()

        shop.drain()

        (attempt,) = attempts(shop, only(shop))
        assert (attempt.status, attempt.answer) == (None, "")
        assert (attempt.error or "").startswith(error)

    def test_nobody_there_is_a_failure(self, shop: Shop) -> None:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        listen(shop, f"http://127.0.0.1:{port}/cb")
        shop.add_order()

        shop.drain()

        (attempt,) = attempts(shop, only(shop))
        assert attempt.status is None
        assert only(shop).failures == 1

    def test_an_address_of_our_own_network_is_a_failure(self, a_shop: OpenShop) -> None:
        shop = a_shop(host="0.0.0.0", public_url="https://prints.example")
        with Receiver() as receiver:
            listen(shop, receiver.at("/cb"))
            shop.add_order()

            shop.drain()

            assert receiver.heard == []
        assert only(shop).failures == 1

    def test_fifteen_failures_are_the_end(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb", says(500)))
        shop.add_order()

        shop.drain()
        for _ in range(25):
            shop.pass_time(hours=12)

        callback = only(shop)
        assert len(receiver.heard) == MOST_FAILURES == 15
        assert (callback.state, callback.failures, callback.next_at) == (
            CallbackState.FAILED,
            15,
            None,
        )
        assert [attempt.number for attempt in attempts(shop, callback)] == list(range(1, 16))
        with shop.database.reading() as db:
            given_up = list_callbacks(db, shop.merchant.id, is_failed=True, limit=10)
        assert [one.id for one in given_up] == [callback.id]

    def test_what_was_given_up_can_be_sent_again(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb", *[says(500)] * 15, says(500), says(200)))
        shop.add_order()
        shop.drain()
        for _ in range(25):
            shop.pass_time(hours=12)

        with shop.database.writing() as db:
            send_again(a_work(db, shop.merchant, now=shop.clock()), only(shop).id)
        shop.drain()
        shop.pass_time(seconds=12)

        callback = only(shop)
        assert (callback.state, callback.attempts) == (CallbackState.DELIVERED, 17)
        assert len({heard.id for heard in receiver.heard}) == 1

    def test_a_receiver_that_asks_for_time_gets_it(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb", says(503, Retry_After="25"), says(200)))
        shop.add_order()

        shop.drain()
        shop.pass_time(seconds=24)
        too_early = len(receiver.heard)
        shop.pass_time(seconds=2)

        assert (too_early, len(receiver.heard)) == (1, 2)

    def test_a_receivers_trouble_is_not_reported_as_ours(
        self, shop: Shop, receiver: Receiver, logged: list[EventDict]
    ) -> None:
        listen(shop, receiver.at("/cb", says(500)))
        shop.add_order()

        shop.drain()

        levels = {line["log_level"] for line in logged}
        assert levels == {"info"}
        assert "callback not acknowledged" in {line["event"] for line in logged}


class TestClock:
    def test_a_deaf_receiver_gets_its_fifteen_tries_when_the_clock_is_moved(
        self, shop: Shop, receiver: Receiver
    ) -> None:
        listen(shop, receiver.at("/cb", says(500)))
        shop.add_order()

        moved = move_clock(shop, FOUR_DAYS)

        callback = only(shop)
        times = [attempt.at for attempt in attempts(shop, callback)]
        waits = [later - earlier for earlier, later in pairwise(times)]
        assert moved.now == NOON + FOUR_DAYS
        assert (callback.state, times[0]) == (CallbackState.FAILED, NOON)
        assert len(waits) == len(WAITS)
        for wait, planned in zip(waits, WAITS, strict=True):
            assert planned <= wait <= planned * 1.1 + timedelta(milliseconds=2)
        assert shop.jobs(JobKind.RETRY_CALLBACK)[-1].state == "done"

    def test_the_same_calendar_every_time(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb", says(500)))
        shop.add_order()
        move_clock(shop, FOUR_DAYS)
        first = [attempt.at for attempt in attempts(shop, only(shop))]

        with shop.database.writing() as db:
            send_again(a_work(db, shop._current(None), now=NOON + FOUR_DAYS), only(shop).id)
        move_clock(shop, FOUR_DAYS)

        again = [attempt.at for attempt in attempts(shop, only(shop))][15:]
        assert [at - first[0] for at in first] == [at - again[0] for at in again]


class TestTest:
    def test_a_test_is_sent_once(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb", says(500)))

        with shop.database.writing() as db:
            test = send_test(a_work(db, shop.merchant, now=shop.clock()))
        shop.drain()
        shop.pass_time(days=1)

        (heard,) = receiver.heard
        assert (heard.told["orderId"], heard.told["merchantOrderId"]) == (0, "test")
        with shop.database.reading() as db:
            assert get_callback(db, shop.merchant.id, test).state is CallbackState.FAILED
            assert [one.id for one in list_tests(db, shop.merchant.id, limit=5)] == [test]

    def test_a_test_is_no_part_of_the_feed(self, shop: Shop, receiver: Receiver) -> None:
        listen(shop, receiver.at("/cb"))
        with shop.database.writing() as db:
            send_test(a_work(db, shop.merchant, now=shop.clock()))
        shop.add_order()

        shop.drain()

        assert [callback.number for callback in feed(shop)] == [1]
        assert len(receiver.heard) == 2
