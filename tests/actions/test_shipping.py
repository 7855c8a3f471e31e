"""An order that is on its way to the lab can still be sent elsewhere, for a while."""

from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Connection, select

from printworks.actions.images.images import add_images
from printworks.actions.issues.issues import open_issue, refund_issue
from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.lab_reports import apply_lab_report, report_for_lab
from printworks.actions.production.release import record_sent, stop_labs
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.opening import open_catalogue
from printworks.errors import BadInput, Restricted, WrongState
from printworks.labs.documents import LabReport
from printworks.rules.events import OrderCharged, OrderRefunded
from printworks.rules.issues import IssueAction, IssueKind
from printworks.rules.jobs import JobKind
from printworks.rules.ledger import EntryKind
from printworks.rules.merchants import MerchantState
from printworks.rules.orders import OrderStatus, ShippingMethod
from printworks.rules.payments import Billing, Cards
from printworks.rules.production import LabState
from printworks.store.accounts.lifecycle import set_state
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage
from printworks.store.issues.issues import NewIssue
from printworks.store.money.ledger import NewLedgerEntry, post_entry, read_books, set_credit_limit
from printworks.store.orders.events import list_events
from printworks.store.orders.orders import Order, get_order
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import jobs, shipments
from tests.factories import NOON, a_merchant, a_system_work, a_work, an_order

CATALOGUE: Final = open_catalogue(None)
CARDS: Final = Cards("stripe", timedelta(days=1), timedelta(days=30))
ADDRESS: Final = {"address1": "1 High Street", "town_or_city": "York", "postal_code": "YO1 1AA"}


def a_submitted_order(db: Connection, billing: Billing = Billing.ACCOUNT) -> tuple[Merchant, Order]:
    """Hand in an order of a new merchant."""
    merchant = a_merchant(db, billing=billing)
    return merchant, hand_in(db, merchant)


def hand_in(db: Connection, merchant: Merchant) -> Order:
    """Hand in an order for one print."""
    order = an_order(db, merchant, **ADDRESS)
    new = NewImage(sku="GLOBAL-PHO-4X6-PRO", url="https://shop.example/a.jpg", copies=2)
    add_images(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order, [new])
    order = get_order(db, merchant.id, order.id)
    submitted = submit_order(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order)
    assert isinstance(submitted, Order)
    return submitted


def change(
    db: Connection, merchant: Merchant, order: Order, cards: Cards | None = None, **values: Any
) -> Order:
    """Ask for another address or method."""
    work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE, cards=cards)
    return change_shipping(work, order, values)


def test_another_address_costs_nothing_and_is_offered_anew(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        [before] = list_shipments(db, order.id)

        changed = change(db, merchant, order, address1="2 Low Road")

        assert changed.address1 == "2 Low Road"
        assert changed.price == order.price
        [after] = list_shipments(db, order.id)
        assert after.id != before.id
        assert (after.lab, after.service, after.image_ids) == (
            before.lab,
            before.service,
            before.image_ids,
        )


def test_a_quicker_method_must_fit_the_limit(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        set_credit_limit(db, merchant.id, order.price + 1)

        with pytest.raises(WrongState, match="AccountBalanceInsufficient"):
            change(db, merchant, order, shipping_method=ShippingMethod.EXPRESS)

        set_credit_limit(db, merchant.id, 10_000)
        changed = change(db, merchant, order, shipping_method=ShippingMethod.EXPRESS)
        assert changed.price > order.price


def test_a_suspended_merchant_pays_for_nothing_dearer(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        set_state(db, merchant.id, MerchantState.SUSPENDED, "May is unpaid")
        suspended = get_merchant(db, merchant.id)

        # In a transaction of its own, as every action: what is refused leaves nothing behind.
        with pytest.raises(Restricted, match="May is unpaid"), db.begin_nested():
            change(db, suspended, order, shipping_method=ShippingMethod.OVERNIGHT)

        moved = change(
            db, suspended, get_order(db, merchant.id, order.id), address1="2 High Street"
        )
        assert moved.address1 == "2 High Street"


def test_who_pays_by_card_may_owe_the_difference_of_one_order(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db, Billing.CARD)
        another = hand_in(db, merchant)
        post_entry(
            db,
            merchant.id,
            NewLedgerEntry(
                key="paid",
                kind=EntryKind.PAYMENT,
                amount=order.price + another.price,
                currency="GBP",
            ),
            now=NOON,
        )
        quicker = change(db, merchant, order, CARDS, shipping_method=ShippingMethod.EXPRESS)
        assert read_books(db, merchant.id).balance == quicker.price - order.price

        with (
            pytest.raises(WrongState, match="AccountBalanceInsufficient"),
            db.begin_nested(),
        ):
            change(db, merchant, another, CARDS, shipping_method=ShippingMethod.EXPRESS)
        # Where no cards are charged, everybody pays on account.
        change(db, merchant, another, shipping_method=ShippingMethod.EXPRESS)
        # A slower one gives something back.
        slower = change(db, merchant, quicker, shipping_method=ShippingMethod.STANDARD)
        assert slower.price < quicker.price


def test_what_was_made_good_does_not_travel_otherwise(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        new = NewIssue(kind=IssueKind.LOST_IN_POST, action=IssueAction.REFUND)
        issue = open_issue(a_work(db, merchant, now=NOON), order, new)
        refund_issue(a_system_work(db, now=NOON), issue.id, order.price, comment="Sorry.")

        with pytest.raises(WrongState, match="shipping can no longer be changed"):
            change(db, merchant, order, shipping_method=ShippingMethod.BUDGET)
        assert change(db, merchant, order, address1="2 Low Road").address1 == "2 Low Road"


def test_a_lab_that_knows_the_old_address_is_told(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        [sent] = list_shipments(db, order.id)
        record_sent(a_work(db, merchant, now=NOON), sent)

        change(db, merchant, order, address1="2 Low Road")

        [offered] = list_shipments(db, order.id)
        assert offered.id != sent.id
        assert offered.sent_at is None
        told = db.execute(select(jobs.c.args).where(jobs.c.kind == JobKind.CANCEL_AT_LAB))
        assert told.scalars().all() == [{"shipment": sent.id}]


def test_what_travels_otherwise_is_charged_anew(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)

        changed = change(db, merchant, order, shipping_method=ShippingMethod.OVERNIGHT)

        assert changed.shipping_price > order.shipping_price
        assert changed.price - changed.shipping_price == order.price - order.shipping_price
        money = [
            (type(event), event.amount)
            for event in list_events(db, order.id)
            if isinstance(event, OrderCharged | OrderRefunded)
        ]
        assert money == [
            (OrderCharged, order.price),
            (OrderRefunded, order.price),
            (OrderCharged, changed.price),
        ]


def test_once_a_lab_has_accepted_it_is_too_late(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        [shipment] = list_shipments(db, order.id)
        report = LabReport(job=shipment.id, state=LabState.ACCEPTED)
        apply_lab_report(a_system_work(db, now=NOON, catalogue=CATALOGUE), report)

    with pytest.raises(WrongState, match="no longer be changed"), database.writing() as db:
        change(db, merchant, order, address1="2 Low Road")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://track.example/1", "https://track.example/1"),
        (None, None),
        ("javascript:alert(1)", None),
        ("https://track.example/a b", None),
        ("https://user@track.example/", None),
        ("https://10.0.0.5/", None),
        ("http://169.254.169.254/", None),
    ],
)
def test_a_tracking_address_of_a_lab_is_shown_if_it_could_be_anybodys(
    database: Database, url: str | None, shown: str | None
) -> None:
    with database.writing() as db:
        _, order = a_submitted_order(db)
        [shipment] = list_shipments(db, order.id)
        report = LabReport(job=shipment.id, state=LabState.DISPATCHED, tracking_url=url)
        apply_lab_report(a_system_work(db, now=NOON, catalogue=CATALOGUE), report)

        [dispatched] = list_shipments(db, order.id)

    assert (dispatched.state, dispatched.tracking_url) == (LabState.DISPATCHED, shown)


def test_an_operator_is_told_what_is_wrong_with_a_tracking_address(database: Database) -> None:
    with database.writing() as db:
        _, order = a_submitted_order(db)
        [shipment] = list_shipments(db, order.id)

    report = LabReport(job=shipment.id, state=LabState.DISPATCHED, tracking_url="https://10.0.0.5/")
    with pytest.raises(BadInput, match=r"tracking address.*not public"), database.writing() as db:
        report_for_lab(a_system_work(db, now=NOON, catalogue=CATALOGUE), report)


def test_an_open_order_is_simply_changed(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant)

        changed = change(db, merchant, order, shipping_method=ShippingMethod.EXPRESS)

    assert changed.status is OrderStatus.NOT_YET_SUBMITTED
    assert changed.shipping_method is ShippingMethod.EXPRESS


def test_the_same_address_again_leaves_the_lab_alone(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        before, happened = list_shipments(db, order.id), list_events(db, order.id)

        assert change(db, merchant, order, address1=order.address1) == order

        assert list_shipments(db, order.id) == before
        assert list_events(db, order.id) == happened


def test_what_a_lab_has_dispatched_is_not_cancelled(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        [shipment] = list_shipments(db, order.id)
        report = LabReport(job=shipment.id, state=LabState.DISPATCHED)
        apply_lab_report(a_system_work(db, now=NOON, catalogue=CATALOGUE), report)

        stop_labs(a_work(db, merchant, catalogue=CATALOGUE), order)

        [dispatched] = list_shipments(db, order.id)
        assert dispatched.state is LabState.DISPATCHED


def test_at_a_lab_that_left_the_catalogue_nothing_can_be_changed(database: Database) -> None:
    with database.writing() as db:
        merchant, order = a_submitted_order(db)
        db.execute(shipments.update().values(lab="gone"))

        with pytest.raises(WrongState, match="no longer be changed"):
            change(db, merchant, order, address1="2 Low Road")
        with pytest.raises(WrongState, match="cannot become Cancelled"):
            cancel_order(a_work(db, merchant, catalogue=CATALOGUE), order)
