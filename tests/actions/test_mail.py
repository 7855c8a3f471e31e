"""Mails are written with what causes them, in bounded numbers, to those who want them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select

from printworks.actions.accounts.merchants import BillingTerms, change_billing
from printworks.actions.accounts.people import (
    invite_colleague,
    invite_merchant,
    invite_operator,
    invite_to_choose_password,
)
from printworks.actions.accounts.secrets import examine_secrets, reseal_page
from printworks.actions.accounts.security import change_password
from printworks.actions.images.images import add_images, record_image_status
from printworks.actions.issues.issues import (
    answer_issue,
    dismiss_issue,
    open_issue,
    take_issue,
    update_issue,
)
from printworks.actions.mail.accounts import ask_for_reset, check_accounts, start_reset
from printworks.actions.mail.choices import change_mail_settings, choose_mails, stop_mails
from printworks.actions.mail.notices import notify, tell_shipped, write_notices
from printworks.actions.mail.reminders import ReminderTerms
from printworks.actions.mail.writing import resend_mail
from printworks.actions.payments.ledger import post_by_hand
from printworks.actions.payments.payments import settle
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.submission.submit import submit_order
from printworks.actions.work import SystemWork
from printworks.errors import BadInput, NotFound, WrongState
from printworks.labs.documents import LabReport
from printworks.payments.provider import Declined
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueAction, IssueKind
from printworks.rules.jobs import JobKind
from printworks.rules.languages import Language
from printworks.rules.ledger import EntryKind
from printworks.rules.mail import (
    MOST_LISTED,
    RESET_LASTS,
    MailKind,
    MailState,
    MailTerms,
    NoticeFact,
)
from printworks.rules.payments import Billing, Cards
from printworks.rules.people import Realm, Role
from printworks.rules.production import LabState
from printworks.store.accounts.invitations import find_invitation
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.accounts.people import NewPerson, Person, delete_person, insert_person
from printworks.store.accounts.secrets import about_mail
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage, list_images
from printworks.store.issues.issues import NewIssue
from printworks.store.mail.choices import hash_recipient, read_choices
from printworks.store.mail.mails import Mail, MailSearch, end_mail, search_mails
from printworks.store.mail.settings import MailSettings, read_mail_settings
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import jobs, notices
from tests.actions.complaints import submitted
from tests.actions.people import a_person
from tests.actions.test_ledger import CARDS, CATALOGUE
from tests.actions.test_ledger import a_draft as a_ledger_draft
from tests.factories import NOON, VAULT, a_merchant, a_system_work, a_work, an_order

TERMS = MailTerms("Fox", "https://print.example", Language.FR, "print.example")
HOUR = timedelta(hours=1)


def a_sender(db: Connection, *, now: datetime = NOON, cards: Cards | None = None) -> SystemWork:
    """Begin work where mail is sent."""
    return a_system_work(db, now=now, mail_terms=TERMS, cards=cards)


def an_operator(db: Connection, role: Role = Role.ADMIN) -> Person:
    """Add an operator."""
    new = NewPerson(
        realm=Realm.OPERATOR,
        email=f"{role}@works.example",
        role=role,
        merchant_id=None,
        password_hash="",
    )
    return insert_person(db, new, now=NOON)


def mails_in(db: Connection, **search: Any) -> list[Mail]:
    """Return the mails, the oldest first."""
    return search_mails(db, MailSearch(**search), limit=99).mails[::-1]


def jobs_in(db: Connection, kind: JobKind) -> Sequence[Any]:
    """Return the jobs of a kind."""
    return db.execute(select(jobs).where(jobs.c.kind == kind).order_by(jobs.c.id)).all()


def test_a_link_is_mailed_sealed_and_never_stored_plainly(database: Database) -> None:
    with database.writing() as db:
        token = invite_operator(a_sender(db), "Tom@works.example", Role.SUPPORT)

    with database.reading() as db:
        [mail] = mails_in(db)
        [job] = jobs_in(db, JobKind.SEND_MAIL)
    assert job.args == {"mail": mail.id}
    assert (mail.kind, mail.email, mail.state) == (
        MailKind.OPERATOR_INVITATION,
        "tom@works.example",
        MailState.WAITING,
    )
    assert mail.message_id.endswith("@print.example")
    assert mail.secret is not None
    assert token not in str(mail)
    assert VAULT.open(mail.secret, about=about_mail(mail.message_id)) == token
    assert mail.send_before == NOON + timedelta(days=7)


def test_links_that_wait_are_found_by_a_rotation_of_keys(database: Database) -> None:
    with database.writing() as db:
        before = examine_secrets(db, VAULT)
        invite_merchant(a_sender(db), "new@shop.example")
        after = examine_secrets(db, VAULT)

        assert sum(after.by_key.values()) == sum(before.by_key.values()) + 1
        assert after.unreadable == []
        assert reseal_page(a_sender(db), "mails", None) == (0, None)


def test_each_invitation_is_written_in_the_language_of_its_reader(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        work = a_sender(db).for_merchant(merchant)
        change_mail_settings(work, MailSettings(language=Language.DE))
        invite_merchant(work, "new@shop.example")
        invite_colleague(work, "colleague@shop.example")
        person = a_person(db, "mary@shop.example")
        invite_to_choose_password(work, Realm.MERCHANT, person.email)
        mails = mails_in(db)

    assert [(mail.kind, mail.language) for mail in mails] == [
        (MailKind.MERCHANT_INVITATION, Language.FR),
        (MailKind.COLLEAGUE_INVITATION, Language.DE),
        (MailKind.PASSWORD_RESET, Language.FR),
    ]
    assert [mail.merchant_id for mail in mails] == [None, merchant.id, person.merchant_id]
    assert mails[1].facts.shop == "Alice"


def test_a_link_that_is_shown_to_somebody_is_not_mailed(database: Database) -> None:
    with database.writing() as db:
        work = a_sender(db).for_merchant(a_merchant(db))
        person = a_person(db, "mary@shop.example")
        invite_merchant(work, "new@shop.example", by_mail=False)
        invite_colleague(work, "colleague@shop.example", by_mail=False)
        invite_operator(work, "tom@works.example", Role.ADMIN, by_mail=False)
        invite_to_choose_password(work, Realm.MERCHANT, person.email, by_mail=False)

        assert mails_in(db) == []


def test_without_a_server_nothing_is_written_and_nothing_waits(database: Database) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        person = a_person(db, "mary@shop.example")
        invite_merchant(work, "new@shop.example")
        change_password(work, person.id, "another")
        notify(work, person.merchant_id, MailKind.IMAGES_FAILED, [NoticeFact(order=1)])
        start_reset(work, person, cause="job 1")
        check_accounts(work, low_percent=10, reminders=ReminderTerms(timedelta(days=30)))
        send_parcel(db, a_merchant(db), work)

        assert mails_in(db) == []
        assert db.execute(select(jobs.c.id).where(jobs.c.kind.like("%-mail%"))).all() == []
        assert db.execute(select(notices)).all() == []


def send_parcel(db: Connection, merchant: Merchant, work: SystemWork, **values: Any) -> Order:
    """Let a lab send the only shipment of an order."""
    order = submitted(db, merchant, **values)
    [shipment] = list_shipments(db, order.id)
    report = LabReport(
        job=shipment.id,
        state=LabState.DISPATCHED,
        carrier="DpdNextDay",
        tracking_number="DPD 1",
        tracking_url="https://track.example/1",
    )
    assert apply_lab_report(work, report)
    return order


def test_a_person_is_told_of_a_new_password(database: Database) -> None:
    with database.writing() as db:
        person = a_person(db, "mary@shop.example")
        change_password(a_sender(db), person.id, "another")

        [mail] = mails_in(db)

    assert (mail.kind, mail.email, mail.person_id) == (
        MailKind.PASSWORD_CHANGED,
        "mary@shop.example",
        person.id,
    )


class TestNotices:
    """What happens is collected, and told once an hour."""

    @pytest.mark.slow
    def test_a_thousand_things_make_one_mail_an_hour(self, database: Database) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            for order in range(1, 1001):
                now = NOON + timedelta(seconds=order)
                fact = NoticeFact(order=order)
                notify(a_sender(db, now=now), person.merchant_id, MailKind.CALLBACKS_FAILED, [fact])
            due = [job.due_at - NOON for job in jobs_in(db, JobKind.WRITE_NOTICES)]
            written = [tell(db, person, now=NOON + timedelta(minutes=20)), tell(db, person)]
            [mail] = mails_in(db)

        assert due == [timedelta(minutes=1, seconds=1), HOUR]
        assert written == [1, 0]
        assert mail.facts.count == 1000
        assert [fact.order for fact in mail.facts.items] == list(range(1, MOST_LISTED + 1))

    def test_what_happens_after_the_job_of_this_hour_is_told_by_that_of_the_next(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            for minutes in (0, 30, 90):
                now = NOON + timedelta(minutes=minutes)
                fact = NoticeFact(order=minutes + 1)
                notify(a_sender(db, now=now), person.merchant_id, MailKind.ISSUES_ANSWERED, [fact])
                if minutes == 0:
                    tell(db, person, MailKind.ISSUES_ANSWERED)
            tell(db, person, MailKind.ISSUES_ANSWERED, now=NOON + HOUR)
            orders_told = [[fact.order for fact in mail.facts.items] for mail in mails_in(db)]
            due = [job.due_at - NOON for job in jobs_in(db, JobKind.WRITE_NOTICES)]

        assert orders_told == [[1], [31, 91]]
        assert due == [timedelta(0), HOUR, 2 * HOUR]

    def test_only_those_are_told_who_want_to_be(self, database: Database) -> None:
        with database.writing() as db:
            mary = a_person(db, "mary@shop.example")
            assert mary.merchant_id is not None
            new = NewPerson(
                realm=Realm.MERCHANT,
                email="tom@shop.example",
                role=Role.OWNER,
                merchant_id=mary.merchant_id,
                password_hash="",
            )
            tom = insert_person(db, new, now=NOON)
            stranger = a_person(db, "stranger@shop.example")
            choose_mails(a_sender(db), tom, {MailKind.SHIPMENTS_SENT})
            for kind in (MailKind.IMAGES_FAILED, MailKind.SHIPMENTS_SENT, MailKind.LOW_CREDIT):
                notify(a_sender(db), mary.merchant_id, kind, [NoticeFact(order=1)])
                tell(db, mary, kind)
            told = [(mail.kind, mail.email) for mail in mails_in(db)]

            assert told == [
                (MailKind.IMAGES_FAILED, mary.email),
                (MailKind.SHIPMENTS_SENT, tom.email),
                (MailKind.LOW_CREDIT, mary.email),
            ]
            assert read_choices(db, stranger.id) == {}

    def test_where_nobody_wants_to_know_nothing_is_collected(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            notify(a_sender(db), merchant.id, MailKind.IMAGES_FAILED, [NoticeFact(order=1)])

            assert db.execute(select(notices)).all() == []
            assert jobs_in(db, JobKind.WRITE_NOTICES) == []

    def test_whoever_unsubscribes_before_the_mail_is_written_gets_none(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            notify(a_sender(db), person.merchant_id, MailKind.OVERDUE, [NoticeFact(amount=1)])
            stop_mails(a_sender(db), MailKind.OVERDUE, str(person.id))

            assert tell(db, person, MailKind.OVERDUE) == 0
            assert db.execute(select(notices)).all() == []


def tell(
    db: Connection,
    person: Person | None,
    kind: MailKind = MailKind.CALLBACKS_FAILED,
    *,
    now: datetime = NOON,
) -> int:
    """Do what the job does: for the merchant of a person, or for operators."""
    return write_notices(a_sender(db, now=now), person.merchant_id if person else None, kind)


def test_operators_are_told_what_merchants_say_and_merchants_what_operators_say(
    database: Database,
) -> None:
    with database.writing() as db:
        support, viewer = an_operator(db, Role.SUPPORT), an_operator(db, Role.VIEWER)
        person = a_person(db, "mary@shop.example")
        assert person.merchant_id is not None
        work = a_sender(db).for_merchant(get_merchant(db, person.merchant_id))
        order = submitted(db, work.merchant)
        new = NewIssue(
            kind=IssueKind.DAMAGED_ORDER, action=IssueAction.REPRINT, detail="It is torn."
        )
        issue = open_issue(work, order, new)
        update_issue(work, issue, comment="Still torn.")
        take_issue(a_sender(db), issue.id, comment=None)
        answer_issue(a_sender(db), issue.id, "We look at it.")
        dismiss_issue(a_sender(db), issue.id, comment="It is not.")
        tell(db, None, MailKind.ISSUES_RAISED)
        tell(db, person, MailKind.ISSUES_ANSWERED)
        raised, answered = mails_in(db)

    assert (raised.email, answered.email) == (support.email, person.email)
    assert viewer.email not in {raised.email, answered.email}
    assert [fact.text for fact in raised.facts.items] == ["It is torn.", "Still torn."]
    assert {fact.merchant for fact in raised.facts.items} == {"Alice"}
    said = [fact.text for fact in answered.facts.items]
    assert said[0] == "We look at it."
    assert said[1].startswith("It is not.")


def test_people_are_told_of_images_and_payments_that_come_to_nothing(database: Database) -> None:
    with database.writing() as db:
        person = a_person(db, "mary@shop.example")
        assert person.merchant_id is not None
        merchant = get_merchant(db, person.merchant_id)
        order = an_order(db, merchant, merchant_order_id="A-1")
        add_images(
            a_work(db, merchant, catalogue=CATALOGUE),
            order,
            [NewImage(sku="GLOBAL-PHO-4X6-PRO", url="https://shop.example/a.jpg", copies=1)],
        )
        [image] = list_images(db, order.id)
        work = a_sender(db).for_merchant(merchant)
        record_image_status(
            work, image, ImageStatus.FILE_NOT_FOUND_AT_URL, error_message="Not there."
        )
        paying = a_work(db, merchant, catalogue=CATALOGUE, cards=CARDS)
        request = submit_order(paying, a_ledger_draft(db, merchant))
        assert isinstance(request, PaymentRequest)
        settle(a_sender(db), request.id, Declined(reason="no funds"))
        tell(db, person, MailKind.IMAGES_FAILED)
        tell(db, person, MailKind.PAYMENTS_REFUSED)
        failed, refused = mails_in(db)

    [fact] = failed.facts.items
    assert (fact.order, fact.reference, fact.text) == (order.id, "A-1", "a.jpg: Not there.")
    [fact] = refused.facts.items
    assert (fact.order, fact.text) == (request.order_id, "no funds")
    assert (fact.amount, fact.currency) == (request.amount, "GBP")
    assert not refused.facts.may_change_card


def test_only_those_who_may_change_the_card_are_led_to_it(database: Database) -> None:
    with database.writing() as db:
        owner = a_person(db, "mary@shop.example")
        assert owner.merchant_id is not None
        merchant = get_merchant(db, owner.merchant_id)
        new = NewPerson(
            realm=Realm.MERCHANT,
            email="viewer@shop.example",
            role=Role.VIEWER,
            merchant_id=merchant.id,
            password_hash="",
        )
        insert_person(db, new, now=NOON)
        sender = a_sender(db, cards=CARDS)
        for kind in (MailKind.PAYMENTS_REFUSED, MailKind.IMAGES_FAILED):
            notify(sender, merchant.id, kind, [NoticeFact(order=1)])
            write_notices(sender, merchant.id, kind)
        led = {(mail.email, mail.kind) for mail in mails_in(db) if mail.facts.may_change_card}

    assert led == {("mary@shop.example", MailKind.PAYMENTS_REFUSED)}


class TestParcels:
    """Recipients are told only where the merchant wants it, and they do."""

    def test_a_recipient_is_told_in_the_name_of_the_shop(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            let_write(db, merchant)
            order = send_parcel(
                db, merchant, a_sender(db), email="Marie@home.example", destination_country="GB"
            )
            [mail] = mails_in(db)

        assert (mail.kind, mail.email, mail.order_id) == (
            MailKind.PARCEL_SENT,
            "marie@home.example",
            order.id,
        )
        assert (mail.name, mail.language) == ("Mary Fox", Language.EN)
        [fact] = mail.facts.items
        assert (fact.carrier, fact.tracking_number) == ("DPD", "DPD 1")
        assert mail.facts.shop == "Alice"

    def test_a_parcel_is_told_once(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            let_write(db, merchant)
            order = send_parcel(db, merchant, a_sender(db), email="marie@home.example")
            [shipment] = list_shipments(db, order.id)
            tell_shipped(a_sender(db).for_merchant(merchant), order, shipment)

            assert len(mails_in(db)) == 1
            assert len(jobs_in(db, JobKind.SEND_NOTICE)) == 1

    def test_the_merchant_chooses_the_language(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            let_write(db, merchant, recipient_language=Language.ES)
            send_parcel(db, merchant, a_sender(db), email="marie@home.example")

            assert [mail.language for mail in mails_in(db)] == [Language.ES]

    @pytest.mark.parametrize("email", [None, "", "nobody", "x@y.example\r\nBcc: z@y.example"])
    def test_what_is_no_address_is_not_written_to(
        self, database: Database, email: str | None
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            let_write(db, merchant)
            send_parcel(db, merchant, a_sender(db), email=email)

            assert mails_in(db) == []

    def test_no_recipient_is_told_unless_the_merchant_wants_it(self, database: Database) -> None:
        with database.writing() as db:
            send_parcel(db, a_merchant(db), a_sender(db), email="marie@home.example")

            assert mails_in(db) == []

    def test_whoever_has_refused_is_not_told_again_by_this_merchant(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant, other = a_merchant(db), a_merchant(db, "Bob")
            reader = hash_recipient(merchant.id, "marie@home.example")
            for _ in range(2):
                stop_mails(a_sender(db), MailKind.PARCEL_SENT, reader)
            for one in (merchant, other):
                let_write(db, one)
                send_parcel(db, one, a_sender(db), email="marie@home.example")

            assert [mail.merchant_id for mail in mails_in(db)] == [other.id]

    def test_the_people_of_the_merchant_are_told_if_they_have_chosen_so(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            assert person.merchant_id is not None
            choose_mails(a_sender(db), person, {MailKind.SHIPMENTS_SENT})
            send_parcel(db, get_merchant(db, person.merchant_id), a_sender(db))
            tell(db, person, MailKind.SHIPMENTS_SENT)
            [mail] = mails_in(db)

        assert mail.kind is MailKind.SHIPMENTS_SENT
        assert mail.facts.items[0].tracking_url == "https://track.example/1"


def let_write(db: Connection, merchant: Merchant, **more: Any) -> None:
    """Let a merchant write to its recipients."""
    settings = MailSettings(writes_to_recipients=True, **more)
    change_mail_settings(a_sender(db).for_merchant(merchant), settings)


class TestForgottenPasswords:
    """Whoever asks for a link leaves the same behind, whether there is such a person or not."""

    def test_known_and_unknown_addresses_leave_the_same(self, database: Database) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            for email in (person.email, "nobody@shop.example"):
                assert ask_for_reset(a_sender(db), Realm.MERCHANT, email) is None
            known, unknown = jobs_in(db, JobKind.START_RESET)

        assert (known.args, unknown.args) == ({"person": person.id}, {"person": 0})

    def test_an_address_is_asked_for_a_few_times_only(self, database: Database) -> None:
        with database.writing() as db:
            waits = [
                ask_for_reset(a_sender(db), Realm.OPERATOR, "nobody@shop.example") for _ in range(4)
            ]
            later = a_sender(db, now=NOON + timedelta(minutes=20))

            assert waits == [None, None, None, timedelta(minutes=20)]
            assert ask_for_reset(later, Realm.OPERATOR, "nobody@shop.example") is None

    def test_a_job_that_runs_twice_makes_one_link(self, database: Database) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            for _ in range(2):
                start_reset(a_sender(db), person, cause="job 7")
            [mail] = mails_in(db)
            assert mail.secret is not None
            token = VAULT.open(mail.secret, about=about_mail(mail.message_id))
            late = NOON + RESET_LASTS

            assert find_invitation(db, token, now=late - timedelta(seconds=1)) is not None
            assert find_invitation(db, token, now=late) is None
            assert mail.send_before == late


class TestAccounts:
    """Merchants that pay on account are told when little is left, and when it is late."""

    def owe(self, db: Connection, merchant: Merchant, amount: int, *, days_ago: int = 0) -> None:
        """Let a merchant be charged."""
        entry = NewLedgerEntry(
            key=f"charge-{days_ago}-{amount}",
            kind=EntryKind.CHARGE,
            amount=amount,
            currency="GBP",
        )
        post_entry(db, merchant.id, entry, now=NOON - timedelta(days=days_ago))

    def check(self, db: Connection, *, days: int = 0, cards: Cards | None = None) -> list[Mail]:
        """Do what happens every hour, and write the mails; return them."""
        now = NOON + timedelta(days=days)
        before = len(mails_in(db))
        terms = ReminderTerms(timedelta(days=30))
        check_accounts(a_sender(db, now=now, cards=cards), low_percent=10, reminders=terms)
        for merchant_id, kind in (
            (1, MailKind.LOW_CREDIT),
            (1, MailKind.OVERDUE),
            (None, MailKind.MERCHANTS_OVERDUE),
        ):
            write_notices(a_sender(db, now=now), merchant_id, kind)
        return mails_in(db)[before:]

    def an_account(self, db: Connection, limit: int | None) -> Merchant:
        """Have a merchant on account, with somebody who reads its mail, and an operator."""
        person = a_person(db, "mary@shop.example")
        an_operator(db)
        assert person.merchant_id == 1
        merchant = get_merchant(db, 1)
        terms = BillingTerms(billing=Billing.ACCOUNT, credit_limit=limit)
        change_billing(a_work(db, merchant), terms)
        return merchant

    def test_low_credit_is_told_once_until_it_is_well_again(self, database: Database) -> None:
        with database.writing() as db:
            merchant = self.an_account(db, limit=10_000)
            self.owe(db, merchant, 9_000)
            assert self.check(db) == []
            self.owe(db, merchant, 500)
            [mail] = self.check(db)
            assert (mail.kind, mail.facts.items[0].amount) == (MailKind.LOW_CREDIT, 500)
            assert self.check(db, days=1) == []

            work = a_work(db, merchant)
            post_by_hand(work, EntryKind.PAYMENT, 5_000, "paid")
            assert self.check(db, days=2) == []
            self.owe(db, merchant, 6_000)
            [again] = self.check(db, days=3)

        assert again.facts.items[0].amount == 0

    def test_all_pay_on_account_where_no_cards_are_charged(self, database: Database) -> None:
        by_card = Cards("stripe", timedelta(days=1), timedelta(days=30))
        with database.writing() as db:
            merchant = self.an_account(db, limit=None)
            terms = BillingTerms(billing=Billing.CARD, credit_limit=None)
            change_billing(a_work(db, merchant), terms)
            self.owe(db, merchant, 700, days_ago=31)

            assert self.check(db, cards=by_card) == []
            assert [mail.kind for mail in self.check(db)] == [
                MailKind.OVERDUE,
                MailKind.MERCHANTS_OVERDUE,
            ]

    def test_without_a_limit_no_credit_is_low(self, database: Database) -> None:
        with database.writing() as db:
            self.owe(db, self.an_account(db, limit=None), 99_000)

            assert self.check(db) == []

    def test_what_is_owed_for_too_long_is_told_once_a_week(self, database: Database) -> None:
        with database.writing() as db:
            merchant = self.an_account(db, limit=None)
            self.owe(db, merchant, 700, days_ago=31)
            self.owe(db, merchant, 200, days_ago=30)
            told = [self.check(db, days=day) for day in (0, 6, 7)]
            post_by_hand(a_work(db, merchant), EntryKind.PAYMENT, 900, "paid")
            told += [self.check(db, days=14), self.check(db, days=15)]

        assert [[mail.kind for mail in mails] for mails in told] == [
            [MailKind.OVERDUE, MailKind.MERCHANTS_OVERDUE],
            [],
            [MailKind.OVERDUE, MailKind.MERCHANTS_OVERDUE],
            [],
            [],
        ]
        amounts = [mails[0].facts.items[0].amount for mails in told if mails]
        assert amounts == [700, 900]
        assert told[0][1].facts.items[0].merchant_code == merchant.code


class TestChoosing:
    """People and merchants choose for themselves."""

    def test_what_is_ticked_is_chosen_and_the_rest_is_not(self, database: Database) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            choose_mails(a_sender(db), person, {MailKind.OVERDUE, MailKind.NEW_DEVICE})
            chosen = read_choices(db, person.id)

            assert {kind for kind, is_on in chosen.items() if is_on} == {MailKind.OVERDUE}
            assert MailKind.NEW_DEVICE not in chosen
            # Whoever goes takes their choices along.
            delete_person(db, person.id)
            assert read_choices(db, person.id) == {}

    def test_a_merchant_has_settings_of_its_own(self, database: Database) -> None:
        with database.writing() as db:
            merchant, other = a_merchant(db), a_merchant(db, "Bob")
            wanted = MailSettings(Language.ES, True, Language.DE, " Hello@Shop.example ")
            for _ in range(2):
                change_mail_settings(a_sender(db).for_merchant(merchant), wanted)

            found = read_mail_settings(db, merchant.id)
            assert found.recipient_reply_to == "hello@shop.example"
            assert found.language is Language.ES
            assert read_mail_settings(db, other.id) == MailSettings()

    def test_a_reply_goes_to_an_address(self, database: Database) -> None:
        wrong = MailSettings(recipient_reply_to="nowhere")
        with database.writing() as db:
            merchant = a_merchant(db)
        with pytest.raises(BadInput, match="address for replies"), database.writing() as db:
            change_mail_settings(a_sender(db).for_merchant(merchant), wrong)

    def test_nobody_unsubscribes_who_is_gone(self, database: Database) -> None:
        with pytest.raises(NotFound), database.writing() as db:
            stop_mails(a_sender(db), MailKind.OVERDUE, "99")


class TestSendingAgain:
    """An operator sends again what failed, or what somebody has lost."""

    def test_a_mail_that_has_ended_waits_again(self, database: Database) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            change_password(a_sender(db), person.id, "another")
            [mail] = mails_in(db)
            end_mail(db, mail.id, MailState.FAILED, now=NOON, error="550")
            later = a_sender(db, now=NOON + timedelta(days=9))
            resend_mail(later, mail.id)
            [again] = mails_in(db)

            assert (again.state, again.error) == (MailState.WAITING, None)
            assert again.message_id == mail.message_id
            assert again.send_before == NOON + timedelta(days=12)
            assert len(jobs_in(db, JobKind.SEND_MAIL)) == 2

    def test_what_waits_and_what_had_a_link_is_not_sent_again(self, database: Database) -> None:
        with database.writing() as db:
            invite_merchant(a_sender(db), "new@shop.example")
            [mail] = mails_in(db)
        with pytest.raises(WrongState, match="still waiting"), database.writing() as db:
            resend_mail(a_sender(db), mail.id)
        with database.writing() as db:
            assert end_mail(db, mail.id, MailState.SENT, now=NOON, error="")
            assert not end_mail(db, mail.id, MailState.FAILED, now=NOON, error="")
            [ended] = mails_in(db)
            assert ended.secret is None
        with pytest.raises(WrongState, match="new invitation"), database.writing() as db:
            resend_mail(a_sender(db), mail.id)
        with pytest.raises(WrongState, match="No mail server"), database.writing() as db:
            resend_mail(a_system_work(db), mail.id)
        with pytest.raises(NotFound), database.writing() as db:
            resend_mail(a_sender(db), 99)


def test_mails_are_found_by_how_an_address_begins(database: Database) -> None:
    with database.writing() as db:
        for email in ("mary@shop.example", "mark@shop.example", "tom@shop.example"):
            invite_merchant(a_sender(db), email)

        found = search_mails(db, MailSearch(email="Mar"), limit=1)
        rest = search_mails(db, MailSearch(email="mar"), before=found.next, limit=1)
        assert [mail.email for mail in found.mails + rest.mails] == [
            "mark@shop.example",
            "mary@shop.example",
        ]
        assert rest.next is None
        assert mails_in(db, email="\0nobody") == []
        assert mails_in(db, state=MailState.SENT) == []
        assert len(mails_in(db, state=MailState.WAITING)) == 3
