"""The recipient pays for an order: how much, by when, and where it then goes."""

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from sqlalchemy import update

from printworks.actions.images.images import add_images
from printworks.actions.payments.checkout import complete_recipient, find_checkout, pay_as_recipient
from printworks.actions.submission.check import check_submission
from printworks.actions.submission.submit import await_payment
from printworks.errors import BadInput, WrongState
from printworks.rules.events import OrderMoved
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import PaymentState
from printworks.rules.reasons import write_reasons
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import NewImage
from printworks.store.money.ledger import set_credit_limit
from printworks.store.money.payments import PaymentRequest, SavedCard, save_card
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.tables import images, orders
from tests.factories import a_system_work, a_work, a_work_of
from tests.worker.cashiers import Cashier
from tests.worker.conftest import OpenShop
from tests.worker.shops import Shop

_P = PaymentState
_S = OrderStatus


@pytest.fixture
def cashier(shop: Shop) -> Cashier:
    """Somebody who takes money in the usual shop."""
    return Cashier(shop)


def sell_below_price(shop: Shop) -> Order:
    """Add an order for which its recipient pays less than the merchant."""
    order = shop.add_order(payment=Payment.INVOICE_RECIPIENT, email="mary@example.com")
    shop.add_images(order, "https://shop.example/a.jpg", price_to_user=0)
    return shop.order(order)


class TestARecipientWhoPays:
    @pytest.fixture
    def order(self, cashier: Cashier) -> Order:
        """An order for which the recipient pays twice what the merchant does."""
        shop = cashier.shop
        order = shop.add_order(
            payment=Payment.INVOICE_RECIPIENT, email="mary@example.com", invoice_tax=120
        )
        shop.add_images(order, "https://shop.example/a.jpg", copies=2, price_to_user=900)
        cashier.let_recipient_pay(order)
        return shop.order(order)

    def pay(self, cashier: Cashier, order: Order) -> PaymentRequest:
        """Press the button on the checkout page, as far as the bank."""
        request = cashier.begin_checkout(order)
        return cashier.settle(request, cashier.ask_payer(request))

    def test_pays_what_the_merchant_asks_and_the_merchant_gets_the_margin(
        self, cashier: Cashier, order: Order
    ) -> None:
        request = self.pay(cashier, order)
        assert request.state is _P.WAITING
        assert cashier.shop.order(order).status is _S.AWAITING_PAYMENT
        cashier.shop.resources.gateway.bank.authorise(request.key)
        settled = cashier.settle(request, cashier.look_up(request))

        assert settled.state is _P.PAID
        assert settled.amount == 2 * 900 + order.shipping_price + 120
        assert cashier.shop.order(order).status is _S.SUBMITTED
        assert cashier.balance() == order.price - settled.amount
        assert cashier.find_faults() == []

    def test_may_try_again_after_a_refusal(self, cashier: Cashier, order: Order) -> None:
        first = self.pay(cashier, order)
        cashier.shop.resources.gateway.bank.refuse(first.key)
        cashier.settle(first, cashier.look_up(first))

        waiting = cashier.shop.order(order)
        assert (waiting.status, waiting.payment_request_id) == (_S.AWAITING_PAYMENT, None)
        second = self.pay(cashier, order)
        assert (second.state, second.id != first.id) == (_P.WAITING, True)

    def test_is_asked_once_however_often_the_button_is_pressed(
        self, cashier: Cashier, order: Order
    ) -> None:
        first = self.pay(cashier, order)

        assert self.pay(cashier, order) == first

    def test_gets_the_money_back_when_the_order_is_cancelled(
        self, cashier: Cashier, order: Order
    ) -> None:
        request = self.pay(cashier, order)
        cashier.shop.resources.gateway.bank.authorise(request.key)
        cashier.settle(request, cashier.look_up(request))

        cashier.cancel(order)
        cashier.shop.drain()

        assert cashier.request(request).state is _P.REFUNDED
        assert cashier.count_taken(order) == (1, 0)
        assert cashier.balance() == 0
        assert cashier.find_faults() == []

    def test_who_does_not_pay_in_time_leaves_the_order_to_the_merchant(
        self, cashier: Cashier, order: Order
    ) -> None:
        cashier.shop.pass_time(days=29)
        assert cashier.shop.order(order).status is _S.AWAITING_PAYMENT
        cashier.shop.pass_time(days=1)

        back = cashier.shop.order(order)
        assert (back.status, back.pay_until) == (_S.NOT_YET_SUBMITTED, None)
        assert write_reasons(back.reasons) == (
            "The order was not paid for. The recipient did not pay in time."
        )
        with pytest.raises(WrongState, match="does not wait for a payment"):
            self.pay(cashier, order)

    def test_who_is_just_paying_when_time_is_over_may_end_it(
        self, cashier: Cashier, order: Order
    ) -> None:
        cashier.shop.pass_time(days=29, hours=23)
        request = self.pay(cashier, order)
        cashier.shop.pass_time(hours=2)
        assert cashier.shop.order(order).status is _S.AWAITING_PAYMENT

        cashier.shop.resources.gateway.bank.authorise(request.key)
        # It is checked again after as long as it has waited.
        cashier.shop.pass_time(hours=3)

        assert cashier.shop.order(order).status is _S.SUBMITTED

    def test_a_second_time_to_pay_is_not_cut_short_by_the_first(
        self, cashier: Cashier, order: Order
    ) -> None:
        cashier.shop.pass_time(days=30)
        cashier.let_recipient_pay(order)

        cashier.shop.pass_time(days=29)

        assert cashier.shop.order(order).status is _S.AWAITING_PAYMENT

    def test_is_asked_where_it_goes_if_the_merchant_did_not_say(self, cashier: Cashier) -> None:
        shop = cashier.shop
        order = shop.add_order(
            payment=Payment.INVOICE_RECIPIENT, address1=None, postal_code=None, email=None
        )
        shop.add_images(order, "https://shop.example/a.jpg")
        cashier.let_recipient_pay(order)

        with shop.database.writing() as db:
            checkout = find_checkout(
                a_system_work(db, catalogue=shop.resources.catalogue), order.payment_token or ""
            )
            assert checkout is not None
            assert checkout.missing == ["address1", "postal_code", "email"]
            given = {
                "address1": " 1  High Street ",
                "postal_code": "YO1 1AA",
                "email": "mary@example.com",
                "town_or_city": "Elsewhere",
            }
            completed = complete_recipient(
                a_work_of(db, checkout, now=shop.clock()), checkout, given
            )

        assert (completed.address1, completed.email) == ("1 High Street", "mary@example.com")
        # What the merchant said stays.
        assert completed.town_or_city == "York"

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({}, "`address1`: Enter the street address."),
            ({"address1": "x" * 201}, "`address1`: Use at most 200 characters."),
            ({"address1": "a\x07b"}, "`address1`: This contains a character that cannot"),
            (
                {"address1": "1 High Street", "email": "mary"},
                "`email`: Enter a valid email address",
            ),
            ({"address1": "1 High Street"}, "`email`: Enter the email address."),
        ],
    )
    def test_what_is_wrong_is_said_and_nothing_is_kept(
        self, cashier: Cashier, given: dict[str, str], sentence: str
    ) -> None:
        shop = cashier.shop
        order = shop.add_order(payment=Payment.INVOICE_RECIPIENT, address1=None, email=None)
        shop.add_images(order, "https://shop.example/a.jpg")
        cashier.let_recipient_pay(order)
        before = shop.order(order)

        with shop.database.reading() as db:
            checkout = find_checkout(
                a_system_work(db, catalogue=shop.resources.catalogue), order.payment_token or ""
            )
        assert checkout is not None
        with pytest.raises(BadInput, match=sentence), shop.database.writing() as db:
            complete_recipient(a_work_of(db, checkout, now=shop.clock()), checkout, given)

        assert shop.order(order) == before

    def test_pictures_may_still_be_missing(self, cashier: Cashier) -> None:
        shop = cashier.shop
        order = shop.add_order(payment=Payment.INVOICE_RECIPIENT, email="mary@example.com")
        new = NewImage(sku="M-STI-4X6", url=None, copies=1)
        with shop.database.writing() as db:
            merchant = get_merchant(db, shop.merchant.id)
            current = get_order_to_change(db, merchant.id, order.id)
            add_images(
                a_work(db, merchant, now=shop.clock(), catalogue=shop.resources.catalogue),
                current,
                [new],
            )
        cashier.let_recipient_pay(order)

        request = self.pay(cashier, order)
        shop.resources.gateway.bank.authorise(request.key)
        cashier.settle(request, cashier.look_up(request))

        [*_, moved] = [event for event in shop.events(order) if isinstance(event, OrderMoved)]
        assert (moved.status, moved.lacks_images) == (_S.SUBMITTED, True)

    def test_who_has_nothing_to_pay_is_asked_for_nothing(self, cashier: Cashier) -> None:
        shop = cashier.shop
        order = sell_below_price(shop)
        cashier.let_recipient_pay(order)
        cards = shop.resources.gateway.cards
        assert cards is not None

        with shop.database.writing() as db:
            # As a lab does that sends a shop's prints for nothing.
            db.execute(update(orders).where(orders.c.id == order.id).values(shipping_price=0))
            checkout = find_checkout(
                a_system_work(db, catalogue=shop.resources.catalogue), order.payment_token or ""
            )
            assert checkout is not None
            asked = pay_as_recipient(
                a_work_of(
                    db, checkout, now=shop.clock(), catalogue=shop.resources.catalogue, cards=cards
                ),
                checkout,
            )

        assert asked is None
        submitted = shop.order(order)
        assert submitted.status is _S.SUBMITTED
        assert cashier.balance() == submitted.price
        assert cashier.find_faults() == []

    def test_what_a_recipient_does_not_pay_the_merchant_owes(self, cashier: Cashier) -> None:
        shop = cashier.shop
        first, second = (sell_below_price(shop) for _ in range(2))

        cashier.let_recipient_pay(first)
        paid = self.pay(cashier, first)
        shop.resources.gateway.bank.authorise(paid.key)
        cashier.settle(paid, cashier.look_up(paid))

        difference = shop.order(first).price - paid.amount
        assert difference > 0
        assert cashier.balance() == difference
        assert cashier.find_faults() == []
        # It is outstanding now.
        with pytest.raises(WrongState, match="AccountBalanceInsufficient"):
            cashier.let_recipient_pay(second)
        with shop.database.writing() as db:
            set_credit_limit(db, shop.merchant.id, 10_000)
        cashier.let_recipient_pay(second)

    def test_what_recipients_may_pay_too_little_for_counts_as_owed(self, cashier: Cashier) -> None:
        shop = cashier.shop
        first, second, third = (sell_below_price(shop) for _ in range(3))
        difference = shop.order(first).price - shop.order(first).shipping_price
        assert difference > 0

        cashier.let_recipient_pay(first)

        # Without a limit, a merchant who pays by card owes for one order at a time.
        with pytest.raises(WrongState, match="AccountBalanceInsufficient"):
            cashier.let_recipient_pay(second)
        with shop.database.writing() as db:
            set_credit_limit(db, shop.merchant.id, 2 * difference)
        cashier.let_recipient_pay(second)
        with pytest.raises(WrongState, match="AccountBalanceInsufficient"):
            cashier.let_recipient_pay(third)
        cashier.cancel(first)
        cashier.let_recipient_pay(third)

    @pytest.mark.parametrize("at_once", [6])
    def test_of_many_at_once_no_more_are_let_through_than_the_limit_holds(
        self, cashier: Cashier, at_once: int
    ) -> None:
        shop = cashier.shop
        waiting = [sell_below_price(shop) for _ in range(at_once)]
        difference = shop.order(waiting[0]).price - shop.order(waiting[0]).shipping_price
        with shop.database.writing() as db:
            set_credit_limit(db, shop.merchant.id, 3 * difference)

        def ask(order: Order) -> bool:
            try:
                cashier.let_recipient_pay(order)
            except WrongState:
                return False
            return True

        with ThreadPoolExecutor(at_once) as pool:
            let_through = list(pool.map(ask, waiting))

        assert sum(let_through) == 3

    def test_a_difference_that_cannot_be_charged_is_refused_in_a_sentence(
        self, cashier: Cashier
    ) -> None:
        shop = cashier.shop
        order, bank = sell_below_price(shop), shop.resources.gateway.cards
        assert bank is not None
        cards = msgspec.structs.replace(bank, needs_saved_card=True)

        with shop.database.writing() as db:
            work = a_work_of(db, order, catalogue=shop.resources.catalogue, cards=cards)
            status = check_submission(work, order)
            with pytest.raises(WrongState, match="neither a card nor an account") as refused:
                await_payment(work, order)
            save_card(db, shop.merchant.id, SavedCard("cus_1", "pm_1"))
            with_card = check_submission(work, order)

        assert (status.is_valid, status.errors, status.refusal) == (False, [], str(refused.value))
        assert (with_card.is_valid, with_card.refusal) == (True, None)

    def test_what_no_bank_would_take_is_refused(self, cashier: Cashier) -> None:
        shop = cashier.shop
        order = shop.add_order(payment=Payment.INVOICE_RECIPIENT, email="mary@example.com")
        shop.add_images(
            order, "https://shop.example/a.jpg", copies=100_000, price_to_user=1_000_000_000_000
        )

        with pytest.raises(WrongState, match="too expensive"):
            cashier.let_recipient_pay(order)

    def test_nobody_pays_for_a_picture_that_is_none(self, cashier: Cashier, order: Order) -> None:
        shop = cashier.shop
        with shop.database.writing() as db:
            db.execute(update(images).values(sku="GONE"))

        with pytest.raises(WrongState, match="cannot be printed"):
            self.pay(cashier, order)
        assert cashier.payments(order) == []

    def test_what_is_no_longer_sold_when_it_is_paid_goes_back(
        self, cashier: Cashier, order: Order
    ) -> None:
        shop = cashier.shop
        request = self.pay(cashier, order)
        shop.resources.gateway.bank.authorise(request.key)
        with shop.database.writing() as db:
            db.execute(update(images).values(sku="GONE"))

        cashier.settle(request, cashier.look_up(request))
        shop.drain()

        assert cashier.request(request).state is _P.REFUNDED
        assert shop.order(order).status is _S.NOT_YET_SUBMITTED
        assert cashier.find_faults() == []

    def test_where_nobody_takes_cards_no_recipient_can_pay(self, a_shop: OpenShop) -> None:
        cashier = Cashier(a_shop(payments="account"))
        order = cashier.a_draft(payment=Payment.INVOICE_RECIPIENT)

        with pytest.raises(WrongState, match="Recipients cannot pay here"):
            cashier.let_recipient_pay(order)
