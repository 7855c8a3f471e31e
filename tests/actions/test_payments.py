"""A payment that comes to nothing costs nothing, and is given back once."""

from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.card_charges import refuse_unpaid
from printworks.actions.payments.payments import record_refunded
from printworks.actions.submission.submit import submit_order
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import PaymentState
from printworks.store.engine.database import Database
from printworks.store.money.ledger import list_entries, read_books
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders.orders import get_order
from tests.actions.test_ledger import CARDS, CATALOGUE, a_draft, cancel, find_faults, pay_by_card
from tests.factories import NOON, a_merchant, a_system_work, a_work


def test_who_cancels_while_paying_is_told_that_nothing_is_charged(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        work = a_work(db, merchant, catalogue=CATALOGUE, cards=CARDS)
        request = submit_order(work, a_draft(db, merchant))
        assert isinstance(request, PaymentRequest)
        cancel_order(work, get_order(db, merchant.id, request.order_id))

        cancelled = get_request(db, request.id)

        assert cancelled.state is PaymentState.CANCELLED
        refusal = refuse_unpaid(cancelled)
        assert refusal is not None
        assert "nothing is charged" in refusal.message


def test_a_refund_that_is_reported_twice_is_booked_once(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        cancel(db, merchant, pay_by_card(db, merchant))
        for _ in range(2):
            record_refunded(a_system_work(db, now=NOON), 1)

        kinds = [booked.entry.kind for booked in list_entries(db, merchant.id)]
        assert kinds.count(EntryKind.REPAYMENT) == 1
        assert read_books(db, merchant.id).balance == 0
        assert find_faults(db, merchant) == []


def test_what_nobody_gives_back_is_not_booked_as_given_back(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        pay_by_card(db, merchant)

        record_refunded(a_system_work(db, now=NOON), 1)

        assert get_request(db, 1).state is PaymentState.PAID
        kinds = [booked.entry.kind for booked in list_entries(db, merchant.id)]
        assert EntryKind.REPAYMENT not in kinds
        assert find_faults(db, merchant) == []
