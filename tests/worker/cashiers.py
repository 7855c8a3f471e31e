"""Paying for orders in a shop, step by step, so that tests can put anything in between."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select

from printworks.actions.images.images import add_images
from printworks.actions.orders.orders import cancel_order, create_order
from printworks.actions.payments.checkout import find_checkout, pay_as_recipient
from printworks.actions.payments.payments import describe_charge, settle
from printworks.actions.submission.submit import await_payment, submit_order
from printworks.errors import ServiceError
from printworks.payments.provider import (
    Charge,
    Outcome,
    PaymentProvider,
    ProviderUnavailable,
    Unknown,
)
from printworks.payments.simulated import State
from printworks.rules.ledger_audit import audit
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import NewImage
from printworks.store.money.ledger import list_days, list_entries, list_order_money, read_books
from printworks.store.money.payments import PaymentRequest, get_request, list_payment_money
from printworks.store.money.simulated_charges import BankMemory
from printworks.store.orders.orders import Order, get_order, get_order_to_change
from printworks.store.tables import payment_requests
from tests.factories import a_new_order, a_system_work, a_work, a_work_of
from tests.worker.shops import ADDRESS, STICKER, Shop

_TAKEN: Final = frozenset({State.PAID, State.REFUNDED})


@dataclass(frozen=True)
class Cashier:
    """Takes money in a shop."""

    shop: Shop

    def a_draft(self, **values: Any) -> Order:
        """Add an order that lacks nothing, and whose picture is not even fetched yet."""
        order = self.shop.add_order(**values)
        self.shop.add_images(order, "https://shop.example/a.jpg")
        return self.shop.order(order)

    def many_drafts(self, count: int, **values: Any) -> list[Order]:
        """Add many such orders at once."""
        shop = self.shop
        new = a_new_order(**{**ADDRESS, **values})
        image = NewImage(sku=STICKER, url="https://shop.example/a.jpg", copies=1)
        drafts = []
        with shop.database.writing() as db:
            merchant = get_merchant(db, shop.merchant.id)
            for _ in range(count):
                order = create_order(a_work(db, merchant, now=shop.clock()), new)
                add_images(
                    a_work(db, merchant, now=shop.clock(), catalogue=shop.resources.catalogue),
                    order,
                    [image],
                )
                drafts.append(get_order(db, merchant.id, order.id))
        return drafts

    def begin(self, order: Order) -> Order | PaymentRequest:
        """Ask to submit an order."""
        shop = self.shop
        with shop.database.writing() as db:
            merchant = get_merchant(db, order.merchant_id)
            return submit_order(
                a_work(
                    db,
                    merchant,
                    now=shop.clock() + merchant.clock_offset,
                    catalogue=shop.resources.catalogue,
                    cards=shop.resources.gateway.cards,
                ),
                get_order_to_change(db, merchant.id, order.id),
            )

    def ask(self, request: PaymentRequest) -> Outcome | Unknown:
        """Ask the bank for the money; `Unknown` if its answer is lost."""
        try:
            return self._provider(request).charge(self._charge(request))
        except ProviderUnavailable:
            return Unknown()

    def ask_payer(self, request: PaymentRequest) -> Outcome | Unknown:
        """Ask the bank to ask somebody whose card is not known."""
        return self._provider(request).ask_payer(self._charge(request))

    def look_up(self, request: PaymentRequest) -> Outcome | Unknown:
        """Ask the bank what became of it."""
        return self._provider(request).look_up(self._charge(request))

    def settle(self, request: PaymentRequest, outcome: Outcome | Unknown) -> PaymentRequest:
        """Do what follows from what the bank says."""
        shop = self.shop
        with shop.database.writing() as db:
            return settle(
                a_system_work(db, now=shop.clock(), catalogue=shop.resources.catalogue),
                request.id,
                outcome,
            )

    def submit(self, order: Order) -> PaymentRequest:
        """Submit an order whose merchant pays by card."""
        request = self.begin(order)
        assert isinstance(request, PaymentRequest)
        return self.settle(request, self.ask(request))

    def cancel(self, order: Order) -> None:
        """Cancel an order."""
        shop = self.shop
        with shop.database.writing() as db:
            merchant = get_merchant(db, order.merchant_id)
            current = get_order_to_change(db, merchant.id, order.id)
            now = shop.clock() + merchant.clock_offset
            cancel_order(a_work(db, merchant, now=now, catalogue=shop.resources.catalogue), current)

    def let_recipient_pay(self, order: Order) -> None:
        """Ask for the status AwaitingPayment."""
        shop = self.shop
        with shop.database.writing() as db:
            merchant = get_merchant(db, order.merchant_id)
            await_payment(
                a_work(
                    db,
                    merchant,
                    now=shop.clock() + merchant.clock_offset,
                    catalogue=shop.resources.catalogue,
                    cards=shop.resources.gateway.cards,
                ),
                get_order_to_change(db, merchant.id, order.id),
            )

    def begin_checkout(self, order: Order) -> PaymentRequest:
        """Press the button on the checkout page of an order, without asking the bank."""
        shop = self.shop
        cards, catalogue = shop.resources.gateway.cards, shop.resources.catalogue
        with shop.database.writing() as db:
            token = shop.order(order).payment_token or ""
            checkout = find_checkout(a_system_work(db, catalogue=catalogue), token)
            assert checkout is not None
            work = a_work_of(db, checkout, now=shop.clock(), catalogue=catalogue, cards=cards)
            request = pay_as_recipient(work, checkout)
        assert request is not None
        return request

    def request(self, request: PaymentRequest) -> PaymentRequest:
        """Return a payment as it is by now."""
        with self.shop.database.reading() as db:
            return get_request(db, request.id)

    def payments(self, order: Order) -> list[PaymentRequest]:
        """Return every payment that was asked for an order, oldest first."""
        query = (
            select(payment_requests.c.id)
            .where(payment_requests.c.order_id == order.id)
            .order_by(payment_requests.c.id)
        )
        with self.shop.database.reading() as db:
            return [get_request(db, number) for number in db.execute(query).scalars()]

    def count_taken(self, order: Order) -> tuple[int, int]:
        """Count how often the bank took money for an order, and how often it still has it."""
        memory = BankMemory(self.shop.database)
        states = [memory.get(request.key) for request in self.payments(order)]
        taken = [state for state in states if state in _TAKEN]
        return len(taken), taken.count(State.PAID)

    def find_faults(self) -> list[str]:
        """Recompute the merchant's ledger; return what does not add up."""
        merchant_id = self.shop.merchant.id
        with self.shop.database.reading() as db:
            faults = audit(
                list_entries(db, merchant_id),
                list_order_money(db, merchant_id),
                list_payment_money(db, merchant_id),
                list_days(db, merchant_id),
                read_books(db, merchant_id),
            )
        return [fault.sentence for fault in faults]

    def balance(self) -> int:
        """Return what the merchant owes."""
        with self.shop.database.reading() as db:
            return read_books(db, self.shop.merchant.id).balance

    def _provider(self, request: PaymentRequest) -> PaymentProvider:
        return self.shop.resources.gateway.open(request.provider)

    def _charge(self, request: PaymentRequest) -> Charge:
        with self.shop.database.reading() as db:
            merchant = get_merchant(db, request.merchant_id)
        return describe_charge(merchant, self.shop.order_by_id(request.order_id), request)


Steps = Iterator[None]


def submitting(cashier: Cashier, order: Order) -> Steps:
    """Submit an order, with a pause after each step."""
    try:
        request = cashier.begin(order)
    except ServiceError:
        return
    yield
    if isinstance(request, PaymentRequest):
        outcome = cashier.ask(request)
        yield
        cashier.settle(request, outcome)


def cancelling(cashier: Cashier, order: Order) -> Steps:
    """Cancel an order, if it still can be."""
    try:
        cashier.cancel(order)
    except ServiceError:
        return
    yield


def looking(cashier: Cashier, order: Order) -> Steps:
    """Look what became of the payment, with a pause before what follows from it."""
    requests = cashier.payments(order)
    if requests:
        outcome = cashier.look_up(requests[-1])
        yield
        cashier.settle(requests[-1], outcome)


def authorising(cashier: Cashier, order: Order) -> Steps:
    """Say yes at the bank, if it asks."""
    for request in cashier.payments(order)[-1:]:
        cashier.shop.resources.gateway.bank.authorise(request.key)
    yield


def arrangements(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Return every order in which so many steps of each can follow each other."""
    if not any(counts):
        yield ()
        return
    for who, left in enumerate(counts):
        if left:
            fewer = (*counts[:who], left - 1, *counts[who + 1 :])
            for rest in arrangements(fewer):
                yield (who, *rest)
