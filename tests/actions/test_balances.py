"""What a merchant has in its favour pays for its next order, once."""

import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace
from sqlalchemy import Connection, select

from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.balances import read_share_of_balance
from printworks.actions.payments.by_hand import PostingByHand, approve, post_money, reject
from printworks.actions.payments.ledger import verify_ledgers
from printworks.actions.payments.payments import record_refunded, settle
from printworks.actions.submission.submit import submit_order
from printworks.actions.work import Actor
from printworks.errors import BadInput
from printworks.payments.provider import Declined, NeedsAuthorisation, Paid
from printworks.rules.approvals import MoneyTerms
from printworks.rules.ledger import Account, EntryKind
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import LEAST_CHARGE, OPEN_PAYMENTS, PaymentState
from printworks.rules.people import Realm
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.ledger import (
    list_entries,
    read_books,
)
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders.orders import Order, get_order
from printworks.store.tables import payment_requests
from tests.actions.test_ledger import CARDS, CATALOGUE, a_draft, find_faults
from tests.factories import NOON, a_merchant, a_system_work, a_work
from tests.scale import scaled

pytestmark = pytest.mark.slow

PAID = Paid(provider="bank", reference="1")
REFUSED = Declined(reason="no funds")
AUTHORISE = NeedsAuthorisation(url="https://bank.example", reference="1")
BEN = Actor(Realm.OPERATOR, "ben@example.com")


def with_credit(db: Connection, amount: int) -> Merchant:
    """Have a merchant that pays by card and has something in its favour."""
    merchant = a_merchant(db)
    give(db, merchant, amount)
    return merchant


def give(db: Connection, merchant: Merchant, amount: int) -> None:
    """Credit something to a merchant."""
    posting = PostingByHand(kind=EntryKind.CREDIT, amount=amount, memo="sorry")
    post_money(a_work(db, merchant, now=NOON), posting)


def submit(db: Connection, merchant: Merchant, **cards: Any) -> Order | PaymentRequest:
    """Submit an order."""
    work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE, cards=replace(CARDS, **cards))
    return submit_order(work, a_draft(db, merchant))


def ask(db: Connection, merchant: Merchant) -> PaymentRequest:
    """Submit an order of which the card pays a part."""
    request = submit(db, merchant)
    assert isinstance(request, PaymentRequest)
    return request


def answer(db: Connection, request: PaymentRequest, outcome: Any) -> PaymentRequest:
    """Let the bank answer."""
    return settle(a_system_work(db, now=NOON, catalogue=CATALOGUE), request.id, outcome)


def cancel(db: Connection, merchant: Merchant, order_id: int) -> None:
    work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)
    cancel_order(work, get_order(db, merchant.id, order_id))


def price(db: Connection) -> int:
    """Return what each of these orders costs."""
    return a_draft(db, a_merchant(db)).total


def test_the_card_pays_the_rest(database: Database) -> None:
    with database.writing() as db:
        total, merchant = price(db), with_credit(db, 150)
        request = ask(db, merchant)
        share = read_share_of_balance(db, merchant.id, total)
        settled = answer(db, request, PAID)

        assert (request.amount, request.from_balance) == (total - 150, 150)
        # It is reserved.
        assert share == 0
        assert settled.state is PaymentState.PAID
        assert get_order(db, merchant.id, request.order_id).status is OrderStatus.SUBMITTED
        assert read_books(db, merchant.id).balance == 0
        assert find_faults(db, merchant) == []
    with database.reading() as db:
        assert verify_ledgers(db).faults == []


def test_an_order_that_the_balance_pays_goes_to_production_at_once(database: Database) -> None:
    with database.writing() as db:
        total = price(db)
        merchant = with_credit(db, total + 7)
        order = submit(db, merchant)

        assert isinstance(order, Order)
        assert order.status is OrderStatus.SUBMITTED
        assert db.execute(select(payment_requests)).all() == []
        assert read_books(db, merchant.id).balance == -7
        last = [booked.entry for booked in list_entries(db, merchant.id)][-1]
        assert (last.kind, last.memo) == (EntryKind.CHARGE, "from the balance")
        cancel(db, merchant, order.id)
        assert read_books(db, merchant.id).balance == -total - 7
        assert find_faults(db, merchant) == []


def test_a_card_is_not_charged_less_than_banks_accept(database: Database) -> None:
    with database.writing() as db:
        total = price(db)
        merchant = with_credit(db, total - 1)
        request = ask(db, merchant)

        assert (request.amount, request.from_balance) == (LEAST_CHARGE, total - LEAST_CHARGE)


def test_the_card_pays_all_where_balances_are_not_used(database: Database) -> None:
    with database.writing() as db:
        merchant = with_credit(db, 10_000)
        request = submit(db, merchant, uses_balance=False)

        assert isinstance(request, PaymentRequest)
        assert request.from_balance == 0


@pytest.mark.parametrize("end", ["refused", "cancelled"])
def test_a_payment_that_comes_to_nothing_gives_back_what_was_reserved(
    database: Database, end: str
) -> None:
    with database.writing() as db:
        merchant = with_credit(db, 150)
        first = ask(db, merchant)
        second = ask(db, merchant)
        if end == "refused":
            answer(db, first, REFUSED)
        else:
            cancel(db, merchant, first.order_id)
        third = ask(db, merchant)

        parts = [one.from_balance for one in (first, second, third)]
        assert parts == [150, 0, 150]
        # It was paid after all: that goes back to the card.
        late = answer(db, first, PAID)
        assert late.state is PaymentState.REFUNDING
        assert ask(db, merchant).from_balance == 0
        assert find_faults(db, merchant) == []


def test_what_goes_back_to_a_card_pays_for_nothing_else(database: Database) -> None:
    with database.writing() as db:
        merchant = with_credit(db, 150)
        request = ask(db, merchant)
        answer(db, request, PAID)
        cancel(db, merchant, request.order_id)
        meanwhile = ask(db, merchant)
        answer(db, meanwhile, REFUSED)
        record_refunded(a_system_work(db, now=NOON), request.id)
        afterwards = ask(db, merchant)

        # What the balance had paid is free again, what the card had paid is not.
        assert meanwhile.from_balance == 150
        assert afterwards.from_balance == 150
        assert read_books(db, merchant.id).balance == -150
        assert find_faults(db, merchant) == []


def test_what_waits_to_be_paid_out_pays_for_nothing_and_the_other_way_round(
    database: Database,
) -> None:
    def post_payout(db: Connection, amount: int, *, above: int | None = None) -> Any:
        work = a_work(db, merchant, now=NOON, money_terms=MoneyTerms(approve_above=above))
        return post_money(
            work, PostingByHand(kind=EntryKind.PAYOUT, amount=amount, memo="their wish")
        )

    with database.writing() as db:
        merchant = with_credit(db, 150)
        waits = post_payout(db, 100, above=0)
        request = ask(db, merchant)
        with pytest.raises(BadInput, match=r"At most 1\.00 GBP can be paid out"):
            post_payout(db, 101)
        reject(a_system_work(db, now=NOON), waits.approval)

        assert request.from_balance == 50
        assert ask(db, merchant).from_balance == 100


def test_an_order_whose_parts_do_not_add_up_is_found(database: Database) -> None:
    with database.writing() as db:
        merchant = with_credit(db, 150)
        answer(db, ask(db, merchant), PAID)
        db.execute(payment_requests.update().values(from_balance=140))

        assert find_faults(db, merchant) == ["parts"]


def test_eight_at_once_do_not_use_the_same_balance_twice(database: Database) -> None:
    with database.writing() as db:
        total = price(db)
        merchant = with_credit(db, 2 * total + 150)
        drafts = [a_draft(db, merchant) for _ in range(8)]
    start, found = threading.Barrier(8), list[Order | PaymentRequest]()

    def work(draft: Order) -> None:
        start.wait()
        with database.writing() as db:
            mine = a_work(db, merchant, now=NOON, catalogue=CATALOGUE, cards=CARDS)
            found.append(submit_order(mine, draft))

    threads = [threading.Thread(target=work, args=[draft]) for draft in drafts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    requests = [one for one in found if isinstance(one, PaymentRequest)]
    assert len(requests) == 6
    assert sorted(one.from_balance for one in requests) == [0, 0, 0, 0, 0, 150]
    with database.reading() as db:
        assert verify_ledgers(db).faults == []


class Till(RuleBasedStateMachine):
    """A merchant, its bank and an operator, who do what they like in any order."""

    database: Database

    @initialize()
    def begin(self) -> None:
        with self.database.writing() as db:
            self.merchant = a_merchant(db)
        self.requests: list[PaymentRequest] = []
        self.orders: list[int] = []
        self.approvals: list[int] = []
        # What the bank has taken and not given back, by payment; and what was paid out.
        self.taken: dict[int, int] = {}
        self.paid_out = 0

    @rule(amount=st.integers(1, 1500))
    def give_credit(self, amount: int) -> None:
        with self.database.writing() as db:
            give(db, self.merchant, amount)

    @rule()
    def submit(self) -> None:
        with self.database.writing() as db:
            found = submit(db, self.merchant)
        if isinstance(found, PaymentRequest):
            self.requests.append(found)
            self.orders.append(found.order_id)
        else:
            self.orders.append(found.id)

    @precondition(lambda self: self.orders)
    @rule(data=st.data())
    def submit_again(self, data: Any) -> None:
        """Submit an order whose payment has come to nothing, or is under way."""
        order_id = data.draw(st.sampled_from(self.orders))
        with self.database.writing() as db:
            order = get_order(db, self.merchant.id, order_id)
            if order.status is OrderStatus.NOT_YET_SUBMITTED:
                work = a_work(db, self.merchant, now=NOON, catalogue=CATALOGUE, cards=CARDS)
                found = submit_order(work, order)
                if isinstance(found, PaymentRequest) and found not in self.requests:
                    self.requests.append(found)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def pay(self, data: Any) -> None:
        """Let the bank take the money, even of a payment that has ended here."""
        request = data.draw(st.sampled_from(self.requests))
        with self.database.writing() as db:
            before = get_request(db, request.id)
            answer(db, request, PAID)
        if before.state not in {PaymentState.REFUNDING, PaymentState.REFUNDED}:
            self.taken[request.id] = request.amount

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), outcome=st.sampled_from([REFUSED, AUTHORISE]))
    def do_not_pay(self, data: Any, outcome: Any) -> None:
        request = data.draw(st.sampled_from(self.requests))
        if request.id not in self.taken:
            with self.database.writing() as db:
                answer(db, request, outcome)

    @precondition(lambda self: self.orders)
    @rule(data=st.data())
    def cancel(self, data: Any) -> None:
        order_id = data.draw(st.sampled_from(self.orders))
        self.orders.remove(order_id)
        with self.database.writing() as db:
            cancel(db, self.merchant, order_id)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def give_back(self, data: Any) -> None:
        """Let a refund arrive."""
        request = data.draw(st.sampled_from(self.requests))
        with self.database.writing() as db:
            if get_request(db, request.id).state is PaymentState.REFUNDING:
                record_refunded(a_system_work(db, now=NOON), request.id)
                del self.taken[request.id]

    @rule(amount=st.integers(1, 1500), above=st.sampled_from([None, 0]))
    def pay_out(self, amount: int, above: int | None) -> None:
        posting = PostingByHand(kind=EntryKind.PAYOUT, amount=amount, memo="their wish")
        try:
            with self.database.writing() as db:
                terms = MoneyTerms(approve_above=above)
                posted = post_money(a_work(db, self.merchant, now=NOON, money_terms=terms), posting)
        except BadInput:
            return
        if posted.approval is None:
            self.paid_out += amount
        else:
            self.approvals.append(posted.approval)

    @precondition(lambda self: self.approvals)
    @rule(is_right=st.booleans())
    def decide(self, *, is_right: bool) -> None:
        number = self.approvals[-1]
        try:
            with self.database.writing() as db:
                second = a_system_work(db, now=NOON, actor=BEN)
                if is_right:
                    entry = approve(second, number)
                    self.paid_out += entry.amount
                else:
                    reject(second, number)
        except BadInput:
            return
        self.approvals.pop()

    @invariant()
    def everything_adds_up(self) -> None:
        with self.database.reading() as db:
            assert find_faults(db, self.merchant) == []
            balance = read_books(db, self.merchant.id).balance
            payments = [get_request(db, request.id) for request in self.requests]
            booked = [one.entry for one in list_entries(db, self.merchant.id)]
        # What goes back to cards, and what orders have reserved, is there: nothing is used twice.
        refunds = [one.amount for one in payments if one.state is PaymentState.REFUNDING]
        reserved = [one.from_balance for one in payments if one.state in OPEN_PAYMENTS]
        assert -balance >= sum(refunds) + sum(reserved)
        lines = [line for entry in booked for line in entry.lines if line.account is Account.BANK]
        at_bank = sum(self.taken.values()) - self.paid_out
        assert sum(line.amount for line in lines) == at_bank


def test_whatever_happens_no_balance_is_used_twice(database: Database) -> None:
    run_state_machine_as_test(
        type("TillOnThisDatabase", (Till,), {"database": database}),
        settings=settings(
            max_examples=scaled(200, part=16),
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    with database.reading() as db:
        assert verify_ledgers(db).faults == []
