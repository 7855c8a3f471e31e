"""Money for orders: whatever happens in whatever order, it is taken once or not at all."""

from collections.abc import Callable
from typing import Any

import pytest

from printworks.actions.images.images import add_images
from printworks.actions.orders.orders import change_order
from printworks.errors import WrongState
from printworks.payments.provider import Declined, Paid
from printworks.rules.events import OrderCharged, OrderMoved, OrderRefunded
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Billing, PaymentState
from printworks.rules.reasons import write_reasons
from printworks.store.accounts.merchants import set_billing
from printworks.store.images.images import NewImage
from printworks.store.money.ledger import list_entries
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order, get_order_to_change
from tests.factories import a_work
from tests.scale import some_of
from tests.worker.cashiers import (
    Cashier,
    Steps,
    arrangements,
    authorising,
    cancelling,
    looking,
    submitting,
)
from tests.worker.conftest import OpenShop
from tests.worker.hosts import answers
from tests.worker.shops import Shop

_P = PaymentState
_S = OrderStatus


@pytest.fixture
def cashier(shop: Shop) -> Cashier:
    """Somebody who takes money in the usual shop."""
    return Cashier(shop)


def moves(shop: Shop, order: Order) -> list[OrderStatus]:
    """Return where an order went, one status after the other."""
    return [event.status for event in shop.events(order) if isinstance(event, OrderMoved)]


def kinds(shop: Shop) -> list[EntryKind]:
    """Return what is in the ledger."""
    with shop.database.reading() as db:
        return [booked.entry.kind for booked in list_entries(db, shop.merchant.id)]


class TestACardThatIsCharged:
    def test_the_order_is_submitted_and_the_merchant_owes_nothing(self, cashier: Cashier) -> None:
        order = cashier.a_draft()

        request = cashier.submit(order)

        assert (request.state, request.amount) == (_P.PAID, order.price)
        submitted = cashier.shop.order(order)
        assert (submitted.status, submitted.payment_request_id) == (_S.SUBMITTED, None)
        assert kinds(cashier.shop) == [EntryKind.PAYMENT, EntryKind.CHARGE]
        assert cashier.balance() == 0
        assert cashier.count_taken(order) == (1, 1)
        assert cashier.find_faults() == []

    def test_nothing_happens_before_the_bank_has_answered(self, cashier: Cashier) -> None:
        order = cashier.a_draft()

        request = cashier.begin(order)

        assert isinstance(request, PaymentRequest)
        assert request.state is _P.ASKED
        assert cashier.shop.order(order).status is _S.NOT_YET_SUBMITTED
        assert kinds(cashier.shop) == []
        assert cashier.count_taken(order) == (0, 0)

    def test_asking_again_meanwhile_gives_the_same_payment(self, cashier: Cashier) -> None:
        order = cashier.a_draft()

        assert cashier.begin(order) == cashier.begin(order)

    def test_no_two_payments_have_the_same_key(self, cashier: Cashier) -> None:
        requests = [cashier.begin(cashier.a_draft()) for _ in range(20)]

        keys = {request.key for request in requests if isinstance(request, PaymentRequest)}
        assert len(keys) == 20
        assert min(map(len, keys)) >= 32

    def test_a_merchant_on_account_owes_it_instead(self, cashier: Cashier) -> None:
        shop = cashier.shop
        with shop.database.writing() as db:
            set_billing(db, shop.merchant.id, Billing.ACCOUNT)

        submitted = cashier.begin(cashier.a_draft())

        assert isinstance(submitted, Order)
        assert submitted.status is _S.SUBMITTED
        assert cashier.balance() == submitted.price
        assert cashier.find_faults() == []

    def test_where_nobody_charges_cards_everybody_is_on_account(self, a_shop: OpenShop) -> None:
        cashier = Cashier(a_shop(payments="account"))

        assert isinstance(cashier.begin(cashier.a_draft()), Order)

    def test_settling_twice_changes_nothing(self, cashier: Cashier) -> None:
        order = cashier.a_draft()
        request = cashier.submit(order)
        before = (cashier.shop.events(order), kinds(cashier.shop))

        again = cashier.settle(request, Paid(provider="simulated", reference=request.key))

        assert again == request
        assert (cashier.shop.events(order), kinds(cashier.shop)) == before


class TestAnOrderThatIsBeingPaidFor:
    @pytest.fixture
    def order(self, cashier: Cashier) -> Order:
        """An order of which the bank has not said anything yet."""
        order = cashier.a_draft()
        cashier.begin(order)
        return cashier.shop.order(order)

    def test_its_fields_cannot_be_changed(self, cashier: Cashier, order: Order) -> None:
        shop = cashier.shop
        with shop.database.writing() as db, pytest.raises(WrongState, match="being paid for"):
            change_order(
                a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue),
                get_order_to_change(db, shop.merchant.id, order.id),
                {"address1": "2 Low Street"},
            )

    def test_images_cannot_be_added(self, cashier: Cashier, order: Order) -> None:
        shop = cashier.shop
        new = NewImage(sku="M-STI-4X6", url="https://shop.example/b.jpg", copies=1)
        with shop.database.writing() as db, pytest.raises(WrongState, match="being paid for"):
            add_images(
                a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue),
                order,
                [new],
            )

    def test_it_can_be_cancelled_and_the_money_comes_back(
        self, cashier: Cashier, order: Order
    ) -> None:
        [request] = cashier.payments(order)
        cashier.cancel(order)

        # The bank was just about to answer.
        settled = cashier.settle(request, cashier.ask(request))

        assert settled.state is _P.REFUNDING
        assert cashier.shop.order(order).status is _S.CANCELLED
        cashier.shop.drain()
        assert cashier.request(request).state is _P.REFUNDED
        assert cashier.count_taken(order) == (1, 0)
        assert kinds(cashier.shop) == [EntryKind.PAYMENT, EntryKind.REPAYMENT]
        assert cashier.balance() == 0
        assert cashier.find_faults() == []


class TestABankThatAsksThePayer:
    @pytest.fixture
    def order(self, cashier: Cashier) -> Order:
        """An order to France."""
        return cashier.a_draft(destination_country="FR")

    def test_the_order_waits(self, cashier: Cashier, order: Order) -> None:
        request = cashier.submit(order)

        assert request.state is _P.WAITING
        assert request.url == f"https://localhost:8443/bank/{request.key}"
        assert cashier.shop.order(order).status is _S.AWAITING_PAYMENT
        assert cashier.begin(order) == request
        assert kinds(cashier.shop) == []

    def test_once_authorised_it_is_submitted_without_anybody_asking(
        self, cashier: Cashier, order: Order
    ) -> None:
        request = cashier.submit(order)
        cashier.shop.resources.gateway.bank.authorise(request.key)

        cashier.shop.pass_time(minutes=20)

        assert cashier.request(request).state is _P.PAID
        assert cashier.shop.order(order).status is _S.SUBMITTED
        assert moves(cashier.shop, order) == [_S.AWAITING_PAYMENT, _S.SUBMITTED]
        assert cashier.find_faults() == []

    def test_once_declined_it_is_the_merchants_again(self, cashier: Cashier, order: Order) -> None:
        request = cashier.submit(order)
        cashier.shop.resources.gateway.bank.refuse(request.key)

        cashier.shop.pass_time(minutes=20)

        back = cashier.shop.order(order)
        assert back.status is _S.NOT_YET_SUBMITTED
        assert (
            write_reasons(back.reasons)
            == "The order was not paid for. The payment was not authorised."
        )
        assert cashier.request(request).state is _P.DECLINED

    def test_it_can_be_submitted_again_with_another_payment(
        self, cashier: Cashier, order: Order
    ) -> None:
        first = cashier.submit(order)
        cashier.shop.resources.gateway.bank.refuse(first.key)
        cashier.shop.pass_time(minutes=20)

        second = cashier.submit(order)

        assert second.id != first.id
        assert second.state is _P.WAITING
        assert write_reasons(cashier.shop.order(order).reasons) is None
        cashier.shop.resources.gateway.bank.authorise(second.key)
        cashier.shop.pass_time(minutes=20)
        assert cashier.shop.order(order).status is _S.SUBMITTED
        assert cashier.count_taken(order) == (1, 1)
        assert cashier.find_faults() == []

    def test_who_does_not_answer_in_time_has_not_paid(self, cashier: Cashier, order: Order) -> None:
        request = cashier.submit(order)

        cashier.shop.pass_time(hours=23, minutes=59)
        assert cashier.shop.order(order).status is _S.AWAITING_PAYMENT
        cashier.shop.pass_time(minutes=2)

        back = cashier.shop.order(order)
        assert back.status is _S.NOT_YET_SUBMITTED
        assert write_reasons(back.reasons) == (
            "The order was not paid for. The payment was not authorised in time."
        )
        # It is too late at the bank, too.
        assert isinstance(cashier.shop.resources.gateway.bank.authorise(request.key), Declined)

    def test_cancelling_closes_the_banks_page(self, cashier: Cashier, order: Order) -> None:
        request = cashier.submit(order)

        cashier.cancel(order)
        cashier.shop.drain()

        assert cashier.request(request).state is _P.DECLINED
        assert isinstance(cashier.shop.resources.gateway.bank.authorise(request.key), Declined)
        assert cashier.shop.order(order).status is _S.CANCELLED

    def test_a_picture_that_fails_meanwhile_gives_the_money_back(self, cashier: Cashier) -> None:
        shop = cashier.shop
        order = shop.add_order(destination_country="FR")
        [image] = shop.add_images(order, shop.host.at("/cat.jpg", answers("404 Not Found")))
        request = cashier.submit(shop.order(order))
        for _ in range(8):
            shop.pass_time(minutes=10)
        assert shop.image(image).status is ImageStatus.FILE_NOT_FOUND_AT_URL
        shop.resources.gateway.bank.authorise(request.key)

        for _ in range(3):
            shop.pass_time(minutes=20)

        assert cashier.request(request).state is _P.REFUNDED
        back = shop.order(order)
        assert back.status is _S.NOT_YET_SUBMITTED
        assert f"image {image} has FileCouldNotBeDownloaded" in (write_reasons(back.reasons) or "")
        assert cashier.find_faults() == []


class TestABankInTrouble:
    def test_what_it_declines_leaves_the_order_as_it_was(self, cashier: Cashier) -> None:
        order = cashier.a_draft(merchant_order_id="pay-declined")

        request = cashier.submit(order)

        assert (request.state, request.reason) == (_P.DECLINED, "The bank declined the card.")
        back = cashier.shop.order(order)
        assert (back.status, back.payment_request_id) == (_S.NOT_YET_SUBMITTED, None)
        assert (
            write_reasons(back.reasons) == "The order was not paid for. The bank declined the card."
        )
        assert moves(cashier.shop, order) == []

    def test_an_answer_that_was_lost_is_found(self, cashier: Cashier) -> None:
        order = cashier.a_draft(merchant_order_id="pay-lost")
        request = cashier.submit(order)
        assert (request.state, cashier.count_taken(order)) == (_P.ASKED, (1, 1))

        cashier.shop.pass_time(minutes=3)

        assert cashier.request(request).state is _P.PAID
        assert cashier.shop.order(order).status is _S.SUBMITTED
        assert cashier.find_faults() == []

    def test_submitting_again_asks_for_the_same_payment(self, cashier: Cashier) -> None:
        order = cashier.a_draft(merchant_order_id="pay-late")
        first = cashier.submit(order)
        assert first.state is _P.ASKED

        second = cashier.submit(order)

        assert (second.id, second.state) == (first.id, _P.PAID)
        assert cashier.count_taken(order) == (1, 1)

    def test_what_it_never_heard_of_is_given_up(self, cashier: Cashier) -> None:
        order = cashier.a_draft()
        # Whoever asked died before asking.
        request = cashier.begin(order)
        assert isinstance(request, PaymentRequest)

        cashier.shop.pass_time(minutes=3)
        assert cashier.request(request).state is _P.ASKED
        cashier.shop.pass_time(minutes=8)

        assert cashier.request(request).state is _P.DECLINED
        back = cashier.shop.order(order)
        assert (back.status, back.payment_request_id) == (_S.NOT_YET_SUBMITTED, None)
        assert cashier.count_taken(order) == (0, 0)

    def test_money_that_comes_after_all_goes_back(self, cashier: Cashier) -> None:
        order = cashier.a_draft()
        request = cashier.begin(order)
        assert isinstance(request, PaymentRequest)
        cashier.shop.pass_time(minutes=11)
        assert cashier.request(request).state is _P.DECLINED

        settled = cashier.settle(request, cashier.ask(request))

        assert settled.state is _P.REFUNDING
        cashier.shop.drain()
        assert cashier.count_taken(order) == (1, 0)
        assert cashier.shop.order(order).status is _S.NOT_YET_SUBMITTED
        assert cashier.find_faults() == []

    def test_money_that_the_provider_finds_a_day_later_goes_back(self, cashier: Cashier) -> None:
        order = cashier.a_draft()
        request = cashier.begin(order)
        assert isinstance(request, PaymentRequest)
        cashier.shop.pass_time(minutes=11)
        assert cashier.request(request).state is _P.DECLINED
        # It was on its way all the time.
        cashier.ask(request)

        cashier.shop.pass_time(days=1)

        assert cashier.request(request).state is _P.REFUNDED
        assert cashier.count_taken(order) == (1, 0)
        assert cashier.find_faults() == []

    def test_what_was_given_up_is_looked_for_once_more_and_no_oftener(
        self, cashier: Cashier
    ) -> None:
        cashier.begin(cashier.a_draft())
        cashier.shop.pass_time(minutes=11)

        cashier.shop.pass_time(days=1)
        cashier.shop.pass_time(days=5)

        states = [job.state for job in cashier.shop.jobs(JobKind.CHECK_PAYMENT)]
        assert states == ["done", "done"]

    def test_whoever_asks_again_is_waited_for_again(self, cashier: Cashier) -> None:
        order = cashier.a_draft()
        request = cashier.begin(order)
        assert isinstance(request, PaymentRequest)
        cashier.shop.pass_time(minutes=9)
        cashier.begin(order)

        cashier.shop.pass_time(minutes=5)

        assert cashier.request(request).state is _P.ASKED

    def test_one_that_never_answers_keeps_the_order_until_it_is_cancelled(
        self, cashier: Cashier
    ) -> None:
        order = cashier.a_draft(merchant_order_id="pay-down")
        request = cashier.submit(order)

        for _ in range(5):
            cashier.shop.pass_time(hours=2)

        assert cashier.request(request).state is _P.ASKED
        job = cashier.shop.job(JobKind.CHECK_PAYMENT)
        assert job.last_error == "RetryLater: The payment provider could not be asked."
        cashier.cancel(order)
        assert cashier.shop.order(order).status is _S.CANCELLED


class TestCancellingWhatWasPaid:
    def test_the_money_goes_back(self, cashier: Cashier) -> None:
        order = cashier.a_draft()
        request = cashier.submit(order)

        cashier.cancel(order)

        assert cashier.request(request).state is _P.REFUNDING
        assert cashier.balance() == -order.price
        cashier.shop.drain()
        assert cashier.request(request).state is _P.REFUNDED
        assert cashier.balance() == 0
        events = [type(event) for event in cashier.shop.events(order)]
        assert (events.count(OrderCharged), events.count(OrderRefunded)) == (1, 1)
        assert cashier.count_taken(order) == (1, 0)
        assert cashier.find_faults() == []

    def test_the_job_may_run_twice(self, cashier: Cashier) -> None:
        order = cashier.a_draft()
        request = cashier.submit(order)
        cashier.cancel(order)
        cashier.shop.drain()

        cashier.shop.enqueue_again(JobKind.REFUND_PAYMENT, {"payment": request.id})
        cashier.shop.drain()

        assert kinds(cashier.shop).count(EntryKind.REPAYMENT) == 1
        assert cashier.find_faults() == []


Actor = Callable[[Cashier, Order], Steps]
TWO_SUBMIT = (submitting, submitting, cancelling)
ANSWER_LOST = (submitting, looking, cancelling)
BANK_ASKS = (submitting, authorising, looking, cancelling)
ASKED_TWICE = (submitting, submitting, authorising)
TWO_LOOK = (submitting, looking, looking)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("actors", "steps", "values"),
    [
        pytest.param(TWO_SUBMIT, (3, 3, 1), {}, id="two submits and a cancel"),
        pytest.param(
            ANSWER_LOST, (3, 2, 1), {"merchant_order_id": "pay-lost"}, id="an answer is lost"
        ),
        pytest.param(
            BANK_ASKS, (3, 1, 2, 1), {"destination_country": "FR"}, id="the payer, a poll, a cancel"
        ),
        pytest.param(
            ASKED_TWICE, (3, 3, 1), {"destination_country": "FR"}, id="two submits and the payer"
        ),
        pytest.param(
            TWO_LOOK, (3, 2, 2), {"merchant_order_id": "pay-lost"}, id="a notification and a poll"
        ),
    ],
)
def test_in_whatever_order_things_happen_money_is_taken_once_or_given_back(
    a_shop: OpenShop, actors: tuple[Actor, ...], steps: tuple[int, ...], values: dict[str, Any]
) -> None:
    # Nothing is fetched or printed here.
    cashier = Cashier(a_shop(kinds=(JobKind.CHECK_PAYMENT, JobKind.REFUND_PAYMENT)))
    every = some_of(list(arrangements(steps)), part=11)
    drafts = cashier.many_drafts(len(every), **values)
    orders = {}
    for order, arrangement in zip(drafts, every, strict=True):
        orders[order.id] = arrangement
        begun = [actor(cashier, order) for actor in actors]
        for who in arrangement:
            next(begun[who], None)

    # Whatever is still open is looked into, and ends in time.
    for _ in range(4):
        cashier.shop.pass_time(hours=13)

    for order_id, arrangement in orders.items():
        order = cashier.shop.order_by_id(order_id)
        is_paid = order.status in {_S.SUBMITTED, _S.COMPLETE}
        taken, kept = cashier.count_taken(order)
        assert kept == int(is_paid), f"{arrangement}: {order.status}, and {kept} payments kept"
        assert taken <= 1, f"{arrangement}: charged {taken} times"
        assert all(
            request.state in {_P.PAID, _P.DECLINED, _P.REFUNDED}
            for request in cashier.payments(order)
        ), arrangement
    assert cashier.find_faults() == []
