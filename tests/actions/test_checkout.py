"""A recipient pays while the order waits for it, and only where recipients can pay."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from printworks.actions.accounts.lifecycle import suspend_merchant
from printworks.actions.images.images import record_image_status
from printworks.actions.payments.checkout import (
    Checkout,
    complete_recipient,
    end_checkout,
    find_checkout,
    pay_as_recipient,
)
from printworks.actions.payments.payments import describe_charge
from printworks.actions.submission.submit import await_payment
from printworks.errors import WrongState
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus, Payment
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.money.payments import find_last_request
from printworks.store.orders.orders import Order, get_order, update_order
from tests.actions.complaints import a_draft, cancel
from tests.actions.test_ledger import CARDS, CATALOGUE
from tests.factories import NOON, a_merchant, a_system_work, a_work, a_work_of

FOR_RECIPIENT: dict[str, Any] = {
    "payment": Payment.INVOICE_RECIPIENT,
    "email": "mary@example.com",
}


def wait_for_recipient(db: Connection, merchant: Merchant) -> Checkout:
    """Let the recipient of a new order pay."""
    draft = a_draft(db, merchant, **FOR_RECIPIENT)
    order = await_payment(a_work(db, merchant, catalogue=CATALOGUE, cards=CARDS), draft)
    checkout = find_checkout(a_system_work(db, catalogue=CATALOGUE), order.payment_token or "")
    assert checkout is not None
    return checkout


def read(db: Connection, checkout: Checkout) -> Order:
    """Return the order of a checkout as it is by now."""
    return get_order(db, checkout.merchant.id, checkout.order.id)


def test_a_recipient_who_adds_nothing_changes_nothing(database: Database) -> None:
    with database.writing() as db:
        checkout = wait_for_recipient(db, a_merchant(db))

        given = {"address1": "2 Low Road", "email": "tom@example.com"}
        completed = complete_recipient(a_work_of(db, checkout), checkout, given)

        assert completed == checkout.order == read(db, checkout)


@pytest.mark.parametrize(
    ("email", "sent"), [("nobody", ""), (" Mary@Example.com ", "mary@example.com")]
)
def test_a_provider_is_told_an_email_only_if_it_is_one(
    database: Database, email: str, sent: str
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        checkout = wait_for_recipient(db, merchant)
        order = update_order(db, checkout.order, {"email": email})
        work = a_work_of(db, checkout, catalogue=CATALOGUE, cards=CARDS)

        payment = pay_as_recipient(work, checkout)

        assert payment is not None
        assert describe_charge(merchant, order, payment).payer_email == sent


def test_nobody_pays_where_cards_are_no_longer_charged(database: Database) -> None:
    with database.writing() as db:
        checkout = wait_for_recipient(db, a_merchant(db))

        with pytest.raises(WrongState, match="cannot pay here"):
            pay_as_recipient(a_work_of(db, checkout, catalogue=CATALOGUE), checkout)

        assert find_last_request(db, checkout.order.id) is None


def test_nobody_pays_a_shop_that_is_suspended(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        checkout = wait_for_recipient(db, merchant)
        suspend_merchant(a_work(db, merchant), "May is unpaid")

        work = a_work(db, get_merchant(db, merchant.id), catalogue=CATALOGUE, cards=CARDS)
        with pytest.raises(WrongState, match="The shop cannot take orders at the moment") as told:
            pay_as_recipient(work, checkout)

        assert "unpaid" not in str(told.value)
        assert find_last_request(db, checkout.order.id) is None


def test_nobody_pays_another_amount_than_was_shown(database: Database) -> None:
    with database.writing() as db:
        checkout = wait_for_recipient(db, a_merchant(db))
        dearer = {"shipping_price": checkout.order.shipping_price + 1}
        update_order(db, checkout.order, dearer)

        with pytest.raises(WrongState, match="The amount has changed"):
            pay_as_recipient(a_work_of(db, checkout, catalogue=CATALOGUE, cards=CARDS), checkout)

        assert find_last_request(db, checkout.order.id) is None


def test_nobody_pays_for_an_order_that_was_cancelled_meanwhile(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        checkout = wait_for_recipient(db, merchant)
        cancel(db, merchant, checkout.order)

        with pytest.raises(WrongState, match="does not wait for a payment"):
            pay_as_recipient(a_work_of(db, checkout, catalogue=CATALOGUE, cards=CARDS), checkout)

        assert find_last_request(db, checkout.order.id) is None


def test_nobody_pays_when_the_time_is_over(database: Database) -> None:
    with database.writing() as db:
        checkout = wait_for_recipient(db, a_merchant(db))
        work = a_work_of(
            db, checkout, now=NOON + CARDS.checkout_within, catalogue=CATALOGUE, cards=CARDS
        )

        with pytest.raises(WrongState, match="time for the payment is over"):
            pay_as_recipient(work, checkout)

        assert find_last_request(db, checkout.order.id) is None


def test_a_checkout_does_not_end_before_its_time(database: Database) -> None:
    with database.writing() as db:
        checkout = wait_for_recipient(db, a_merchant(db))
        early = NOON + CARDS.checkout_within - timedelta(seconds=1)

        assert end_checkout(a_system_work(db, now=early), checkout.order.id) is None

        assert read(db, checkout) == checkout.order


def test_the_end_of_a_checkout_leaves_a_cancelled_order_alone(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        checkout = wait_for_recipient(db, merchant)
        cancelled = cancel(db, merchant, checkout.order)
        late = NOON + CARDS.checkout_within

        assert end_checkout(a_system_work(db, now=late), checkout.order.id) is None

        assert read(db, checkout) == cancelled


def test_no_recipient_is_asked_to_pay_for_what_cannot_be_printed(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        draft = a_draft(db, merchant, images=1, **FOR_RECIPIENT)
        [image] = list_images(db, draft.id)
        work = a_work(db, merchant, catalogue=CATALOGUE, cards=CARDS)
        record_image_status(work, image, ImageStatus.INVALID, error_message="It is damaged.")

        with pytest.raises(WrongState, match="ItemsContainingErrors"):
            await_payment(work, get_order(db, merchant.id, draft.id))

        assert get_order(db, merchant.id, draft.id).status is OrderStatus.NOT_YET_SUBMITTED
