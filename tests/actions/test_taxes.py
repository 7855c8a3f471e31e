"""The tax of orders: calculated with the quote, frozen at submission, mirrored by refunds."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, text, update

from printworks.actions.images.recipient_prices import set_prices_to_user
from printworks.actions.orders.plans import look_at_order
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.payments.totals import total_for_recipient
from printworks.actions.sellers import (
    change_business,
    register_seller,
    set_seller,
    stop_selling,
    unregister_seller,
)
from printworks.actions.submission.submit import await_payment, submit_order
from printworks.actions.taxes import estimate_tax, get_taxed_order
from printworks.errors import NotFound, WrongState
from printworks.rules.businesses import Business
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import Payment, ShippingMethod
from printworks.rules.sellers import Registration, Seller
from printworks.rules.tax_terms import Situation, TaxedLine
from printworks.rules.taxes import TaxCategory, TaxRounding
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.money.ledger import (
    NewLedgerEntry,
    list_entries,
    post_entry,
    read_books,
    set_credit_limit,
)
from printworks.store.money.sellers import find_business, find_seller, get_seller
from printworks.store.orders.orders import Order, get_order, get_order_to_change
from printworks.store.tables import orders
from tests.actions.complaints import a_draft, cancel, complain, refund, reprint, submitted
from tests.actions.test_ledger import CARDS, CATALOGUE, find_faults
from tests.factories import NOON, a_merchant, a_system_work, a_work
from tests.sellers import BRITISH, GERMAN
from tests.worker.hosts import wait_until


def sell(db: Connection, company: Business = BRITISH, **given: Any) -> None:
    """Say who sells; tax is that of the whole document unless it is said otherwise."""
    terms = {"rounding": TaxRounding.DOCUMENT, **given}
    set_seller(a_system_work(db), Seller(company=company, **terms))


def work_of(db: Connection, merchant: Merchant, **given: Any) -> Any:
    return a_work(db, merchant, catalogue=CATALOGUE, **given)


def owed(db: Connection, merchant: Merchant) -> int:
    return read_books(db, merchant.id).balance


def lines_of(db: Connection, merchant: Merchant) -> list[list[tuple[str, int]]]:
    entries = (booked.entry for booked in list_entries(db, merchant.id))
    return [[(str(line.account), line.amount) for line in entry.lines] for entry in entries]


def reprinted(db: Connection, merchant: Merchant, order: Order) -> Order:
    """Return the order that prints another one again."""
    issue = reprint(db, complain(db, merchant, order))
    return get_order(db, merchant.id, issue.reprint_order_id or 0)


def test_without_a_seller_nothing_is_taxed(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)

        assert (order.tax, order.total) == (None, order.price)
        assert get_taxed_order(work_of(db, merchant), order) is None
        assert [len(lines) for lines in lines_of(db, merchant)] == [2]


@pytest.mark.parametrize("rounding", TaxRounding)
def test_prices_kept_net_are_charged_with_tax(database: Database, rounding: TaxRounding) -> None:
    with database.writing() as db:
        sell(db, rounding=rounding)
        merchant = a_merchant(db)
        order = submitted(db, merchant)

        assert order.tax == round(order.price * 0.2)
        assert owed(db, merchant) == order.total == order.price + order.tax
        assert lines_of(db, merchant) == [
            [("receivable", order.total), ("sales", -order.price), ("tax", -order.tax)]
        ]
        assert find_faults(db, merchant) == []


def test_prices_kept_gross_include_it(database: Database) -> None:
    with database.writing() as db:
        sell(db, is_gross=True, rounding=TaxRounding.DOCUMENT)
        merchant = a_merchant(db)
        order = submitted(db, merchant)

        assert order.tax == round(order.price / 6)
        assert owed(db, merchant) == order.total == order.price
        assert find_faults(db, merchant) == []


def test_an_order_tells_its_lines_and_who_sells_and_buys(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        change_business(work_of(db, merchant), GERMAN)
        order = submitted(db, merchant)
        taxed = get_taxed_order(work_of(db, merchant), order)

        assert taxed is not None
        prints, shipping = taxed.terms.lines
        each = list_images(db, order.id)[0].price
        product = CATALOGUE.get_product("GLOBAL-PHO-4X6-PRO")
        tax = round(each * 4 * 0.2)
        rate = (TaxCategory.STANDARD, 2000, "GB")
        assert prints == TaxedLine(
            *(product.sku, product.description, 4, each, each * 4, tax), *rate
        )
        assert shipping.is_shipping
        assert shipping.net == order.shipping_price
        assert taxed.terms.situation is Situation.DOMESTIC
        assert taxed.terms.vat_id == GERMAN.vat_id
        assert (taxed.seller.company, taxed.buyer) == (BRITISH, GERMAN)
        assert taxed.terms.gross == order.total


def test_a_business_of_another_member_state_pays_none(database: Database) -> None:
    with database.writing() as db:
        sell(db, GERMAN)
        merchant = a_merchant(db)
        french = msgspec.structs.replace(BRITISH, country="FR", vat_id="FR40303265045")
        consumer = a_draft(db, merchant, destination_country="FR")
        change_business(work_of(db, merchant), french)
        business = submitted(db, merchant, destination_country="FR")

        assert consumer.tax == round(consumer.price * 0.19)
        assert (business.tax, business.total) == (0, business.price)
        taxed = get_taxed_order(work_of(db, merchant), business)
        assert taxed is not None
        assert taxed.terms.situation is Situation.INTRA_COMMUNITY
        assert find_faults(db, merchant) == []


def look_and_submit(database: Database, merchant: Merchant, draft: Order) -> tuple[Order, Order]:
    """Be refused, look at an order, and submit it; return it as it was shown, and submitted."""
    with database.writing() as db:
        again = get_order_to_change(db, merchant.id, draft.id)
        with pytest.raises(WrongState, match=f"it was {draft.total / 100:,.2f} GBP, and is"):
            submit_order(work_of(db, merchant), again)
    with database.reading() as db:
        shown = look_at_order(work_of(db, merchant), database, draft.id).order
    with database.writing() as db:
        again = get_order_to_change(db, merchant.id, draft.id)
        order = submit_order(work_of(db, merchant), again)
        assert isinstance(order, Order)
        assert owed(db, merchant) == order.total == shown.total
        assert find_faults(db, merchant) == []
    return shown, order


def test_what_was_quoted_before_there_was_a_seller_is_taxed_once_that_was_shown(
    database: Database,
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        draft = a_draft(db, merchant)
        sell(db)

    shown, order = look_and_submit(database, merchant, draft)

    assert (draft.tax, order.tax) == (None, round(order.price * 0.2))
    # Only the tax is another one: the price is kept as long as before.
    assert (shown.price, shown.quote_expires_at) == (draft.price, draft.quote_expires_at)


def test_a_tax_in_the_price_changes_no_total_and_is_not_refused(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        draft = a_draft(db, merchant)
        sell(db, is_gross=True)
        order = submit_order(work_of(db, merchant), draft)

        assert isinstance(order, Order)
        assert (order.tax, order.total) == (round(order.price / 6), draft.total)


def test_a_recipient_is_asked_for_the_tax_of_today(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        draft = a_draft(db, merchant, payment=Payment.INVOICE_RECIPIENT)
        sell(db, is_gross=True)
        order = await_payment(work_of(db, merchant, cards=CARDS), draft)

        assert (draft.recipient_tax, order.total) == (0, draft.total)
        assert order.recipient_tax > 0


@pytest.mark.parametrize("is_gross", [False, True])
def test_an_open_order_shows_the_tax_that_submitting_it_would_charge(
    database: Database, is_gross: bool
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        draft, done = a_draft(db, merchant), submitted(db, merchant)
        sell(db, is_gross=is_gross)
    with database.reading() as db:
        work = work_of(db, merchant)
        shown = look_at_order(work, database, draft.id).order
        again = look_at_order(work, database, draft.id).order
        kept = look_at_order(work, database, done.id).order

    assert shown.tax == (round(draft.price / 6) if is_gross else round(draft.price / 5))
    assert shown.total == draft.price + (0 if is_gross else shown.tax)
    assert again == shown
    assert kept.tax is None


def test_a_tax_is_estimated_only_where_somebody_sells(database: Database) -> None:
    with database.writing() as db:
        work = work_of(db, a_merchant(db))
        copies = [("GLOBAL-PHO-4X6-PRO", 10, 100), ("GONE", 1, 1000)]
        before = estimate_tax(work, "GB", copies, shipping=500)
        sell(db)
        terms = estimate_tax(work, "GB", copies, shipping=500)

        assert before is None
        assert terms is not None
        assert (terms.net, terms.tax) == (2500, 500)


def test_a_submission_that_changes_nothing_leaves_the_version(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        draft = a_draft(db, merchant)
        again = set_prices_to_user(work_of(db, merchant), draft, None)

        assert again == draft == get_order(db, merchant.id, draft.id)


def test_a_product_that_is_no_longer_sold_keeps_a_standard_tax(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        draft = a_draft(db, merchant, payment=Payment.INVOICE_RECIPIENT)
        without = msgspec.structs.replace(CATALOGUE, _by_sku={})
        order = get_order_to_change(db, merchant.id, draft.id)
        work = a_work(db, merchant, catalogue=without)
        priced = set_prices_to_user(work, order, 900)

        assert priced.tax == draft.tax


def test_after_the_last_seller_drafts_are_not_taxed(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        draft = a_draft(db, merchant)
        stop_selling(a_system_work(db))

    _, order = look_and_submit(database, merchant, draft)

    assert (order.tax, order.total) == (None, order.price)


def test_an_order_whose_tax_is_not_what_was_charged_is_found(database: Database) -> None:
    with database.writing() as db:
        sell(db, is_gross=True)
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        db.execute(update(orders).where(orders.c.id == order.id).values(tax=1))

        assert find_faults(db, merchant) == ["tax"]


def test_tax_on_an_entry_that_has_none_is_found(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        taxed = NewLedgerEntry(
            key="payment-1", kind=EntryKind.PAYMENT, amount=120, tax=20, currency="GBP"
        )
        post_entry(db, merchant.id, taxed, now=NOON)

        assert find_faults(db, merchant) == ["accounts"]


def test_a_cancellation_mirrors_its_charge(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        cancel(db, merchant, order)

        assert owed(db, merchant) == 0
        charge, refunded = lines_of(db, merchant)
        assert sorted(refunded) == sorted((account, -amount) for account, amount in charge)
        assert find_faults(db, merchant) == []


def test_a_credit_is_divided_as_the_order_was(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        refund(db, complain(db, merchant, order), order.total // 3)
        refund(db, complain(db, merchant, order), order.total - order.total // 3)

        entries = [booked.entry for booked in list_entries(db, merchant.id)]
        credited = [entry for entry in entries if entry.kind is EntryKind.CREDIT]
        assert sum(entry.amount for entry in credited) == order.total
        assert sum(entry.tax for entry in credited) == order.tax
        assert owed(db, merchant) == 0
        assert find_faults(db, merchant) == []


def test_a_reprint_is_free_of_tax(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        again = reprinted(db, merchant, order)

        assert (again.tax, again.total) == (None, 0)
        assert owed(db, merchant) == order.total
        assert find_faults(db, merchant) == []


@pytest.mark.parametrize("has_seller", [True, False])
def test_other_shipping_is_charged_at_the_frozen_rate(
    database: Database, *, has_seller: bool
) -> None:
    with database.writing() as db:
        if has_seller:
            sell(db)
        merchant = a_merchant(db)
        set_credit_limit(db, merchant.id, 100_000)
        order = submitted(db, merchant)
        sent = change_shipping(
            work_of(db, merchant), order, {"shipping_method": ShippingMethod.EXPRESS}
        )

        assert sent.price > order.price
        assert sent.tax == (round(sent.price * 0.2) if has_seller else None)
        assert owed(db, merchant) == sent.total
        assert find_faults(db, merchant) == []


@pytest.mark.parametrize("is_gross", [False, True])
def test_shipping_that_is_charged_for_a_reprint_is_taxed(
    database: Database, *, is_gross: bool
) -> None:
    with database.writing() as db:
        sell(db, is_gross=is_gross)
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        again = reprinted(db, merchant, order)
        express = {"shipping_method": ShippingMethod.EXPRESS}
        sent = change_shipping(work_of(db, merchant), again, express)

        assert sent.price == sent.shipping_price > 0
        assert sent.tax == round(sent.price / 6 if is_gross else sent.price * 0.2)
        assert sent.total == sent.price + (0 if is_gross else sent.tax)
        assert owed(db, merchant) == order.total + sent.total
        assert lines_of(db, merchant)[-1][-1] == ("tax", -sent.tax)
        taxed = get_taxed_order(work_of(db, merchant), sent)
        assert taxed is not None
        assert [(line.is_shipping, line.gross) for line in taxed.terms.lines] == [
            (True, sent.total)
        ]
        assert find_faults(db, merchant) == []


def test_shipping_of_a_reprint_is_charged_at_the_rate_that_was_frozen_first(
    database: Database,
) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        again = reprinted(db, merchant, submitted(db, merchant))
        express = {"shipping_method": ShippingMethod.EXPRESS}
        sent = change_shipping(work_of(db, merchant), again, express)
        stop_selling(a_system_work(db))
        overnight = {"shipping_method": ShippingMethod.OVERNIGHT}
        sooner = change_shipping(work_of(db, merchant), sent, overnight)

        assert sooner.price > sent.price
        assert sooner.tax == round(sooner.price * 0.2)
        assert find_faults(db, merchant) == []


def test_shipping_of_a_reprint_is_not_taxed_where_nobody_sells(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        again = reprinted(db, merchant, submitted(db, merchant))
        express = {"shipping_method": ShippingMethod.EXPRESS}
        sent = change_shipping(work_of(db, merchant), again, express)

        assert (sent.tax, sent.total) == (None, sent.shipping_price)
        assert find_faults(db, merchant) == []


@pytest.mark.parametrize("is_gross", [False, True])
def test_a_recipient_pays_the_tax_of_a_consumer(database: Database, *, is_gross: bool) -> None:
    with database.writing() as db:
        sell(db, GERMAN, has_one_stop=True, is_gross=is_gross)
        merchant = a_merchant(db)
        french = msgspec.structs.replace(BRITISH, country="FR", vat_id="FR40303265045")
        change_business(work_of(db, merchant), french)
        for_recipient: dict[str, Any] = {
            "payment": Payment.INVOICE_RECIPIENT,
            "destination_country": "FR",
        }
        draft = set_prices_to_user(
            work_of(db, merchant), a_draft(db, merchant, **for_recipient), 1000
        )
        order = await_payment(work_of(db, merchant, cards=CARDS), draft)
        total = total_for_recipient(order, list_images(db, order.id))

        paid = 4000 + order.shipping_price
        assert order.tax == 0
        assert total.tax == round(paid / 6 if is_gross else paid * 0.2)
        assert total.total == (paid if is_gross else paid + total.tax)


def test_a_tax_that_came_with_the_order_is_the_one_that_is_paid(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        given: dict[str, Any] = {"payment": Payment.INVOICE_RECIPIENT, "invoice_tax": 123}
        draft = a_draft(db, merchant, **given)
        total = total_for_recipient(draft, list_images(db, draft.id))

        assert (total.tax, total.tax_included) == (123, False)


class TestWhoSells:
    def test_changes_are_written_down_once(self, database: Database) -> None:
        with database.writing() as db:
            sell(db)
            sell(db)
            sell(db, has_one_stop=True)
            stored = find_seller(db)

            assert stored is not None
            assert stored.seller == Seller(
                company=BRITISH, has_one_stop=True, rounding=TaxRounding.DOCUMENT
            )
            assert get_seller(db, stored.id) == stored.seller

    def test_registrations_survive_other_changes(self, database: Database) -> None:
        with database.writing() as db:
            sell(db)
            register_seller(a_system_work(db), "FR", Registration("FR40303265045"))
            sell(db, email="hello@example.com")
            stored = find_seller(db)
            assert stored is not None
            assert stored.seller.registrations == {"FR": Registration("FR40303265045")}

            unregister_seller(a_system_work(db), "FR")
            left = find_seller(db)
            assert left is not None
            assert left.seller.registrations == {}

    def test_the_next_seller_is_another_one(self, database: Database) -> None:
        with database.writing() as db:
            sell(db)
            first = find_seller(db)
            stop_selling(a_system_work(db))
            assert find_seller(db) is None
            sell(db, GERMAN)
            second = find_seller(db)

            assert first is not None
            assert second is not None
            assert second.id > first.id
            assert get_seller(db, first.id).company == BRITISH

    def test_nothing_can_be_said_about_nobody(self, database: Database) -> None:
        with database.writing() as db:
            with pytest.raises(NotFound, match="say who sells first"):
                stop_selling(a_system_work(db))
            with pytest.raises(NotFound, match="no seller 7"):
                get_seller(db, 7)

    @pytest.mark.parametrize(
        ("first", "registered"),
        [
            (
                lambda db: register_seller(a_system_work(db), "DE", Registration(GERMAN.vat_id)),
                {"DE", "FR"},
            ),
            (lambda db: unregister_seller(a_system_work(db), "FR"), set()),
        ],
        ids=["register", "unregister"],
    )
    def test_two_who_change_it_at_once_undo_nothing_of_each_other(
        self, database: Database, first: Callable[[Connection], None], registered: set[str]
    ) -> None:
        with database.writing() as db:
            sell(db)
            register_seller(a_system_work(db), "FR", Registration("FR40303265045"))

        changed = change_at_once(database, first, lambda db: sell(db, email="hello@example.com"))
        changed.result()

        with database.reading() as db:
            stored = find_seller(db)
        assert stored is not None
        assert stored.seller.email == "hello@example.com"
        assert set(stored.seller.registrations) == registered

    def test_one_that_has_just_ended_is_not_changed(self, database: Database) -> None:
        with database.writing() as db:
            sell(db)

        changed = change_at_once(
            database,
            lambda db: stop_selling(a_system_work(db)),
            lambda db: register_seller(a_system_work(db), "FR", Registration("FR40303265045")),
        )

        with pytest.raises(NotFound, match="say who sells first"):
            changed.result()


def change_at_once(
    database: Database, first: Callable[[Connection], None], second: Callable[[Connection], None]
) -> Future[None]:
    """Let somebody begin a change while another one is made, and end it after that."""

    def change() -> None:
        with database.writing() as db:
            second(db)

    with ThreadPoolExecutor(1) as threads, database.writing() as db:
        first(db)
        changed = threads.submit(change)
        wait_until(lambda: does_anybody_wait(database))
    return changed


def does_anybody_wait(database: Database) -> bool:
    """Say whether somebody waits for what another is writing; on SQLite everybody does."""
    if database.is_sqlite:
        return True
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
    with database.reading() as db:
        return bool(db.execute(text(f"{waiting} AND wait_event_type = 'Lock'")).first())


class TestWhoBuys:
    def test_a_company_is_kept_and_forgotten(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            work = work_of(db, merchant)
            change_business(work, Business())
            change_business(work, GERMAN)
            change_business(work, GERMAN)
            assert find_business(db, merchant.id) == GERMAN

            change_business(work, Business())
            assert find_business(db, merchant.id) is None
