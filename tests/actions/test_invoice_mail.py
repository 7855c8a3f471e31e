"""People who see a merchant's money are told of its invoices, at most once a day."""

from datetime import datetime

from sqlalchemy import Connection

from printworks.actions.accounts.merchants import change_invoicing
from printworks.actions.invoices.issuing import collect_documents, make_document
from printworks.rules.invoice_drafts import find_month_end
from printworks.rules.invoices import Invoicing
from printworks.rules.jobs import JobKind
from printworks.rules.mail import MailKind
from printworks.rules.people import Realm, Role
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.accounts.people import NewPerson, insert_person
from printworks.store.engine.database import Database
from printworks.store.money.invoices import list_causes
from tests.actions.complaints import cancel, submitted
from tests.actions.invoicing import TERMS
from tests.actions.people import a_person
from tests.actions.test_mail import HOUR, a_sender, jobs_in, mails_in, tell
from tests.actions.test_taxes import sell
from tests.factories import NOON


def issue_all(db: Connection, merchant: Merchant, *, now: datetime = NOON) -> None:
    """Issue the documents that wait, as the jobs would."""
    work = a_sender(db, now=now).for_merchant(merchant)
    for cause in list(list_causes(db, merchant.id)):
        make_document(work, cause.entry, payment_terms=TERMS)


def test_the_documents_of_a_day_are_one_mail(database: Database) -> None:
    with database.writing() as db:
        mary = a_person(db, "mary@shop.example")
        assert mary.merchant_id is not None
        sell(db)
        merchant = get_merchant(db, mary.merchant_id)
        for _ in range(11):
            cancel(db, merchant, submitted(db, merchant))
        # Each job may run twice.
        for _ in range(2):
            issue_all(db, merchant)
        due = [job.due_at - NOON for job in jobs_in(db, JobKind.WRITE_NOTICES)]

        assert tell(db, mary, MailKind.INVOICES_READY, now=NOON + HOUR) == 1
        assert tell(db, mary, MailKind.INVOICES_READY, now=NOON + HOUR) == 0
        [mail] = mails_in(db)

        assert due == [HOUR, 12 * HOUR]
        assert (mail.email, mail.facts.count) == (mary.email, 22)
        first, second = mail.facts.items[:2]
        assert (first.number, first.is_credit) == (f"{NOON:%Y}-000001", False)
        assert (second.number, second.is_credit) == (f"{NOON:%Y}-000002", True)
        assert first.amount == second.amount > 0

        submitted(db, merchant)
        issue_all(db, merchant, now=NOON + 2 * HOUR)
        assert len(jobs_in(db, JobKind.WRITE_NOTICES)) == 2
        assert tell(db, mary, MailKind.INVOICES_READY, now=NOON + 12 * HOUR) == 1


def test_a_month_is_told_to_those_who_see_money(database: Database) -> None:
    with database.writing() as db:
        mary = a_person(db, "mary@shop.example")
        assert mary.merchant_id is not None
        new = NewPerson(
            realm=Realm.MERCHANT,
            email="tom@shop.example",
            role=Role.VIEWER,
            merchant_id=mary.merchant_id,
            password_hash="",
        )
        insert_person(db, new, now=NOON)
        sell(db)
        work = a_sender(db).for_merchant(get_merchant(db, mary.merchant_id))
        change_invoicing(work, Invoicing.MONTHLY)
        merchant = get_merchant(db, mary.merchant_id)
        for _ in range(3):
            submitted(db, merchant)
        ended = find_month_end(NOON)
        work = a_sender(db, now=ended).for_merchant(merchant)
        while collect_documents(work, ended, payment_terms=TERMS):
            pass

        assert tell(db, mary, MailKind.INVOICES_READY, now=ended + HOUR) == 1
        [mail] = mails_in(db)
        assert (mail.email, mail.facts.count) == (mary.email, 1)


def test_what_is_issued_before_and_after_midnight_is_told_on_its_own_day(
    database: Database,
) -> None:
    late = NOON + 11.5 * HOUR
    with database.writing() as db:
        mary = a_person(db, "mary@shop.example")
        assert mary.merchant_id is not None
        sell(db)
        merchant = get_merchant(db, mary.merchant_id)
        for now in (late, late + HOUR):
            submitted(db, merchant)
            issue_all(db, merchant, now=now)

        due = [job.due_at - NOON for job in jobs_in(db, JobKind.WRITE_NOTICES)]

    assert due == [12 * HOUR, 13.5 * HOUR]
