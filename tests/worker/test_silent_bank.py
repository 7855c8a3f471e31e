"""A bank that goes down: every payment has an end, and no money is kept that nobody owes."""

from datetime import timedelta
from typing import Any

import pytest

from printworks.payments.provider import ProviderUnavailable
from printworks.payments.simulated import SimulatedProvider
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import OPEN_PAYMENTS, PaymentState
from printworks.rules.reasons import write_reasons
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order
from printworks.worker.payments import NOT_ANSWERED
from tests.scale import scaled
from tests.worker.cashiers import Cashier
from tests.worker.conftest import OpenShop
from tests.worker.shops import Shop

_P = PaymentState
_S = OrderStatus

ENDED = {_P.PAID, _P.DECLINED, _P.REFUNDED}


class Line:
    """The line to the bank, which can be cut: before a question, or after it has arrived."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_cut = False
        self.loses_answers = False
        for name in ("charge", "ask_payer", "look_up", "cancel", "refund"):
            ask = getattr(SimulatedProvider, name)
            monkeypatch.setattr(SimulatedProvider, name, self._wrap(ask))

    def _wrap(self, ask: Any) -> Any:
        def ask_over_the_line(*args: Any) -> Any:
            if self.is_cut and not self.loses_answers:
                raise ProviderUnavailable("cut")
            answer = ask(*args)
            if self.is_cut:
                raise ProviderUnavailable("lost")
            return answer

        return ask_over_the_line


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    """The line to the bank."""
    return Line(monkeypatch)


@pytest.fixture
def cashier(a_shop: OpenShop) -> Cashier:
    """Somebody who takes money where nothing is fetched or printed."""
    return Cashier(
        a_shop(kinds=(JobKind.CHECK_PAYMENT, JobKind.REFUND_PAYMENT, JobKind.END_CHECKOUT))
    )


def begin(cashier: Cashier, order: Order) -> PaymentRequest:
    """Write down a payment without asking the bank for it."""
    request = cashier.begin(order)
    assert isinstance(request, PaymentRequest)
    return request


def error_message(shop: Shop, order: Order) -> str:
    """Return what the merchant reads on an order."""
    return write_reasons(shop.order(order).reasons) or ""


def test_it_ends_after_a_day_and_the_merchant_has_read_why(cashier: Cashier, line: Line) -> None:
    line.is_cut = True
    order = cashier.a_draft()
    request = cashier.submit(order)
    assert error_message(cashier.shop, order) == ""

    cashier.shop.pass_time(minutes=3)
    meanwhile = error_message(cashier.shop, order)
    for _ in range(23):
        cashier.shop.pass_time(hours=1)
    assert cashier.request(request).state is _P.ASKED
    cashier.shop.pass_time(hours=1)

    assert meanwhile.startswith("The payment provider does not answer. We keep asking until 2026-")
    ended = cashier.request(request)
    assert (ended.state, ended.reason) == (_P.DECLINED, NOT_ANSWERED)
    back = cashier.shop.order(order)
    assert (back.status, back.payment_request_id) == (_S.NOT_YET_SUBMITTED, None)
    assert error_message(cashier.shop, order) == f"The order was not paid for. {NOT_ANSWERED}"


def test_the_end_is_a_setting(a_shop: OpenShop, line: Line) -> None:
    cashier = Cashier(a_shop(kinds=(JobKind.CHECK_PAYMENT,), payment_answer_within="30m"))
    line.is_cut = True
    request = cashier.submit(cashier.a_draft())

    for _ in range(5):
        cashier.shop.pass_time(minutes=6)

    assert cashier.request(request).state is _P.DECLINED


def test_a_bank_that_comes_back_in_time_changes_nothing(cashier: Cashier, line: Line) -> None:
    line.is_cut = line.loses_answers = True
    order = cashier.a_draft()
    request = cashier.submit(order)
    for _ in range(5):
        cashier.shop.pass_time(hours=1)

    line.is_cut = False
    cashier.shop.pass_time(hours=1)

    assert cashier.request(request).state is _P.PAID
    assert cashier.shop.order(order).status is _S.SUBMITTED
    assert error_message(cashier.shop, order) == ""


def test_one_that_then_wants_authorisation_waits_for_the_payer(
    cashier: Cashier, line: Line
) -> None:
    order = cashier.a_draft(destination_country="FR")
    request = begin(cashier, order)
    cashier.ask(request)
    line.is_cut = True
    cashier.shop.pass_time(minutes=3)
    assert error_message(cashier.shop, order) != ""

    line.is_cut = False
    cashier.shop.pass_time(minutes=6)

    assert cashier.request(request).state is _P.WAITING
    assert error_message(cashier.shop, order) == ""


def test_whoever_waits_for_a_payer_ends_when_the_payer_is_late(
    cashier: Cashier, line: Line
) -> None:
    order = cashier.a_draft(destination_country="FR")
    request = cashier.submit(order)
    assert cashier.shop.order(order).status is _S.AWAITING_PAYMENT
    line.is_cut = True

    for _ in range(13):
        cashier.shop.pass_time(hours=2)

    assert cashier.request(request).state is _P.DECLINED
    assert cashier.shop.order(order).status is _S.NOT_YET_SUBMITTED


def test_what_was_cancelled_meanwhile_ends_too_and_says_nothing(
    cashier: Cashier, line: Line
) -> None:
    line.is_cut = True
    order = cashier.a_draft()
    request = cashier.submit(order)
    cashier.shop.pass_time(minutes=3)
    cashier.cancel(order)
    assert error_message(cashier.shop, order) == ""

    for _ in range(13):
        cashier.shop.pass_time(hours=2)

    assert cashier.request(request).state is _P.DECLINED
    assert error_message(cashier.shop, order) == ""


def test_a_recipient_may_pay_again_after_the_end(cashier: Cashier, line: Line) -> None:
    shop = cashier.shop
    order = cashier.a_draft(payment=Payment.INVOICE_RECIPIENT, email="mary@example.com")
    cashier.let_recipient_pay(order)
    line.is_cut = True
    request = cashier.begin_checkout(order)

    for _ in range(13):
        shop.pass_time(hours=2)

    assert cashier.request(request).state is _P.DECLINED
    open_again = shop.order(order)
    assert (open_again.status, open_again.payment_request_id) == (_S.AWAITING_PAYMENT, None)
    assert error_message(shop, order) == ""


def test_a_charge_that_is_found_after_the_end_is_refunded(cashier: Cashier, line: Line) -> None:
    line.is_cut = line.loses_answers = True
    order = cashier.a_draft()
    request = cashier.submit(order)
    for _ in range(14):
        cashier.shop.pass_time(hours=2)
    assert cashier.request(request).state is _P.DECLINED

    line.is_cut = False
    cashier.shop.pass_time(hours=1)

    assert cashier.request(request).state is _P.REFUNDED
    assert cashier.count_taken(order) == (1, 0)
    assert cashier.find_faults() == []


def test_one_that_stays_silent_for_a_month_is_left_to_the_operator(
    cashier: Cashier, line: Line
) -> None:
    line.is_cut = True
    request = cashier.submit(cashier.a_draft())
    for _ in range(2):
        cashier.shop.pass_time(days=1)

    cashier.shop.pass_time(days=30)

    left = cashier.shop.jobs(JobKind.CHECK_PAYMENT)
    assert {job.state for job in left} == {"failed"}
    assert all(f"payment {request.id} was charged" in (job.last_error or "") for job in left)
    assert all(request.key in (job.last_error or "") for job in left)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_five_hundred_payments_at_a_bank_that_goes_down_all_end(
    cashier: Cashier, line: Line
) -> None:
    shop = cashier.shop
    drafts = cashier.many_drafts(scaled(500))
    french = cashier.many_drafts(scaled(100), destination_country="FR")
    requests = []
    for number, order in enumerate([*drafts, *french]):
        request = begin(cashier, order)
        requests.append(request)
        # A quarter before it, a quarter with a lost answer, a quarter unheard, a quarter unasked.
        line.is_cut, line.loses_answers = number % 4 > 0, number % 4 == 1
        if number % 4 < 3:
            cashier.settle(request, cashier.ask(request))
        if number % 16 == 2:
            cashier.cancel(order)

    line.is_cut, line.loses_answers = True, False
    for hours in (0.05, 1, 3, 4, 8, 8, 0.05):
        shop.pass_time(hours=hours)

    # Those that waited for their payers before have waited for a day as well.
    ended = [cashier.request(request) for request in requests]
    assert not [payment for payment in ended if payment.state in OPEN_PAYMENTS]
    line.is_cut = False
    for _ in range(3):
        shop.pass_time(hours=25)
    assert {cashier.request(request).state for request in requests} <= ENDED
    for order in drafts:
        is_paid = shop.order(order).status is _S.SUBMITTED
        assert cashier.count_taken(order)[1] == int(is_paid)
    assert cashier.find_faults() == []
    assert timedelta(days=1) == shop.settings.payment_answer_within
