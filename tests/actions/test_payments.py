"""A payment that comes to nothing costs nothing, and is given back once."""

from typing import Final

import pytest

from printworks.actions.images.images import record_image_status
from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.card_charges import refuse_unpaid
from printworks.actions.payments.payments import prepare_settling, record_refunded, settle
from printworks.actions.submission.submit import submit_order
from printworks.payments.provider import Declined, Outcome, Paid
from printworks.rules.images import ImageStatus
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import PaymentState
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.money.ledger import list_entries, read_books
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders.orders import get_order
from printworks.store.orders.shipments import list_shipments
from tests.actions.test_ledger import CARDS, CATALOGUE, a_draft, cancel, find_faults, pay_by_card
from tests.factories import NOON, a_merchant, a_system_work, a_work

PAID: Final = Paid(provider="bank", reference="1")


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


@pytest.mark.parametrize("has_changed", [False, True])
def test_the_labs_are_chosen_before_a_payment_is_settled_or_again_if_the_order_has_changed(
    database: Database, *, has_changed: bool
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE, cards=CARDS)
        request = submit_order(work, a_draft(db, merchant))
        assert isinstance(request, PaymentRequest)
    with database.reading() as db:
        system = a_system_work(db, now=NOON, catalogue=CATALOGUE)
        ready = prepare_settling(system, request.id, PAID)

    with database.writing() as db:
        if has_changed:
            [image] = list_images(db, request.order_id)
            work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)
            record_image_status(work, image, ImageStatus.OK, width=3000, height=2000)
        order = get_order(db, merchant.id, request.order_id)
        settled = settle(a_system_work(db, now=NOON, catalogue=CATALOGUE), request.id, PAID, ready)
        shipments = list_shipments(db, order.id)

    assert ready is not None
    with database.reading() as db:
        work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)
        assert ready.is_for(work, order) is not has_changed
    assert settled.state is PaymentState.PAID
    assert [one.state for one in shipments] == [LabState.OFFERED]


@pytest.mark.parametrize(
    ("outcome", "is_open"), [(Declined(reason="no funds"), True), (PAID, False)]
)
def test_no_labs_are_chosen_for_an_order_that_is_not_released(
    database: Database, outcome: Outcome, *, is_open: bool
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE, cards=CARDS)
        request = submit_order(work, a_draft(db, merchant))
        assert isinstance(request, PaymentRequest)
        if not is_open:
            cancel_order(work, get_order(db, merchant.id, request.order_id))

        system = a_system_work(db, now=NOON, catalogue=CATALOGUE)
        assert prepare_settling(system, request.id, outcome) is None
