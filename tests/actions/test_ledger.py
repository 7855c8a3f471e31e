"""Money adds up, and whatever is done to it behind our back is found."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Connection, delete, insert, select, update

from printworks.actions.images.images import add_images
from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.payments import record_refunded, settle
from printworks.actions.submission.check import check_submission
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency
from printworks.errors import WrongState
from printworks.payments.provider import Paid
from printworks.rules.ledger import EntryKind
from printworks.rules.ledger_audit import audit
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Cards, PaymentState
from printworks.rules.submission import GeneralError
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage
from printworks.store.money.ledger import (
    NewLedgerEntry,
    list_days,
    list_entries,
    list_order_money,
    post_entry,
    read_books,
    set_credit_limit,
)
from printworks.store.money.payments import PaymentRequest, list_payment_money
from printworks.store.orders.orders import Order, get_order
from printworks.store.tables import ledger_days, ledger_entries, merchants, orders, payment_requests
from tests.factories import NOON, a_merchant, a_system_work, a_work, a_work_of, an_order

CATALOGUE: Final = open_catalogue(None)
CARDS: Final = Cards("bank", timedelta(days=1), timedelta(days=30))
ADDRESS: Final = {"address1": "1 High Street", "town_or_city": "York", "postal_code": "YO1 1AA"}


def a_draft(db: Connection, merchant: Merchant) -> Order:
    """Make an order that lacks nothing."""
    order = an_order(db, merchant, **ADDRESS)
    new = NewImage(sku="GLOBAL-PHO-4X6-PRO", url="https://shop.example/a.jpg", copies=2)
    add_images(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order, [new])
    return get_order(db, merchant.id, order.id)


def submit(db: Connection, merchant: Merchant) -> Order:
    """Hand in an order."""
    order = a_draft(db, merchant)
    submitted = submit_order(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order)
    assert isinstance(submitted, Order)
    return submitted


def cancel(db: Connection, merchant: Merchant, order: Order) -> None:
    """Call an order off."""
    cancel_order(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order)


def find_faults(db: Connection, merchant: Merchant) -> list[str]:
    """Recompute the merchant's ledger; return the kinds of what does not add up."""
    entries = list_entries(db, merchant.id)
    money = list_order_money(db, merchant.id)
    payments = list_payment_money(db, merchant.id)
    days, books = list_days(db, merchant.id), read_books(db, merchant.id)
    return [fault.kind for fault in audit(entries, money, payments, days, books)]


def business(db: Connection) -> Merchant:
    """Let two orders be charged and a third be charged and given back, and somebody pay."""
    merchant = a_merchant(db)
    submit(db, merchant)
    submit(db, merchant)
    cancel(db, merchant, submit(db, merchant))
    a_draft(db, merchant)
    post_entry(
        db,
        merchant.id,
        NewLedgerEntry(key="payment-1", kind=EntryKind.PAYMENT, amount=200, currency="GBP"),
        now=NOON,
    )
    return merchant


def test_what_was_charged_refunded_and_paid_adds_up(database: Database) -> None:
    with database.writing() as db:
        merchant = business(db)

        assert find_faults(db, merchant) == []
        kinds = [booked.entry.kind for booked in list_entries(db, merchant.id)]
        assert kinds == ["charge", "charge", "charge", "refund", "payment"]
        owed = sum(
            money.total
            for money in list_order_money(db, merchant.id)
            if money.status == "Submitted"
        )
        assert read_books(db, merchant.id).balance == owed - 200


def change_entry(number: int, **values: Any) -> Callable[[Connection], None]:
    """Change an entry that was written."""

    def plant(db: Connection) -> None:
        db.execute(update(ledger_entries).where(ledger_entries.c.number == number).values(**values))

    return plant


def lose_entry(number: int) -> Callable[[Connection], None]:
    """Remove an entry that was written."""

    def plant(db: Connection) -> None:
        db.execute(delete(ledger_entries).where(ledger_entries.c.number == number))

    return plant


def forge_charge(db: Connection) -> None:
    """Charge an order once more, by the rules of the ledger."""
    order_id, merchant_id = db.execute(
        select(orders.c.id, orders.c.merchant_id).where(orders.c.status == OrderStatus.SUBMITTED)
    ).first() or (0, 0)
    post_entry(
        db,
        merchant_id,
        NewLedgerEntry(
            key="forged", kind=EntryKind.CHARGE, amount=100, currency="GBP", order_id=order_id
        ),
        now=NOON,
    )


def change_order_row(found_in: OrderStatus, **values: Any) -> Callable[[Connection], None]:
    """Change the first order in this status, and nothing in the ledger."""

    def plant(db: Connection) -> None:
        first = select(orders.c.id).where(orders.c.status == found_in).limit(1).scalar_subquery()
        db.execute(update(orders).where(orders.c.id == first).values(**values))

    return plant


def add_loose_entry(db: Connection) -> None:
    """Write an entry past the ledger's own way."""
    last = db.execute(select(ledger_entries).order_by(ledger_entries.c.number.desc())).first()
    assert last is not None
    values = {**last._mapping, "number": 99, "key": "loose"}
    db.execute(insert(ledger_entries).values(**values))


def change_balance(db: Connection) -> None:
    """Forgive what is owed, in the one number that everybody reads."""
    db.execute(update(merchants).values(balance=0))


_S = OrderStatus
LINES: Final = [["receivable", 1], ["sales", -1]]

# Read a line as: if this is planted ... at least this is found.
CORRUPTIONS: Final[dict[str, tuple[Callable[[Connection], object], str]]] = {
    "an amount was changed": (change_entry(1, lines=LINES), "altered"),
    "one side of an entry was changed": (
        change_entry(1, lines=[["receivable", 5], ["sales", -4]]),
        "unbalanced",
    ),
    "a charge became a payment": (change_entry(1, kind=EntryKind.PAYMENT), "accounts"),
    "a memo was changed": (change_entry(2, memo="something else"), "altered"),
    "a time was changed": (change_entry(2, created_at=NOON.replace(year=2020)), "altered"),
    "an entry in the middle is gone": (lose_entry(2), "gap"),
    "the last entry is gone": (lose_entry(5), "end"),
    "an entry was written past the ledger": (add_loose_entry, "gap"),
    "an order was charged twice": (forge_charge, "twice"),
    "a charge is gone": (lose_entry(1), "uncharged"),
    "a refund is gone": (lose_entry(4), "amount"),
    "a draft became submitted": (
        change_order_row(_S.NOT_YET_SUBMITTED, status=_S.SUBMITTED),
        "uncharged",
    ),
    "a submitted order became a draft": (
        change_order_row(_S.SUBMITTED, status=_S.NOT_YET_SUBMITTED),
        "amount",
    ),
    "the price of an order was changed": (change_order_row(_S.SUBMITTED, price=1), "amount"),
    "the currency of an order was changed": (
        change_order_row(_S.SUBMITTED, currency=Currency.USD),
        "currency",
    ),
    "the currency of a charge was changed": (change_entry(3, currency="USD"), "currencies"),
    "the balance was changed": (change_balance, "balance"),
    "the balance after an entry was changed": (change_entry(2, balance=1), "running-balance"),
    "the totals of a day were changed": (
        lambda db: db.execute(update(ledger_days).values(entries=1)),
        "day",
    ),
    "the totals of a day are gone": (lambda db: db.execute(delete(ledger_days)), "day"),
    "a charge was moved to another order": (change_entry(1, order_id=2), "twice"),
}


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_a_planted_corruption_is_found(database: Database, corruption: str) -> None:
    plant, found = CORRUPTIONS[corruption]
    with database.writing() as db:
        merchant = business(db)
        assert find_faults(db, merchant) == []

        plant(db)

        assert found in find_faults(db, merchant)


def pay_by_card(db: Connection, merchant: Merchant) -> Order:
    """Hand in an order whose merchant pays by card."""
    request = submit_order(
        a_work(db, merchant, now=NOON, catalogue=CATALOGUE, cards=CARDS), a_draft(db, merchant)
    )
    assert isinstance(request, PaymentRequest)
    settle(
        a_system_work(db, now=NOON, catalogue=CATALOGUE),
        request.id,
        Paid(provider="bank", reference="1"),
    )
    return get_order(db, merchant.id, request.order_id)


def business_by_card(db: Connection) -> Merchant:
    """Let one order be paid, another be paid and given back, and a third be under way."""
    merchant = a_merchant(db)
    pay_by_card(db, merchant)
    cancel(db, merchant, pay_by_card(db, merchant))
    record_refunded(a_system_work(db, now=NOON), 2)
    submit_order(
        a_work(db, merchant, now=NOON, catalogue=CATALOGUE, cards=CARDS), a_draft(db, merchant)
    )
    return merchant


def change_payment(number: int, **values: Any) -> Callable[[Connection], None]:
    """Change what is remembered of a payment, and nothing in the ledger."""

    def plant(db: Connection) -> None:
        db.execute(update(payment_requests).where(payment_requests.c.id == number).values(**values))

    return plant


def lose_payment(db: Connection) -> None:
    """Forget that somebody was asked for money."""
    db.execute(delete(payment_requests).where(payment_requests.c.id == 1))


def forge_payment(db: Connection) -> None:
    """Write down money for an order that nobody paid, by the rules of the ledger."""
    post_entry(
        db,
        db.execute(select(merchants.c.id)).scalar_one(),
        NewLedgerEntry(
            key="payment-forged", kind=EntryKind.PAYMENT, amount=100, currency="GBP", order_id=1
        ),
        now=NOON,
    )


_P = PaymentState
CARD_CORRUPTIONS: Final[dict[str, tuple[Callable[[Connection], None], str]]] = {
    "a payment that was asked for became paid": (change_payment(3, state=_P.PAID), "payment"),
    "a paid one became declined": (change_payment(1, state=_P.DECLINED), "payment"),
    "a paid one became refunded": (change_payment(1, state=_P.REFUNDED), "payment"),
    "a refunded one became paid": (change_payment(2, state=_P.PAID), "payment"),
    "the amount of a payment was changed": (change_payment(1, amount=1), "payment-amount"),
    "the currency of a payment was changed": (
        change_payment(1, currency=Currency.USD),
        "payment-amount",
    ),
    "a payment was moved to another order": (change_payment(2, order_id=1), "payment-amount"),
    "a payment is gone": (lose_payment, "unasked"),
    "money was received that nobody was asked for": (forge_payment, "unasked"),
    "the receipt of a payment is gone": (lose_entry(1), "payment"),
    "a repayment is gone": (lose_entry(6), "payment"),
}


@pytest.mark.parametrize("corruption", CARD_CORRUPTIONS)
def test_a_planted_corruption_of_payments_is_found(database: Database, corruption: str) -> None:
    plant, found = CARD_CORRUPTIONS[corruption]
    with database.writing() as db:
        merchant = business_by_card(db)
        assert find_faults(db, merchant) == []
        kinds = [booked.entry.kind for booked in list_entries(db, merchant.id)]
        assert kinds == ["payment", "charge", "payment", "charge", "refund", "repayment"]

        plant(db)

        assert found in find_faults(db, merchant)


def test_a_charge_on_somebody_elses_order_is_found(database: Database) -> None:
    with database.writing() as db:
        alice, bob = a_merchant(db, "Alice"), a_merchant(db, "Bob")
        order = submit(db, alice)
        post_entry(
            db,
            bob.id,
            NewLedgerEntry(
                key="wrong",
                kind=EntryKind.CHARGE,
                amount=order.price,
                currency="GBP",
                order_id=order.id,
            ),
            now=NOON,
        )

        assert find_faults(db, alice) == []
        assert find_faults(db, bob) == ["stranger"]


def test_the_same_key_is_posted_once(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        same = NewLedgerEntry(key="k", kind=EntryKind.CREDIT, amount=5, currency="GBP")

        assert post_entry(db, merchant.id, same, now=NOON) is not None
        assert post_entry(db, merchant.id, same, now=NOON) is None
        assert read_books(db, merchant.id).count == 1


def test_eight_who_submit_at_once_leave_a_ledger_that_adds_up(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(3):
            with database.writing() as db:
                submit(db, merchant)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as db:
        assert find_faults(db, merchant) == []
        assert read_books(db, merchant.id).count == 24


class TestTheCreditLimit:
    def test_an_order_that_does_not_fit_cannot_be_submitted(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = a_draft(db, merchant)
            set_credit_limit(db, merchant.id, order.price - 1)

            status = check_submission(a_work_of(db, order, catalogue=CATALOGUE), order)

            assert status.errors == [GeneralError.ACCOUNT_BALANCE_INSUFFICIENT]
            with pytest.raises(WrongState, match="AccountBalanceInsufficient"):
                submit_order(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order)

    def test_what_is_owed_already_counts_and_what_was_paid_does_not(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            first = submit(db, merchant)
            second = a_draft(db, merchant)
            set_credit_limit(db, merchant.id, first.price + second.price - 1)
            assert not check_submission(a_work_of(db, second, catalogue=CATALOGUE), second).is_valid

            post_entry(
                db,
                merchant.id,
                NewLedgerEntry(key="paid", kind=EntryKind.PAYMENT, amount=1, currency="GBP"),
                now=NOON,
            )

            assert check_submission(a_work_of(db, second, catalogue=CATALOGUE), second).is_valid

    def test_an_order_that_is_submitted_is_paid_for(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = submit(db, merchant)
            set_credit_limit(db, merchant.id, 0)

            assert check_submission(a_work_of(db, order, catalogue=CATALOGUE), order).errors == []
