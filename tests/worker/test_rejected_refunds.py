"""Refunds that a bank rejects days later: the books say so, and somebody is asked to act."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from printworks.actions.payments.refunds import note_repaid, refund_again
from printworks.payments.webhooks import KEY
from printworks.rules.jobs import JobKind, JobState
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import CHECK_REFUND_AFTER, LOOK_UP_FOR, PaymentState
from printworks.store.money.ledger import list_entries
from printworks.store.money.payments import PaymentRequest, SavedCard, save_card
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.factories import a_system_work
from tests.payments.banks import CARDS, SECRET_KEY, StripeServer, run_stripe
from tests.payments.test_webhooks import SECRET, sign
from tests.worker.cashiers import Cashier
from tests.worker.conftest import OpenShop
from tests.worker.shops import Shop

_E = EntryKind
_P = PaymentState


@pytest.fixture(scope="module")
def stripe() -> Iterator[StripeServer]:
    """The test server for Stripe."""
    with run_stripe() as server:
        yield server


@pytest.fixture
def shop(a_shop: OpenShop, stripe: StripeServer) -> Shop:
    """A shop whose merchant has saved a card at Stripe."""
    opened = a_shop(
        payments="stripe",
        stripe_secret_key=SECRET_KEY,
        stripe_webhook_secret=SECRET,
        stripe_url=stripe.base,
    )
    with opened.database.writing() as db:
        save_card(db, opened.merchant.id, SavedCard(*stripe.save_card(CARDS["paid"])))
    return opened


@pytest.fixture
def cashier(shop: Shop) -> Cashier:
    """Somebody who takes money there."""
    return Cashier(shop)


@pytest.fixture
def server(shop: Shop) -> Iterator[Server]:
    """The web process, which hears from Stripe."""
    server = Server(build_app(shop.settings, shop.clock))
    yield server
    server.close()


def announce(
    server: Server, shop: Shop, refund: Any, *, kind: str = "refund.failed", event: str = "evt_1"
) -> None:
    """Tell the service of a refund, as Stripe does."""
    body = json.dumps({"id": event, "type": kind, "data": {"object": refund}}).encode()
    signed = sign(body, at=shop.clock())
    assert Client(server, "", {}).request("POST", "/payments/stripe", body, signed).status == 200


def a_refunded_payment(cashier: Cashier) -> PaymentRequest:
    """Let an order be paid for and cancelled, and the money go back."""
    order = cashier.a_draft()
    payment = cashier.submit(order)
    cashier.cancel(order)
    cashier.shop.drain()
    # The check that follows every payment.
    cashier.shop.pass_time(minutes=3)
    refunded = cashier.request(payment)
    assert refunded.state is _P.REFUNDED
    return refunded


def kinds(shop: Shop) -> list[EntryKind]:
    """Return what is in the ledger."""
    with shop.database.reading() as db:
        return [booked.entry.kind for booked in list_entries(db, shop.merchant.id)]


def a_rejected_payment(cashier: Cashier, stripe: StripeServer) -> PaymentRequest:
    """Let the bank reject a refund, and the service hear of it by itself."""
    payment = a_refunded_payment(cashier)
    stripe.reject_refund(payment.reference)
    cashier.shop.enqueue_again(JobKind.CHECK_PAYMENT, {"payment": payment.id})
    cashier.shop.drain()
    rejected = cashier.request(payment)
    assert rejected.state is _P.REFUND_REJECTED
    return rejected


class TestARefundThatIsRejectedLater:
    def test_it_is_taken_back_and_somebody_has_to_act(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        payment = a_refunded_payment(cashier)
        cashier.shop.clock.advance(days=4)
        refund = stripe.reject_refund(payment.reference, "expired_or_canceled_card")
        assert refund["metadata"] == {KEY: payment.key}

        announce(server, cashier.shop, refund)
        cashier.shop.drain()

        rejected = cashier.request(payment)
        assert rejected.state is _P.REFUND_REJECTED
        assert rejected.reason == "The card has expired or was cancelled."
        assert kinds(cashier.shop)[-2:] == [_E.REPAYMENT, _E.REPAYMENT_REVERSAL]
        assert cashier.balance() == -payment.amount
        assert cashier.find_faults() == []

    def test_it_is_taken_back_once_however_often_it_is_announced(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        payment = a_refunded_payment(cashier)
        refund = stripe.reject_refund(payment.reference)

        for kind in ("refund.updated", "refund.failed", "charge.refund.updated"):
            for _ in range(2):
                announce(server, cashier.shop, refund, kind=kind, event=f"evt_{kind}")
        cashier.shop.drain()
        announce(server, cashier.shop, refund, event="evt_later")
        cashier.shop.pass_time(days=CHECK_REFUND_AFTER.days)

        assert kinds(cashier.shop).count(_E.REPAYMENT_REVERSAL) == 1
        assert cashier.request(payment).rejected_refunds == 1
        assert cashier.find_faults() == []

    def test_it_is_found_without_an_announcement_once_banks_have_decided(
        self, cashier: Cashier, stripe: StripeServer
    ) -> None:
        payment = a_refunded_payment(cashier)
        stripe.reject_refund(payment.reference)

        cashier.shop.pass_time(days=CHECK_REFUND_AFTER.days - 1)
        assert cashier.request(payment).state is _P.REFUNDED
        cashier.shop.pass_time(days=1)

        assert cashier.request(payment).state is _P.REFUND_REJECTED
        assert cashier.find_faults() == []

    def test_one_that_was_under_way_when_it_was_made_is_followed(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        stripe.choose_next_refund("pending")
        payment = a_refunded_payment(cashier)
        assert cashier.balance() == 0

        announce(server, cashier.shop, stripe.reject_refund(payment.reference))
        cashier.shop.drain()

        assert cashier.request(payment).state is _P.REFUND_REJECTED
        assert cashier.find_faults() == []

    def test_one_that_is_rejected_at_once_is_never_booked(
        self, cashier: Cashier, stripe: StripeServer
    ) -> None:
        stripe.choose_next_refund("failed")
        order = cashier.a_draft()
        payment = cashier.submit(order)
        cashier.cancel(order)

        cashier.shop.drain()

        assert cashier.request(payment).state is _P.REFUND_REJECTED
        assert _E.REPAYMENT not in kinds(cashier.shop)
        assert cashier.balance() == -payment.amount
        assert cashier.find_faults() == []

    def test_one_that_is_rejected_before_it_was_recorded_is_found_afterwards(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        order = cashier.a_draft()
        payment = cashier.submit(order)
        cashier.cancel(order)
        # The refund is made, and its answer is lost.
        stripe.fail("drop after")
        cashier.shop.drain()
        assert cashier.request(payment).state is _P.REFUNDING
        announce(server, cashier.shop, stripe.reject_refund(payment.reference))

        cashier.shop.drain()
        cashier.shop.pass_time(hours=1)
        cashier.shop.pass_time(hours=1)

        assert cashier.request(payment).state is _P.REFUND_REJECTED
        assert cashier.find_faults() == []


class TestAnnouncementsThatChangeNothing:
    def test_the_body_is_not_believed(self, cashier: Cashier, server: Server) -> None:
        payment = a_refunded_payment(cashier)
        forged = {"id": "re_1", "status": "failed", "metadata": {KEY: payment.key}}

        announce(server, cashier.shop, forged)
        cashier.shop.drain()

        assert cashier.request(payment) == payment
        assert cashier.balance() == 0

    @pytest.mark.parametrize("metadata", [{KEY: "unknown"}, {}, None])
    def test_refunds_of_others_are_let_be(
        self, cashier: Cashier, server: Server, stripe: StripeServer, metadata: object
    ) -> None:
        payment = a_refunded_payment(cashier)
        refund = stripe.reject_refund(payment.reference)

        announce(server, cashier.shop, {**refund, "metadata": metadata})
        cashier.shop.drain()

        assert cashier.request(payment) == payment

    def test_a_payment_that_was_not_refunded_stays_paid(
        self, cashier: Cashier, server: Server
    ) -> None:
        payment = cashier.submit(cashier.a_draft())
        refund = {"id": "re_1", "status": "failed", "metadata": {KEY: payment.key}}

        announce(server, cashier.shop, refund)
        cashier.shop.drain()

        assert cashier.request(payment) == payment
        assert cashier.find_faults() == []

    def test_a_refund_that_arrived_stays_as_it_is(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        payment = a_refunded_payment(cashier)
        [refund] = stripe.ask("GET", f"/v1/refunds?payment_intent={payment.reference}")["data"]

        announce(server, cashier.shop, refund, kind="refund.updated")
        cashier.shop.drain()

        assert cashier.request(payment) == payment
        assert cashier.balance() == 0


class TestWhatAnOperatorDoes:
    def test_the_refund_is_sent_again_and_arrives(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        payment = a_rejected_payment(cashier, stripe)
        rejected = stripe.ask("GET", f"/v1/refunds?payment_intent={payment.reference}")["data"]

        with cashier.shop.database.writing() as db:
            refund_again(a_system_work(db, now=cashier.shop.clock()), payment.id)
        cashier.shop.drain()
        # The first one is announced once more.
        announce(server, cashier.shop, rejected[0])
        cashier.shop.drain()

        refunded = cashier.request(payment)
        assert (refunded.state, refunded.reason) == (_P.REFUNDED, None)
        expected = [_E.REPAYMENT, _E.REPAYMENT_REVERSAL, _E.REPAYMENT]
        assert kinds(cashier.shop)[-3:] == expected
        assert cashier.balance() == 0
        assert cashier.find_faults() == []

    def test_the_second_refund_may_be_rejected_as_well(
        self, cashier: Cashier, stripe: StripeServer
    ) -> None:
        payment = a_rejected_payment(cashier, stripe)
        with cashier.shop.database.writing() as db:
            refund_again(a_system_work(db, now=cashier.shop.clock()), payment.id)
        cashier.shop.drain()

        stripe.reject_refund(payment.reference, "declined")
        cashier.shop.pass_time(days=CHECK_REFUND_AFTER.days)

        again = cashier.request(payment)
        assert (again.state, again.rejected_refunds) == (_P.REFUND_REJECTED, 2)
        assert cashier.balance() == -payment.amount
        assert cashier.find_faults() == []

    def test_what_was_paid_in_another_way_is_not_taken_back_again(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        payment = a_rejected_payment(cashier, stripe)

        with cashier.shop.database.writing() as db:
            system = a_system_work(db, now=cashier.shop.clock())
            note_repaid(system, payment.id, "bank transfer of 3 May")
        refund = {"id": "re_1", "metadata": {KEY: payment.key}}
        announce(server, cashier.shop, refund, event="evt_later")
        cashier.shop.pass_time(days=CHECK_REFUND_AFTER.days)

        assert cashier.request(payment).state is _P.REPAID
        assert kinds(cashier.shop)[-1] is _E.REPAYMENT
        assert cashier.balance() == 0
        assert cashier.find_faults() == []


class TestAProviderThatDoesNotAnswer:
    def test_it_is_asked_again(
        self, cashier: Cashier, server: Server, stripe: StripeServer
    ) -> None:
        payment = a_refunded_payment(cashier)
        refund = stripe.reject_refund(payment.reference)
        stripe.fail("500 before")

        announce(server, cashier.shop, refund)
        cashier.shop.drain()
        assert cashier.request(payment).state is _P.REFUNDED
        cashier.shop.pass_time(hours=1)

        assert cashier.request(payment).state is _P.REFUND_REJECTED

    def test_it_is_not_asked_for_ever(self, cashier: Cashier, stripe: StripeServer) -> None:
        payment = a_refunded_payment(cashier)
        stripe.fail("500 before")

        cashier.shop.pass_time(days=(CHECK_REFUND_AFTER + LOOK_UP_FOR).days)

        failed = cashier.shop.jobs(JobKind.CHECK_PAYMENT)[-1]
        assert failed.state == JobState.FAILED
        assert payment.key in (failed.last_error or "")
