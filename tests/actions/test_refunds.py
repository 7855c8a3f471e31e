"""Refunds that a bank rejected: booked once, claimed until somebody has dealt with them."""

from collections.abc import Callable
from typing import Final

import pytest
from sqlalchemy import Connection, delete

from printworks.actions.payments.payments import record_refunded
from printworks.actions.payments.refunds import note_repaid, record_rejected, refund_again
from printworks.actions.work import Actor
from printworks.errors import BadInput, NotFound, WrongState
from printworks.payments.provider import RefundRejected
from printworks.rules.jobs import JobKind
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import PaymentState
from printworks.rules.people import Realm
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.ledger import list_entries, read_books
from printworks.store.money.payments import PaymentRequest, get_request, sum_claimed
from printworks.store.tables import ledger_entries
from printworks.store.views.console.jobs import JobFilter, list_jobs
from tests.actions.test_ledger import cancel, find_faults, pay_by_card
from tests.factories import NOON, a_merchant, a_system_work

ANN: Final = Actor(Realm.OPERATOR, "ann@works.example")
REJECTED: Final = RefundRejected(reason="The card has expired or was cancelled.")


def a_refunding_payment(db: Connection, merchant: Merchant) -> PaymentRequest:
    """Let an order be paid for and cancelled."""
    cancel(db, merchant, pay_by_card(db, merchant))
    return get_request(db, 1)


def a_rejected_payment(db: Connection, merchant: Merchant) -> PaymentRequest:
    """Let an order be paid for, cancelled and refunded, and the bank reject that."""
    a_refunding_payment(db, merchant)
    record_refunded(a_system_work(db), 1)
    record_rejected(a_system_work(db), get_request(db, 1), REJECTED)
    return get_request(db, 1)


def kinds(db: Connection, merchant: Merchant) -> list[EntryKind]:
    """Return what was repaid, or was not."""
    kinds = [booked.entry.kind for booked in list_entries(db, merchant.id)]
    return [kind for kind in kinds if "repayment" in kind]


class TestRejected:
    def test_a_repayment_is_reversed_and_claimed_in_one_step(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)

            payment = a_rejected_payment(db, merchant)

            assert payment.state is PaymentState.REFUND_REJECTED
            assert (payment.reason, payment.rejected_refunds) == (REJECTED.reason, 1)
            # It is in the balance, and nothing may be paid with it.
            assert read_books(db, merchant.id).balance == -payment.amount
            assert sum_claimed(db, merchant.id) == payment.amount
            assert find_faults(db, merchant) == []

    def test_what_is_said_twice_counts_once(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            a_refunding_payment(db, merchant)
            record_refunded(a_system_work(db), 1)
            refunded = get_request(db, 1)

            for _ in range(2):
                record_rejected(a_system_work(db), refunded, REJECTED)

            assert kinds(db, merchant) == [EntryKind.REPAYMENT, EntryKind.REPAYMENT_REVERSAL]
            assert get_request(db, 1).rejected_refunds == 1

    def test_what_is_said_of_the_first_refund_does_not_count_for_the_second(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            a_refunding_payment(db, merchant)
            record_refunded(a_system_work(db), 1)
            first = get_request(db, 1)
            record_rejected(a_system_work(db), first, REJECTED)
            refund_again(a_system_work(db), 1)
            # The first job, once more.
            record_refunded(a_system_work(db), 1)
            assert get_request(db, 1).state is PaymentState.REFUNDING
            record_refunded(a_system_work(db), 1, rejected=1)

            record_rejected(a_system_work(db), first, REJECTED)

            assert get_request(db, 1).state is PaymentState.REFUNDED
            assert kinds(db, merchant)[-1] is EntryKind.REPAYMENT
            assert find_faults(db, merchant) == []

    def test_a_payment_that_was_not_refunded_stays_as_it_is(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            pay_by_card(db, merchant)

            record_rejected(a_system_work(db), get_request(db, 1), REJECTED)

            assert get_request(db, 1).state is PaymentState.PAID
            assert kinds(db, merchant) == []
            assert find_faults(db, merchant) == []


class TestDealingWithIt:
    def test_a_refund_is_sent_again_by_another_job(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            payment = a_rejected_payment(db, merchant)

            refund_again(a_system_work(db, actor=ANN), 1)

            sent = get_request(db, 1)
            assert (sent.state, sent.reason) == (PaymentState.REFUNDING, None)
            assert len(list_jobs(db, JobFilter(kind=JobKind.REFUND_PAYMENT), limit=5)) == 2
            assert sum_claimed(db, merchant.id) == payment.amount
            assert [entry.action for entry in list_audit(db, limit=1)] == ["refund-again"]
            assert find_faults(db, merchant) == []

    def test_what_was_paid_in_another_way_is_booked_with_its_reason(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            a_rejected_payment(db, merchant)

            note_repaid(a_system_work(db, actor=ANN), 1, " bank transfer of 3 May ")

            assert get_request(db, 1).state is PaymentState.REPAID
            *_, last = list_entries(db, merchant.id)
            assert (last.entry.kind, last.entry.memo) == (
                EntryKind.REPAYMENT,
                "bank transfer of 3 May",
            )
            assert read_books(db, merchant.id).balance == sum_claimed(db, merchant.id) == 0
            assert [entry.action for entry in list_audit(db, limit=1)] == ["note-repaid"]
            assert find_faults(db, merchant) == []

    def test_how_it_was_paid_is_said(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            a_rejected_payment(db, merchant)

            with pytest.raises(BadInput, match="in a few words"):
                note_repaid(a_system_work(db), 1, "  ")

            assert get_request(db, 1).state is PaymentState.REFUND_REJECTED

    @pytest.mark.parametrize(
        "act", [refund_again, lambda system, payment: note_repaid(system, payment, "cash")]
    )
    def test_it_is_dealt_with_once(self, database: Database, act: Callable[..., None]) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            a_rejected_payment(db, merchant)
            act(a_system_work(db), 1)

            for again in (refund_again, lambda system, one: note_repaid(system, one, "cash")):
                with pytest.raises(WrongState, match="No rejected refund"):
                    again(a_system_work(db), 1)

            with pytest.raises(NotFound):
                act(a_system_work(db), 10**20)


@pytest.mark.parametrize("lost", [EntryKind.REPAYMENT, EntryKind.REPAYMENT_REVERSAL])
def test_half_of_a_rejected_refund_is_a_fault(database: Database, lost: EntryKind) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        a_rejected_payment(db, merchant)

        db.execute(delete(ledger_entries).where(ledger_entries.c.kind == lost))

        assert "rejected-refund" in find_faults(db, merchant)


def test_a_repayment_that_nobody_reversed_is_a_fault(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        a_rejected_payment(db, merchant)
        note_repaid(a_system_work(db, now=NOON), 1, "cash")

        db.execute(
            delete(ledger_entries).where(ledger_entries.c.kind == EntryKind.REPAYMENT_REVERSAL)
        )

        assert "rejected-refund" in find_faults(db, merchant)
