"""Every charge has one invoice, every refund a credit note, and no number is missing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, delete, update

from printworks.actions.accounts.merchants import change_invoicing
from printworks.actions.invoices.issuing import collect_documents, make_document
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.payments.by_hand import PostingByHand, post_money
from printworks.actions.payments.ledger import verify_ledgers
from printworks.actions.payments.payments import settle
from printworks.actions.sellers import (
    change_business,
    register_seller,
    set_seller,
    stop_selling,
)
from printworks.actions.submission.submit import submit_order
from printworks.payments.provider import Paid
from printworks.rules.invoice_drafts import find_month_end
from printworks.rules.invoices import InvoiceKind, Invoicing, read_document, write_document
from printworks.rules.jobs import MOST_SKEW, JobKind, JobState
from printworks.rules.languages import Language
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import ShippingMethod
from printworks.rules.sellers import Registration, Seller
from printworks.rules.taxes import TaxCategory
from printworks.store.engine.database import Database
from printworks.store.mail.settings import MailSettings, write_mail_settings
from printworks.store.money.invoices import list_causes, list_documents
from printworks.store.money.ledger import list_entries, set_credit_limit
from printworks.store.money.payments import PaymentRequest
from printworks.store.tables import invoice_causes, invoice_counters, invoices, jobs
from tests.actions.complaints import cancel, complain, refund, reprint, submitted
from tests.actions.invoicing import (
    TERMS,
    a_customer,
    a_shop,
    collect_all,
    documents_of,
    find_problems,
    make_all,
)
from tests.actions.test_ledger import CARDS, CATALOGUE, a_draft, pay_by_card
from tests.actions.test_taxes import reprinted, sell, work_of
from tests.factories import NOON, a_merchant, a_system_work, a_work
from tests.sellers import BRITISH, GERMAN


def test_without_a_seller_nothing_is_invoiced(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        cancel(db, merchant, submitted(db, merchant))

        assert list(list_causes(db, merchant.id)) == []
    assert find_problems(database) == []


def test_an_order_is_invoiced_with_what_it_was_charged(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db, iban="GB33BUKB20201555555555", email="hello@seller.example")
        change_business(work_of(db, merchant), GERMAN)
        order = submitted(db, merchant)

        (document,) = make_all(db, merchant)

        assert document.number == f"{NOON:%Y}-000001"
        assert document.kind is InvoiceKind.INVOICE
        assert (document.gross, document.tax) == (order.total, order.tax)
        assert (document.seller.name, document.seller.vat_id) == ("Prints Ltd", BRITISH.vat_id)
        assert (document.buyer.name, document.buyer_code) == ("Bilder GmbH", merchant.code)
        assert document.language is Language.DE
        assert document.issued_on == NOON.date()
        assert document.due_on == NOON.date() + TERMS
        assert document.bank is not None
        assert document.lines[-1].description == "Versand"
    assert find_problems(database) == []


def test_nothing_of_the_recipient_is_on_it_but_the_country(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        secret = {"recipient_name": "Zoë Quux", "email": "zoe@quux.example", "town_or_city": "Xyz"}
        submitted(db, merchant, merchant_order_id="Zoë's birthday", **secret)

        (document,) = make_all(db, merchant)
        (cause,) = list_causes(db, merchant.id)

        for text in (write_document(document), cause.draft):
            assert not [word for word in ("Zo", "quux", "Xyz", "birthday") if word in text]
        assert document.destination == "GB"


def test_a_merchant_without_a_company_is_named_and_nothing_else(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        write_mail_settings(db, merchant.id, MailSettings(language=Language.FR))
        submitted(db, merchant)

        (document,) = make_all(db, merchant)

        assert (document.buyer.name, document.buyer.country) == (merchant.name, "GB")
        assert document.language is Language.FR
        assert document.bank is None


def test_an_invoice_is_made_once_however_often_its_job_runs(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        submitted(db, merchant)
        make_all(db, merchant)

        assert len(make_all(db, merchant)) == 1
    assert find_problems(database) == []


def test_a_job_is_enqueued_with_the_charge(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        cancel(db, merchant, submitted(db, merchant))

        kinds = [row.kind for row in db.execute(jobs.select()) if "invoice" in row.kind]
        assert kinds == [JobKind.MAKE_INVOICE] * 2


def test_a_cancellation_is_a_credit_note_that_mirrors_the_invoice(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        cancel(db, merchant, submitted(db, merchant))

        invoice, credit = make_all(db, merchant)

        assert credit.kind is InvoiceKind.CREDIT_NOTE
        assert credit.corrects is not None
        assert credit.corrects.number == invoice.number
        assert credit.lines == invoice.lines
        assert credit.due_on is None
    assert find_problems(database) == []


def test_a_credit_note_that_comes_first_makes_its_invoice_before(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        cancel(db, merchant, submitted(db, merchant))
        charged, refunded = list_causes(db, merchant.id)

        make_document(work_of(db, merchant), refunded.entry, payment_terms=TERMS)

        kinds = [document.kind for document in documents_of(db, merchant)]
        assert kinds == [InvoiceKind.INVOICE, InvoiceKind.CREDIT_NOTE]
        again = make_document(work_of(db, merchant), charged.entry, payment_terms=TERMS)
        assert again is None
    assert find_problems(database) == []


def test_credits_of_issues_add_up_to_the_invoice(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        order = submitted(db, merchant)
        third = order.total // 3
        for amount in (third, 1, order.total - third - 1):
            refund(db, complain(db, merchant, order), amount)

        invoice, *notes = make_all(db, merchant)

        assert [note.gross for note in notes] == [third, 1, order.total - third - 1]
        assert sum(note.tax for note in notes) == invoice.tax
        assert str(order.id) in notes[0].lines[0].description
    assert find_problems(database) == []


def test_other_shipping_is_a_credit_note_and_another_invoice(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        set_credit_limit(db, merchant.id, 100_000)
        order = submitted(db, merchant)
        values = {"shipping_method": ShippingMethod.EXPRESS}
        sent = change_shipping(work_of(db, merchant), order, values)

        first, credit, second = make_all(db, merchant)

        assert first.gross == credit.gross == order.total
        assert second.gross == sent.total
    assert find_problems(database) == []


def test_a_reprint_is_free_and_has_no_invoice(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        order = submitted(db, merchant)
        reprint(db, complain(db, merchant, order))

        assert len(make_all(db, merchant)) == 1
    assert find_problems(database) == []


def test_shipping_that_is_charged_for_a_reprint_is_invoiced_and_taken_back(
    database: Database,
) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        again = reprinted(db, merchant, submitted(db, merchant))
        express = {"shipping_method": ShippingMethod.EXPRESS}
        sent = change_shipping(work_of(db, merchant), again, express)
        cancel(db, merchant, sent)

        _, invoice, credit = make_all(db, merchant)

        assert (invoice.gross, invoice.tax) == (sent.total, sent.tax)
        assert [line.description for line in invoice.lines] == ["Shipping"]
        assert credit.kind is InvoiceKind.CREDIT_NOTE
        assert credit.lines == invoice.lines
    assert find_problems(database) == []


def test_an_order_paid_by_card_says_that_it_is_paid(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        pay_by_card(db, merchant)

        (document,) = make_all(db, merchant)

        assert (document.due, document.due_on) == (0, None)
    assert find_problems(database) == []


@pytest.mark.parametrize("credit", [150, 100_000])
def test_an_order_that_the_balance_pays_has_an_invoice_of_all_of_it(
    database: Database, credit: int
) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        post_money(
            a_work(db, merchant), PostingByHand(kind=EntryKind.CREDIT, amount=credit, memo="sorry")
        )
        order = a_draft(db, merchant)
        found = submit_order(a_work(db, merchant, catalogue=CATALOGUE, cards=CARDS), order)
        if isinstance(found, PaymentRequest):
            paid = Paid(provider="bank", reference="1")
            settle(a_system_work(db, catalogue=CATALOGUE), found.id, paid)

        (document,) = make_all(db, merchant)

        assert document.gross == order.total
        assert (document.due, document.due_on) == (0, None)
    assert find_problems(database) == []


def test_the_seller_has_the_number_of_the_country_whose_tax_it_is(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db, company=GERMAN)
        register_seller(a_system_work(db), "GB", Registration(BRITISH.vat_id))
        submitted(db, merchant)
        submitted(db, merchant, destination_country="DE", postal_code="10115")

        there, home = make_all(db, merchant)

        assert there.seller.vat_id == BRITISH.vat_id
        assert home.seller.vat_id == GERMAN.vat_id


def test_the_next_seller_counts_for_itself(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        submitted(db, merchant)
        stop_selling(a_system_work(db))
        sell(db, GERMAN)
        submitted(db, merchant)

        numbers = [document.number for document in make_all(db, merchant)]

        assert numbers == [f"{NOON:%Y}-000001", f"2-{NOON:%Y}-000001"]
    assert find_problems(database) == []


def test_a_year_begins_with_one(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        for _ in range(3):
            submitted(db, merchant)
        first, second, third = list_causes(db, merchant.id)
        for cause, now in ((first, NOON), (second, NOON), (third, NOON + timedelta(days=60))):
            make_document(work_of(db, merchant, now=now), cause.entry, payment_terms=TERMS)

        numbers = [document.number for document in documents_of(db, merchant)]

        assert numbers == ["2026-000001", "2026-000002", "2027-000001"]
    assert find_problems(database) == []


def test_what_a_seller_changes_later_is_on_later_invoices_only(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        submitted(db, merchant)
        renamed = msgspec.structs.replace(BRITISH, name="Prints and Sons Ltd")
        set_seller(a_system_work(db), Seller(company=renamed))
        submitted(db, merchant)

        names = [document.seller.name for document in make_all(db, merchant)]

        assert names == ["Prints Ltd", "Prints and Sons Ltd"]


class TestMonthly:
    def test_the_orders_of_a_month_are_one_invoice(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_shop(db, Invoicing.MONTHLY)
            orders = [submitted(db, merchant) for _ in range(3)]
            cancel(db, merchant, orders[-1])

            invoice, credit = collect_all(db, merchant)

            assert [line.order_id for line in invoice.lines] == [order.id for order in orders]
            assert invoice.gross == sum(order.total for order in orders)
            assert (credit.gross, credit.corrects and credit.corrects.number) == (
                orders[-1].total,
                invoice.number,
            )
            assert "to United Kingdom" in invoice.lines[0].description
            assert len(collect_all(db, merchant)) == 2
        assert find_problems(database) == []

    def test_its_job_leaves_time_for_charges_that_began_before_the_end(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_shop(db, Invoicing.MONTHLY)
            submitted(db, merchant)

            (job,) = collecting_jobs(db)

            assert job.args == {"before": "2026-12-01T00:00:00+00:00"}
            over = find_month_end(NOON)
            assert over + MOST_SKEW < job.due_at < over + timedelta(hours=1)

    def test_each_month_has_one_job_however_many_orders_there_are(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_shop(db, Invoicing.MONTHLY)
            for _ in range(4):
                submitted(db, merchant)

            collected = [job.args["before"][:10] for job in collecting_jobs(db)]

            assert collected == ["2026-12-01", "2027-01-01"]

    def test_what_is_charged_after_its_month_was_collected_is_invoiced_with_the_next(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_shop(db, Invoicing.MONTHLY)
            submitted(db, merchant)
            collect_all(db, merchant)
            db.execute(update(jobs).values(state=JobState.DONE))

            late = submitted(db, merchant)
            (job,) = [one for one in collecting_jobs(db) if one.state == JobState.SCHEDULED]
            before = datetime.fromisoformat(job.args["before"])
            collect_documents(work_of(db, merchant, now=before), before, payment_terms=TERMS)

            invoiced = [line.order_id for line in documents_of(db, merchant)[-1].lines]
            assert invoiced == [late.id]
        assert find_problems(database) == []

    def test_other_companies_and_destinations_of_a_member_state_are_apart(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_shop(db, Invoicing.MONTHLY, company=GERMAN)
            dutch = msgspec.structs.replace(GERMAN, country="NL", vat_id="NL123456782B90")
            submitted(db, merchant, destination_country="FR", postal_code="75001")
            change_business(work_of(db, merchant), dutch)
            for country, code in (("FR", "75001"), ("AT", "1010"), ("AT", "1010")):
                submitted(db, merchant, destination_country=country, postal_code=code)

            found = [
                (len(document.lines), document.destination, document.categories)
                for document in collect_all(db, merchant)
            ]

            free = frozenset({TaxCategory.INTRA_COMMUNITY})
            assert found[1:] == [(1, "FR", free), (2, "AT", free)]
        assert find_problems(database) == []

    def test_who_changes_to_monthly_is_in_the_audit_log(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_customer(db, Invoicing.MONTHLY)
            change_invoicing(work_of(db, merchant), Invoicing.MONTHLY)

            assert merchant.invoicing is Invoicing.MONTHLY


def collecting_jobs(db: Connection) -> list[Any]:
    """Return the jobs that invoice by month, the first one first."""
    return list(
        db.execute(
            jobs.select().where(jobs.c.kind == JobKind.COLLECT_INVOICES).order_by(jobs.c.due_at)
        )
    )


def plant(statement: Any) -> Callable[[Connection], None]:
    def damage(db: Connection) -> None:
        db.execute(statement)

    return damage


def forge(db: Connection) -> None:
    """Write another amount into a document."""
    row = db.execute(invoices.select().where(invoices.c.sequence == 2)).one()
    document = read_document(row.document)
    lines = (msgspec.structs.replace(document.lines[0], net=1), *document.lines[1:])
    text = write_document(msgspec.structs.replace(document, lines=lines))
    db.execute(update(invoices).where(invoices.c.id == row.id).values(document=text))


def lose(db: Connection) -> None:
    """Remove a document with all that knows of it."""
    row = db.execute(invoices.select().where(invoices.c.sequence == 2)).one()
    db.execute(delete(invoice_causes).where(invoice_causes.c.invoice_id == row.id))
    db.execute(delete(invoices).where(invoices.c.id == row.id))


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (forge, {"invoice-altered"}),
        (lose, {"invoice-missing", "invoice-gap", "invoice-altered"}),
        (plant(update(invoices).values(gross=1)), {"invoice-columns"}),
        (
            plant(update(invoice_causes).where(invoice_causes.c.entry == 1).values(amount=1)),
            {"invoice-entry", "invoice-amount"},
        ),
        (
            plant(update(invoice_causes).where(invoice_causes.c.entry == 1).values(entry=99)),
            {"invoice-missing", "invoice-stranger"},
        ),
        (plant(update(invoice_counters).values(last=9)), {"invoice-end"}),
        (plant(delete(invoice_counters)), {"invoice-end"}),
    ],
)
def test_what_is_done_behind_our_back_is_found(
    database: Database, damage: Callable[[Connection], None], expected: set[str]
) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        for _ in range(3):
            submitted(db, merchant)
        make_all(db, merchant)
        damage(db)
    assert set(find_problems(database)) == expected


def test_what_waits_for_its_invoice_is_counted_and_no_fault(database: Database) -> None:
    with database.writing() as db:
        submitted(db, a_shop(db))
    with database.reading() as db:
        check = verify_ledgers(db)
    assert (check.waiting, check.invoices, check.faults) == (1, 0, [])


def test_two_processes_at_once_take_each_number_once(database: Database) -> None:
    with database.writing() as db:
        first = a_shop(db)
        merchants = [first, a_customer(db)]
        for merchant in merchants * 6:
            submitted(db, merchant)
        waiting = [(one, cause.entry) for one in merchants for cause in list_causes(db, one.id)]

    def make(work: tuple[Any, int]) -> None:
        merchant, entry = work
        with database.writing() as db:
            make_document(work_of(db, merchant), entry, payment_terms=TERMS)

    # Each twice: a job may run in two workers.
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, waiting * 2))

    with database.reading() as db:
        found = [document.sequence for _, document in list_documents(db, None)]
        charged = sum(len(list(list_entries(db, one.id))) for one in merchants)
    assert sorted(found) == list(range(1, len(waiting) + 1))
    assert charged == len(waiting)
    assert find_problems(database) == []
