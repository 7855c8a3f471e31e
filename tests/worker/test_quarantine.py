"""In quarantine everything goes on inside, and nothing goes out; afterwards all of it does."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from printworks.actions.quarantine import begin_quarantine, end_quarantine
from printworks.errors import StillRunning, WrongState
from printworks.payments.gateway import Gateway
from printworks.payments.provider import Charge, Paid, ProviderUnavailable
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import HOURLY, POLICIES, JobKind, JobState
from printworks.rules.orders import OrderStatus
from printworks.rules.quarantine import DoubtKind, QuarantineCause
from printworks.store.engine.database import Database
from printworks.store.queue.quarantine import QuarantineWatch, find_quarantine
from printworks.store.views.console.doubts import list_doubts
from printworks.worker.advance import advance
from printworks.worker.loop import Context
from tests.factories import NOON, a_system_work
from tests.worker.catalogues import change_labs
from tests.worker.conftest import OpenShop
from tests.worker.hosts import holds
from tests.worker.receivers import Receiver, listen
from tests.worker.shops import A_PICTURE, Shop

SHOP_HOURLY = HOURLY

HELD_BACK = frozenset(kind for kind, policy in POLICIES.items() if policy.reaches_out)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of callbacks."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def shop(a_shop: OpenShop, database: Database, tmp_path: Path) -> Shop:
    """A shop in quarantine whose labs have hot folders."""
    (tmp_path / "labs").mkdir()
    with database.writing() as db:
        begin_quarantine(a_system_work(db), QuarantineCause.OPERATOR)
    catalogue = change_labs(tmp_path, every='connector = "folder"')
    return a_shop(catalogue=str(catalogue), lab_folder=str(tmp_path / "labs"))


def end(shop: Shop) -> None:
    """Let things out again."""
    with shop.database.writing() as db:
        end_quarantine(a_system_work(db, now=shop.clock()))
    # What a worker has read it relies on for a second.
    shop.resources.services.quarantine.forget()


def move(shop: Shop, by: timedelta) -> None:
    """Move the clock of the merchant."""
    with ThreadPoolExecutor(1) as threads:
        context = Context(shop.resources.services, threads, shop.resources)
        asyncio.run(advance(context, shop.merchant.id, by))


def test_whatever_tells_somebody_something_is_held_back() -> None:
    assert {
        JobKind.SEND_TO_LAB,
        JobKind.APPLY_LAB_REPORT,
        JobKind.CANCEL_AT_LAB,
        JobKind.POLL_LABS,
        JobKind.DELIVER_CALLBACK,
        JobKind.RETRY_CALLBACK,
        JobKind.CHALLENGE_CALLBACK,
        JobKind.CHECK_PAYMENT,
        JobKind.REFUND_PAYMENT,
        JobKind.CHECK_CARD,
        JobKind.FORGET_CARD,
        JobKind.END_CHECKOUT,
        JobKind.ERASE_FILES,
        JobKind.SEND_MAIL,
        JobKind.SEND_NOTICE,
        JobKind.RUN_LOT,
    } == HELD_BACK


def test_orders_are_taken_and_wait(shop: Shop, receiver: Receiver, tmp_path: Path) -> None:
    listen(shop, receiver.at("/cb"))
    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    shop.submit(order)

    for _ in range(5):
        shop.pass_time(hours=1)

    assert shop.image(image).status is ImageStatus.OK
    assert shop.image(image).manifest is not None
    assert shop.order(order).status is OrderStatus.SUBMITTED
    assert receiver.heard == []
    assert list((tmp_path / "labs").iterdir()) == []
    waiting = [job for kind in HELD_BACK for job in shop.jobs(JobKind(kind))]
    assert {job.kind for job in waiting} >= {"send-to-lab", "deliver-callback", "poll-labs"}
    # None has lost an attempt.
    assert {(job.state, job.attempts) for job in waiting} == {(JobState.DUE, 0)}
    with shop.database.reading() as db:
        doubts = {group.kind: group for group in list_doubts(db, limit=1)}
    assert set(doubts) == {DoubtKind.SENT, DoubtKind.DELIVERED}
    assert [doubt.order_id for doubt in doubts[DoubtKind.SENT].rows] == [order.id]

    end(shop)
    shop.drain()

    assert len(list((tmp_path / "labs").glob("*/inbox/*"))) == 1
    assert receiver.statuses() == ["NotYetSubmitted", "Submitted"]


def test_a_clock_stands_still(shop: Shop) -> None:
    with pytest.raises(StillRunning, match="quarantine"):
        move(shop, timedelta(days=1))


def test_a_bank_is_not_asked(shop: Shop) -> None:
    settings = shop.settings.__class__.load(
        shop.settings.data, {"PRINTWORKS_STRIPE_SECRET_KEY": "sk_test_x"}
    )
    gateway = Gateway(settings, shop.database, QuarantineWatch(shop.database))
    charge = Charge(key="k", merchant="Alice", order=1, amount=1, currency="GBP")
    paid = Paid(provider="stripe", reference="r")
    stripe = gateway.open("stripe")

    assert stripe.name == "stripe"
    for ask in (
        lambda: stripe.charge(charge),
        lambda: stripe.ask_payer(charge),
        lambda: stripe.look_up(charge),
        lambda: stripe.cancel(charge, "r"),
        lambda: stripe.refund(charge, paid),
    ):
        with pytest.raises(ProviderUnavailable) as refused:
            ask()
        assert "quarantine" in refused.value.detail
    # Its memory is our own database.
    assert isinstance(gateway.open("simulated").charge(charge), Paid)


def test_it_begins_once_and_ends_once(database: Database) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        begun = begin_quarantine(work, QuarantineCause.OPERATOR)
        with pytest.raises(WrongState):
            begin_quarantine(work, QuarantineCause.OPERATOR)

        assert find_quarantine(db) == begun
        assert (begun.since, begun.known_until) == (NOON, NOON)
        assert end_quarantine(work) == begun

        assert find_quarantine(db) is None
        with pytest.raises(WrongState):
            end_quarantine(work)
