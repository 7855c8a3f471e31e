"""Accounts are suspended, closed, reopened, renamed and charged in another currency."""

from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Connection

from printworks.actions.accounts.lifecycle import (
    change_currency,
    close_merchant,
    rename_merchant,
    reopen_merchant,
    suspend_merchant,
)
from printworks.actions.accounts.merchants import add_key, add_merchant
from printworks.actions.images.images import add_images
from printworks.actions.images.uploads import begin_upload
from printworks.actions.orders.orders import cancel_order, create_order, open_order
from printworks.actions.submission.check import check_submission
from printworks.actions.submission.submit import await_payment, submit_order
from printworks.actions.work import Actor, Work
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, Restricted, WrongState
from printworks.rules.ledger import EntryKind
from printworks.rules.merchants import MerchantState
from printworks.rules.people import Realm
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import Merchant, find_key, get_merchant, hash_key
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.orders.orders import get_order
from tests.actions.complaints import a_draft
from tests.actions.test_ledger import CATALOGUE
from tests.catalogue.folders import a_whole_folder
from tests.factories import (
    NOON,
    a_merchant,
    a_new_order,
    a_system_work,
    a_work,
    an_order,
    plan_shipments,
)

OPERATOR = Actor(Realm.OPERATOR, "admin@works.example")


def operate(db: Connection, merchant: Merchant) -> Work:
    """Act as an operator for a merchant, as it is by now."""
    return a_work(db, get_merchant(db, merchant.id), actor=OPERATOR)


def test_an_order_of_a_suspended_merchant_is_not_valid(database: Database) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        draft = a_draft(db, alice)
        before = check_submission(a_work(db, alice, catalogue=CATALOGUE), draft)
        suspend_merchant(operate(db, alice), "May is unpaid")
        suspended = a_work(db, get_merchant(db, alice.id), catalogue=CATALOGUE)

        status = check_submission(suspended, draft)

    assert before.is_valid
    assert (status.is_valid, status.errors) == (False, [])
    assert "This account is suspended (May is unpaid)" in (status.refusal or "")


def test_a_suspended_merchant_orders_nothing_and_can_cancel(database: Database) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        order = an_order(db, alice)
        suspend_merchant(operate(db, alice), "May is unpaid")
        work = operate(db, alice)
        image = NewImage(sku="PHOTO-4X6", url="https://shop.example/a.jpg", copies=1)
        for refused in (
            lambda: create_order(work, a_new_order()),
            lambda: add_images(work, order, [image]),
            lambda: begin_upload(work, order, image),
            lambda: submit_order(work, order),
            lambda: await_payment(work, order),
        ):
            with pytest.raises(Restricted, match=r"suspended \(May is unpaid\)"):
                refused()

        cancel_order(work, order)
        # A reprint makes good for something that was ordered before.
        open_order(work, a_new_order())
        reopen_merchant(work)
        create_order(operate(db, alice), a_new_order())

        assert get_merchant(db, alice.id).state_reason == ""
        done = [entry.action for entry in list_audit(db, merchant_id=alice.id, limit=10)]
    assert {"suspend-merchant", "reopen-merchant"} <= {*done}


def test_no_key_of_a_closed_merchant_is_valid_until_it_is_reopened(database: Database) -> None:
    with database.writing() as db:
        new = add_merchant(a_system_work(db), "Alice")
        key = hash_key(add_key(a_work(db, new.merchant)))
        close_merchant(operate(db, new.merchant), "It moved")

        assert get_merchant(db, new.merchant.id).state is MerchantState.CLOSED
        assert find_key(db, new.merchant.code, key, now=NOON) is None
        reopen_merchant(operate(db, new.merchant))
        assert find_key(db, new.merchant.code, key, now=NOON) is not None


def test_an_account_with_something_open_is_neither_closed_nor_charged_differently(
    database: Database,
) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        order = an_order(db, alice)
        neither = "while the merchant has an order that is neither"
        with pytest.raises(WrongState, match=neither):
            close_merchant(operate(db, alice), "It moved")
        with pytest.raises(WrongState, match=neither):
            change_currency(operate(db, alice), Currency.EUR)
        cancel_order(a_work(db, alice), order)
        owed = NewLedgerEntry(key="x", kind=EntryKind.PAYMENT, amount=100, currency="GBP")
        post_entry(db, alice.id, owed, now=NOON)
        with pytest.raises(WrongState, match="a balance that is not settled"):
            close_merchant(operate(db, alice), "It moved")

        assert get_merchant(db, alice.id).state is MerchantState.ACTIVE
        assert get_merchant(db, alice.id).currency is Currency.GBP


def test_a_currency_is_changed_to_one_of_the_catalogue(database: Database) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        change_currency(operate(db, alice), Currency.EUR)
        change_currency(operate(db, alice), Currency.EUR)

        assert get_merchant(db, alice.id).currency is Currency.EUR
        done = [entry.action for entry in list_audit(db, merchant_id=alice.id, limit=10)]
    assert done.count("change-currency") == 1


def test_a_state_that_it_has_already_is_refused(database: Database) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        with pytest.raises(WrongState, match="active already"):
            reopen_merchant(operate(db, alice))
        close_merchant(operate(db, alice), "It moved")
        with pytest.raises(WrongState, match="Reopen it first"):
            suspend_merchant(operate(db, alice), "Again")


def test_a_merchant_gets_another_name(database: Database) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        rename_merchant(operate(db, alice), " Alice and sons ")
        rename_merchant(operate(db, alice), "Alice and sons")
        with pytest.raises(BadInput, match="`name`"):
            rename_merchant(operate(db, alice), "")

        assert get_merchant(db, alice.id).name == "Alice and sons"
        done = [entry.action for entry in list_audit(db, merchant_id=alice.id, limit=10)]
    assert done.count("rename-merchant") == 1


def test_in_a_currency_that_is_no_longer_sold_nothing_is_added_planned_or_submitted(
    database: Database, tmp_path: Path
) -> None:
    folder = a_whole_folder(tmp_path)
    both = Catalogue.load(folder)
    without_pounds = msgspec.structs.replace(both, currencies=(Currency.EUR,))
    with database.writing() as db:
        alice = a_merchant(db)
        image = NewImage(sku="PHOTO-4X6", url="https://shop.example/a.jpg", copies=1)
        order = an_order(db, alice)
        add_images(a_work(db, alice, catalogue=both), order, [image])
        order = get_order(db, alice.id, order.id)
        work = a_work(db, alice, catalogue=without_pounds)

        with pytest.raises(BadInput, match="Nothing is sold any more in GBP"):
            add_images(work, order, [image])
        assert plan_shipments(work, order.id) == []
        status = check_submission(work, order)

    assert not status.is_valid
    assert "Nothing is sold any more in GBP" in (status.refusal or "")
