"""The events of an order are first told in order, whoever writes and whoever dies meanwhile."""

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from sqlalchemy import text

from printworks.actions.callbacks import replay, send_again
from printworks.actions.orders.moves import move_order
from printworks.rules.callbacks import wait_after
from printworks.rules.events import CallbackState
from printworks.rules.jobs import POLICIES, JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.callbacks.callbacks import Attempt, Callback
from printworks.store.callbacks.deliveries import DeliveryOutcome, load_deliveries, write_outcomes
from printworks.store.orders.orders import Order
from printworks.store.queue.claims import claim
from printworks.store.queue.jobs import Job
from printworks.store.queue.outcomes import finish
from tests.factories import NOON, a_merchant, a_work, a_work_of
from tests.worker.hosts import wait_until
from tests.worker.queues import LEASE, a_claimant, return_ended
from tests.worker.receivers import Receiver, attempts, feed, listen, says
from tests.worker.shops import Shop

_S = OrderStatus
STEPS = (_S.AWAITING_PAYMENT, _S.SUBMITTED, _S.COMPLETE)
# An order that awaits its payment is still NotYetSubmitted in a callback, which is no news.
WORDS = ["NotYetSubmitted", "Submitted", "Complete"]
_C = CallbackState
TOLD = [_C.DELIVERED, _C.SKIPPED, _C.DELIVERED, _C.DELIVERED]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of callbacks."""
    with Receiver() as receiver:
        yield receiver


def add_life(shop: Shop) -> Order:
    """Add an order and move it to its end."""
    order = shop.add_order()
    for status in STEPS:
        shop.move(order, status)
    return order


def states(shop: Shop) -> list[CallbackState]:
    """Return the states of all callbacks."""
    return [callback.state for callback in feed(shop)]


def try_without_reporting(shop: Shop, *, rolls_back: bool) -> None:
    """Take up the first callback as a worker does that dies before, or while, it reports."""
    with shop.database.writing() as db:
        claimed = claim(db, POLICIES, a_claimant("dead", 1), now=shop.clock())
    (job,) = claimed.jobs
    if rolls_back:
        with pytest.raises(ConnectionAbortedError):
            die_while_reporting(shop, job)


def die_while_reporting(shop: Shop, job: Job) -> None:
    """Write all of a report, and do not come to its end."""
    with shop.database.writing() as db:
        (delivery,) = load_deliveries(db, [job.args["callback"]]).values()
        attempt = an_attempt(shop.clock())
        tried = DeliveryOutcome(delivery=delivery, state=CallbackState.DELIVERED, attempt=attempt)
        write_outcomes(db, [tried], now=shop.clock())
        finish(db, [job.claim], now=shop.clock())
        raise ConnectionAbortedError


def an_attempt(at: datetime) -> Attempt:
    """Say that somebody was told."""
    return Attempt(
        number=1, at=at, url="http://x/", status=200, milliseconds=1, answer="", error=None
    )


def test_an_event_waits_until_the_one_before_was_tried(shop: Shop, receiver: Receiver) -> None:
    listen(shop, receiver.at("/cb"))

    add_life(shop)
    promised = len(shop.jobs(JobKind.DELIVER_CALLBACK))
    shop.drain()

    assert promised == 1
    assert receiver.statuses() == WORDS
    assert [callback.sequence for callback in feed(shop)] == [1, 2, 3, 4]


def test_an_event_that_failed_once_holds_up_nothing_after_it(
    shop: Shop, receiver: Receiver
) -> None:
    listen(shop, receiver.at("/cb", says(500), says(200)))
    order = shop.add_order()
    shop.move(order, _S.SUBMITTED)

    shop.drain()
    first_tries = receiver.statuses()
    shop.pass_time(seconds=12)

    assert first_tries == ["NotYetSubmitted", "Submitted"]
    assert receiver.statuses()[2:] == ["NotYetSubmitted"]
    assert states(shop) == [CallbackState.DELIVERED] * 2


def test_an_event_that_comes_while_the_one_before_is_under_way_does_not_overtake_it(
    shop: Shop, receiver: Receiver
) -> None:
    gate = receiver.gate()
    listen(shop, receiver.at("/cb", gate.before(says(200)), says(200)))
    order = shop.add_order()

    with shop.draining():
        gate.wait()
        shop.move(order, _S.SUBMITTED)
        heard_meanwhile = receiver.statuses()
        gate.open()
    shop.drain()

    assert heard_meanwhile == ["NotYetSubmitted"]
    assert receiver.statuses() == ["NotYetSubmitted", "Submitted"]


def test_an_event_that_is_being_written_while_the_one_before_is_reported_is_not_forgotten(
    shop: Shop, receiver: Receiver
) -> None:
    gate = receiver.gate()
    listen(shop, receiver.at("/cb", gate.before(says(200)), says(200)))
    order = shop.add_order()

    with shop.draining():
        gate.wait()
        with shop.database.writing() as db:
            move_order(a_work_of(db, order, now=shop.clock()), order, _S.SUBMITTED)
            gate.open()
            wait_until(lambda: does_anybody_wait(shop))
    shop.drain()

    assert receiver.statuses() == ["NotYetSubmitted", "Submitted"]


def does_anybody_wait(shop: Shop) -> bool:
    """Say whether a report waits for what somebody else is writing; on SQLite it always does."""
    if shop.database.is_sqlite:
        return True
    with shop.database.reading() as db:
        return bool(db.execute(text("SELECT 1 FROM pg_locks WHERE NOT granted")).first())


def test_an_event_after_one_that_waits_for_its_second_try_goes_at_once(
    shop: Shop, receiver: Receiver
) -> None:
    listen(shop, receiver.at("/cb", says(500), says(200)))
    order = shop.add_order()
    shop.drain()

    shop.move(order, _S.SUBMITTED)
    shop.drain()

    assert receiver.statuses() == ["NotYetSubmitted", "Submitted"]


def test_orders_do_not_wait_for_each_other(shop: Shop, receiver: Receiver) -> None:
    gate = receiver.gate()
    listen(shop, receiver.at("/cb", gate.before(says(200)), says(200)))
    shop.add_order()

    with shop.working():
        gate.wait()
        other = add_life(shop)
        wait_until(lambda: [heard.told["id"] for heard in receiver.heard].count(other.id) == 3)
        gate.open()
        wait_until(lambda: states(shop) == [_C.DELIVERED, *TOLD])


@pytest.mark.parametrize("rolls_back", [False, True], ids=["before", "within"])
def test_a_worker_that_dies_before_its_report_is_written_holds_up_no_order(
    shop: Shop, receiver: Receiver, rolls_back: bool
) -> None:
    listen(shop, receiver.at("/cb"))
    add_life(shop)
    try_without_reporting(shop, rolls_back=rolls_back)

    shop.drain()
    while_held = len(receiver.heard)
    shop.clock.advance(seconds=LEASE.total_seconds() + 1)
    return_ended(shop.database, now=shop.clock())
    shop.drain()

    assert while_held == 0
    assert receiver.statuses() == WORDS
    first = feed(shop)[0]
    assert (first.failures, first.attempts) == (0, 1)


def test_a_try_that_somebody_else_has_written_about_meanwhile_does_not_count(
    shop: Shop, receiver: Receiver
) -> None:
    listen(shop, receiver.at("/cb", says(500)))
    shop.add_order()
    with shop.database.reading() as db:
        (late,) = load_deliveries(db, [feed(shop)[0].id]).values()
    shop.drain()

    with shop.database.writing() as db:
        wait = wait_after(1, jitter=0, retry_after=None, now=NOON)
        failed = DeliveryOutcome(
            delivery=late, state=late.state, attempt=an_attempt(NOON), retry_in=wait
        )
        write_outcomes(db, [failed, failed], now=NOON)

    (callback,) = feed(shop)
    assert (callback.failures, len(attempts(shop, callback))) == (1, 1)
    assert len(shop.jobs(JobKind.RETRY_CALLBACK)) == 1


def test_what_is_sent_again_is_not_sent_by_the_old_job_too(shop: Shop, receiver: Receiver) -> None:
    listen(shop, receiver.at("/cb", says(500), says(200)))
    shop.add_order()
    shop.drain()

    with shop.database.writing() as db:
        send_again(a_work(db, shop.merchant, now=shop.clock()), feed(shop)[0].id)
    shop.drain()
    shop.pass_time(days=1)

    assert len(receiver.heard) == 2
    assert states(shop) == [CallbackState.DELIVERED]


def test_a_replay_keeps_the_order_of_events(shop: Shop, receiver: Receiver) -> None:
    orders = [add_life(shop) for _ in range(3)]
    shop.drain()
    listen(shop, receiver.at("/cb"))

    with shop.database.writing() as db:
        replayed = replay(a_work(db, shop.merchant, now=shop.clock()), since=NOON)
    promised = len(shop.jobs(JobKind.DELIVER_CALLBACK))
    shop.drain()

    assert (replayed.sent, replayed.next_number, promised) == (12, None, 3)
    for order in orders:
        told = [heard.told["status"] for heard in receiver.heard if heard.told["id"] == order.id]
        assert told == WORDS


def test_a_replay_of_what_is_under_way_loses_nothing(shop: Shop, receiver: Receiver) -> None:
    listen(shop, receiver.at("/cb", says(500), says(200)))
    add_life(shop)
    shop.drain()
    shop.add_order()

    with shop.database.writing() as db:
        replay(a_work(db, shop.merchant, now=shop.clock()), since=1)
    shop.drain()
    shop.pass_time(days=1)

    assert states(shop) == [*TOLD, _C.DELIVERED]


@pytest.mark.timeout(120)
def test_many_who_write_while_a_worker_tells_leave_no_order_stuck(
    shop: Shop, receiver: Receiver
) -> None:
    answers = [says(500 if number % 7 == 0 else 200) for number in range(500)]
    listen(shop, receiver.at("/cb", *answers, says(200)))
    with shop.database.writing() as db:
        other = a_merchant(db, "Bob")
    listen(shop, receiver.at("/bob"), merchant=other)

    def write(number: int) -> None:
        for _ in range(3):
            order = shop.add_order(other if number % 2 else None)
            for status in STEPS:
                shop.move(order, status)

    def is_all_told() -> bool:
        # For what has failed.
        shop.clock.advance(seconds=1)
        found = [*feed(shop), *feed(shop, other)]
        return all(callback.state in {_C.DELIVERED, _C.SKIPPED} for callback in found)

    with shop.working():
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(8)))
        wait_until(is_all_told)

    check_gap_free(feed(shop))
    check_gap_free(feed(shop, other))
    first_heard: dict[int, list[str]] = defaultdict(list)
    for heard in receiver.heard:
        if heard.id not in first_heard[heard.told["id"]]:
            first_heard[heard.told["id"]].append(heard.id)
    for callbacks in first_heard.values():
        assert callbacks == sorted(callbacks, key=lambda one: int(one.removeprefix("msg_")))


def check_gap_free(callbacks: list[Callback]) -> None:
    """No number of the feed is missing, and none of any order."""
    assert [callback.number for callback in callbacks] == list(range(1, len(callbacks) + 1))
    by_order = defaultdict(list)
    for callback in callbacks:
        by_order[callback.order_id].append(callback.sequence)
    for sequences in by_order.values():
        assert sequences == list(range(1, len(sequences) + 1))
