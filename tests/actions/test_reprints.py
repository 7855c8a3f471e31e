"""What went wrong is printed again, as another order that costs nothing."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import func, select

from printworks.actions.images.uploads import REMOVED_AFTER
from printworks.actions.issues.issues import reprint_issue
from printworks.actions.issues.reprints import copy_proofs, plan_reprint
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.products import Currency
from printworks.errors import ServiceUnavailable, WrongState
from printworks.files.folder import FolderFiles
from printworks.labs.documents import LabReport
from printworks.rules.events import OrderCompensated, OrderReprints
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.rules.production import LabState
from printworks.store.accounts.lifecycle import set_currency
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.privacy.erasers import erase_proofs
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.images.pictures import NewPicture, cancel_removal, proof_keys, store_picture
from printworks.store.issues.issues import get_any_issue
from printworks.store.issues.reprints import use_pictures
from printworks.store.money.lab_costs import list_debts
from printworks.store.money.ledger import read_books, set_credit_limit
from printworks.store.orders.events import list_events
from printworks.store.orders.orders import Order, get_order
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import images as images_table
from printworks.store.tables import orders as orders_table
from printworks.store.views.console.jobs import get_job
from tests.actions.complaints import (
    a_draft,
    cancel,
    commentary,
    complain,
    refund,
    reprint,
    submitted,
)
from tests.actions.test_ledger import CATALOGUE, find_faults
from tests.factories import NOON, a_merchant, a_system_work, a_work


def test_a_reprint_is_the_same_order_for_nothing(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant, merchant_order_id="A-7", callback_format="2.3")
        owed = read_books(db, merchant.id).balance
        issue = complain(db, merchant, order)

        settled = reprint(db, issue)

        again = get_order(db, merchant.id, settled.reprint_order_id or 0)
        assert again.status is OrderStatus.SUBMITTED
        assert (again.price, again.shipping_price) == (0, 0)
        assert (again.recipient_name, again.merchant_order_id) == ("Mary Fox", "A-7")
        assert (again.address1, again.postal_code) == ("1 High Street", "YO1 1AA")
        words = select(orders_table.c.callback_format).where(orders_table.c.id == again.id)
        assert db.execute(words).scalar_one() == "2.3"
        assert read_books(db, merchant.id).balance == owed
        assert find_faults(db, merchant) == []


def test_its_images_are_received_already(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)

        settled = reprint(db, complain(db, merchant, order))

        old = list_images(db, order.id)
        new = list_images(db, settled.reprint_order_id or 0)
        assert [one.picture_id for one in new] == [one.picture_id for one in old]
        assert all(one.status is ImageStatus.OK for one in new)
        assert [one.price for one in new] == [one.price for one in old]
        assert not {one.id for one in new} & {one.id for one in old}


def test_only_what_is_affected_is_printed_again(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant, images=3)
        affected = [list_images(db, order.id)[1].id]

        settled = reprint(db, complain(db, merchant, order, image_ids=affected))

        again = get_order(db, merchant.id, settled.reprint_order_id or 0)
        assert again.image_count == len(list_images(db, again.id)) == 1


def test_a_reprint_keeps_the_currency_of_its_prices(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        set_currency(db, merchant.id, Currency.EUR)

        settled = reprint(db, issue)

        again = get_order(db, merchant.id, settled.reprint_order_id or 0)
        assert again.currency is Currency.GBP


class TestInAnotherCurrency:
    """The account was kept in another currency when the order was charged."""

    def test_labs_are_paid_in_the_currency_of_the_reprint(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = submitted(db, merchant)
            issue = complain(db, merchant, order)
            set_currency(db, merchant.id, Currency.EUR)

            settled = reprint(db, issue)

            [first] = list_shipments(db, order.id)
            [again] = list_shipments(db, settled.reprint_order_id or 0)
            sent = LabReport(job=again.id, state=LabState.DISPATCHED)
            apply_lab_report(a_system_work(db, now=NOON, catalogue=CATALOGUE), sent)
            [debt] = list_debts(db)
            assert (debt.lab, debt.currency) == (first.lab, Currency.GBP)
            assert debt.total == first.items_cost + first.shipping_cost

    def test_no_other_shipping_is_charged_for_it(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            set_currency(db, merchant.id, Currency.EUR)
            merchant = get_merchant(db, merchant.id)
            again = get_order(db, merchant.id, reprint(db, issue).reprint_order_id or 0)
            work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)

            with pytest.raises(WrongState, match="in GBP"), db.begin_nested():
                change_shipping(work, again, {"shipping_method": ShippingMethod.EXPRESS})

            assert change_shipping(work, again, {"address1": "2 Low Road"}).price == 0
            assert find_faults(db, merchant) == []

    def test_nothing_is_printed_again_in_one_that_is_no_longer_sold_in(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            set_currency(db, merchant.id, Currency.EUR)
            plan = plan_reprint(a_system_work(db, now=NOON), issue.id)
            in_euros = msgspec.structs.replace(CATALOGUE, currencies=(Currency.EUR,))
            work = a_system_work(db, now=NOON, catalogue=in_euros)

            with pytest.raises(WrongState, match="Nothing is sold any more in GBP"):
                reprint_issue(work, issue.id, plan, comment="Sorry.")


def test_both_orders_know_of_each_other(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        issue = reprint(db, complain(db, merchant, order))
        again = issue.reprint_order_id or 0

        reprints = OrderReprints(order=order.id, issue=issue.id)
        assert reprints in list_events(db, again)
        made_good = OrderCompensated(issue=issue.id, refund=None, currency=None, reprint=again)
        assert made_good in list_events(db, order.id)
        assert f"Order {again} prints it again at no charge." in commentary(db, issue)


def test_a_reprint_asks_nobody_for_money_and_carries_no_packing_slip(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        draft = a_draft(db, merchant, packing_slip_url="https://shop.example/slip.png")
        order = submit_order(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), draft)
        assert isinstance(order, Order)

        settled = reprint(db, complain(db, merchant, order))

        again = get_order(db, merchant.id, settled.reprint_order_id or 0)
        assert (again.payment, again.payment_token) == (Payment.INVOICE_ME, None)
        assert again.packing_slip_url is None


def test_a_merchant_above_its_limit_gets_its_reprint(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        set_credit_limit(db, merchant.id, 0)

        assert reprint(db, issue).reprint_order_id


def test_a_reprint_can_be_cancelled_and_costs_nothing_still(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        settled = reprint(db, complain(db, merchant, submitted(db, merchant)))
        owed = read_books(db, merchant.id).balance

        cancel(db, merchant, get_order(db, merchant.id, settled.reprint_order_id or 0))

        assert read_books(db, merchant.id).balance == owed
        assert find_faults(db, merchant) == []


def test_what_is_printed_again_for_nothing_gives_nothing_back(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        settled = reprint(db, complain(db, merchant, submitted(db, merchant)))
        again = get_order(db, merchant.id, settled.reprint_order_id or 0)

        with pytest.raises(WrongState, match="Nothing is left"):
            refund(db, complain(db, merchant, again), 1)


def test_a_picture_that_is_not_kept_cannot_be_printed_again(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        issue = complain(db, merchant, order)
        db.execute(images_table.update().values(picture_id=None))

        with pytest.raises(WrongState, match="its picture is not stored"):
            plan_reprint(a_system_work(db, now=NOON), issue.id)


def test_a_cancelled_order_is_not_printed_again(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = cancel(db, merchant, submitted(db, merchant))
        issue = complain(db, merchant, order)

        with pytest.raises(WrongState, match="The order is Cancelled: nothing is"):
            plan_reprint(a_system_work(db, now=NOON), issue.id)


@pytest.mark.parametrize(
    "change",
    [{"sku": "GONE"}, {"attributes": {"frameColour": "pink"}}],
    ids=["sku", "attribute"],
)
def test_what_is_no_longer_sold_leaves_the_issue_as_it_was(
    database: Database, change: dict[str, Any]
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        db.execute(images_table.update().values(**change))

    with pytest.raises(WrongState), database.writing() as db:
        reprint(db, issue)

    with database.reading() as db:
        assert get_any_issue(db, issue.id) == issue
        assert db.execute(select(func.count()).select_from(orders_table)).scalar_one() == 1


def test_planning_takes_numbers_and_leaves_nothing_else(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        issue = complain(db, merchant, order)

        first = plan_reprint(a_system_work(db, now=NOON), issue.id)
        second = plan_reprint(a_system_work(db, now=NOON), issue.id)

        numbers = [copy.number for copy in (*first.copies, *second.copies)]
        assert len(set(numbers)) == 4
        assert len(list_images(db, order.id)) == 2
        reprint_issue(
            a_system_work(db, now=NOON, catalogue=CATALOGUE), issue.id, second, comment="Sorry."
        )
        added = submitted(db, merchant)
        assert min(image.id for image in list_images(db, added.id)) > max(numbers)


def test_what_was_planned_for_another_order_is_refused(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        another = complain(db, merchant, submitted(db, merchant))
        plan = plan_reprint(a_system_work(db, now=NOON), another.id)

        with pytest.raises(WrongState, match="were removed"):
            reprint_issue(
                a_system_work(db, now=NOON, catalogue=CATALOGUE), issue.id, plan, comment="Sorry."
            )


def test_a_reprint_of_what_has_changed_since_it_was_planned_is_refused(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        issue = complain(db, merchant, order)
        plan = plan_reprint(a_system_work(db, now=NOON), issue.id)
        db.execute(images_table.delete().where(images_table.c.id == plan.copies[0].original.id))

        with pytest.raises(WrongState, match="has just changed"):
            reprint_issue(
                a_system_work(db, now=NOON, catalogue=CATALOGUE), issue.id, plan, comment="Sorry."
            )

        assert get_any_issue(db, issue.id) == issue


def test_an_operator_may_choose_what_is_printed_again(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        issue = complain(db, merchant, order)
        chosen = list_images(db, order.id)[1]
        plan = plan_reprint(a_system_work(db, now=NOON), issue.id, only=[chosen.id])

        made = reprint_issue(
            a_system_work(db, now=NOON, catalogue=CATALOGUE), issue.id, plan, comment="Sorry."
        )

        assert made.reprint_order_id is not None
        [again] = list_images(db, made.reprint_order_id)
        assert again.picture_id == chosen.picture_id


def test_proofs_are_copied_as_often_as_one_likes(database: Database, tmp_path: Path) -> None:
    files, source = FolderFiles(tmp_path / "files"), tmp_path / "proof.jpg"
    source.write_bytes(b"proof")
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        plan = plan_reprint(a_system_work(db, now=NOON), complain(db, merchant, order).id)
    for original, _ in plan.copies:
        for key in proof_keys(original.id):
            files.put(key, source)
    before = set(files.keys())

    for _ in range(2):
        copy_proofs(files, plan)

    copied = set(files.keys()) - before
    assert copied == {key for _, number in plan.copies for key in proof_keys(number)}
    # A process that dies here leaves nothing behind.
    with database.reading() as db:
        removal = get_job(db, plan.removal)
    assert (removal.due_at, set(removal.args["files"])) == (NOON + REMOVED_AFTER, copied)


def test_a_reprint_whose_copies_are_being_removed_is_refused(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        plan = plan_reprint(a_system_work(db, now=NOON), issue.id)
        assert cancel_removal(db, plan.removal)

        with pytest.raises(ServiceUnavailable, match="took too long"):
            reprint_issue(
                a_system_work(db, now=NOON, catalogue=CATALOGUE), issue.id, plan, comment="Sorry."
            )


def test_an_image_whose_proofs_were_removed_cannot_be_printed_again(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        issue = complain(db, merchant, order)
        erase_proofs(db, order.id)

        with pytest.raises(WrongState, match="its proofs are not stored; refund"):
            plan_reprint(a_system_work(db, now=NOON), issue.id)


def test_proofs_that_go_before_they_are_copied_are_missed(
    database: Database, tmp_path: Path
) -> None:
    files = FolderFiles(tmp_path / "files")
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        plan = plan_reprint(a_system_work(db, now=NOON), issue.id)

    with pytest.raises(WrongState, match="its proofs are not stored; refund"):
        copy_proofs(files, plan)

    shutil.rmtree(tmp_path / "files")
    with pytest.raises(ServiceUnavailable, match="temporarily unavailable"):
        copy_proofs(files, plan)


def test_a_picture_that_was_just_forgotten_is_noticed(database: Database) -> None:
    with database.writing() as db:
        kept = store_picture(db, NewPicture(sha256="0" * 64, md5="1" * 32, size=9), now=NOON)

        assert use_pictures(db, [kept.id, kept.id], now=NOON)
        assert not use_pictures(db, [kept.id, kept.id + 1], now=NOON)
