"""Merchants are reminded of what is overdue, step by step."""

from datetime import date, timedelta

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from printworks.actions.accounts.clock import advance_clock
from printworks.actions.accounts.merchants import BillingTerms, change_billing
from printworks.actions.mail.accounts import check_accounts
from printworks.actions.mail.notices import write_notices
from printworks.actions.mail.reminders import ReminderTerms, pause_reminders, resume_reminders
from printworks.actions.payments.ledger import post_by_hand
from printworks.errors import BadInput, WrongState
from printworks.rules.ledger import EntryKind
from printworks.rules.mail import MailKind
from printworks.rules.payments import Billing
from printworks.rules.reminders import ReminderTone
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.mail.choices import list_readers, write_choice
from printworks.store.mail.mails import Mail
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.money.reminders import (
    add_reminder,
    list_reminders,
    read_reminder_standing,
)
from tests.actions.people import a_person
from tests.actions.test_mail import a_sender, an_operator, mails_in
from tests.factories import NOON, a_new_reminder, a_work

TERMS = timedelta(days=30)
FRIENDLY, FIRM, LAST = ReminderTone


def an_account(db: Connection) -> Merchant:
    """Have a merchant on account, with somebody who reads its mail, and an operator."""
    person = a_person(db, "mary@shop.example")
    an_operator(db)
    assert person.merchant_id is not None
    merchant = get_merchant(db, person.merchant_id)
    change_billing(a_work(db, merchant), BillingTerms(billing=Billing.ACCOUNT, credit_limit=None))
    return merchant


def owe(db: Connection, merchant: Merchant, amount: int, *, days_ago: int) -> None:
    """Let a merchant be charged."""
    key = f"charge-{days_ago}-{amount}"
    entry = NewLedgerEntry(key=key, kind=EntryKind.CHARGE, amount=amount, currency="GBP")
    post_entry(db, merchant.id, entry, now=NOON - timedelta(days=days_ago))


def pay(db: Connection, merchant: Merchant, amount: int) -> None:
    post_by_hand(a_work(db, merchant), EntryKind.PAYMENT, amount, "paid")


def remind(db: Connection, merchant: Merchant, *days: int) -> dict[int, ReminderTone | None]:
    """Do what happens every hour, on each of these days; return what was sent when."""
    sent = {}
    for day in days:
        for mail in check(db, merchant, day):
            if mail.kind is MailKind.OVERDUE:
                sent[day] = mail.facts.items[0].tone
    return sent


def check(db: Connection, merchant: Merchant, day: int, *steps: int) -> list[Mail]:
    """Do what happens every hour twice, and write the mails; return them."""
    work, before = a_sender(db, now=NOON + timedelta(days=day)), len(mails_in(db))
    for _ in range(2):
        terms = ReminderTerms(TERMS, steps or (3, 10, 21))
        check_accounts(work, low_percent=0, reminders=terms)
    write_notices(work, merchant.id, MailKind.OVERDUE)
    write_notices(work, None, MailKind.MERCHANTS_OVERDUE)
    return mails_in(db)[before:]


def test_each_step_is_sent_once_and_becomes_firmer(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=30)
        owe(db, merchant, 200, days_ago=5)
        sent = remind(db, merchant, *range(40))

        rows = list_reminders(db, merchant.id, limit=9)
        told = [mail for mail in mails_in(db) if mail.kind is MailKind.MERCHANTS_OVERDUE]
        fact = mails_in(db)[0].facts.items[0]

    assert sent == {3: FRIENDLY, 10: FIRM, 21: LAST}
    assert [(row.step, row.tone) for row in rows] == [(3, LAST), (2, FIRM), (1, FRIENDLY)]
    due_on = NOON.date()
    assert [(row.amount, row.due_on) for row in rows] == [(700, due_on.isoformat())] * 3
    assert [row.readers for row in rows] == [1, 1, 1]
    assert (fact.amount, fact.currency, fact.due_on) == (700, "GBP", due_on)
    assert [mail.facts.items[0].merchant_code for mail in told] == [merchant.code] * 3


def test_whoever_has_paid_up_begins_anew(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=30)
        owe(db, merchant, 200, days_ago=0)
        first = remind(db, merchant, 3, 10)
        pay(db, merchant, 700)
        nothing = remind(db, merchant, 11, 30)
        is_overdue = read_reminder_standing(db, merchant.id).overdue_since is not None
        again = remind(db, merchant, 32, 33, 40, 51)

        rows = list_reminders(db, merchant.id, limit=9)

    assert first == {3: FRIENDLY, 10: FIRM}
    assert nothing == {}
    assert not is_overdue
    assert again == {33: FRIENDLY, 40: FIRM, 51: LAST}
    assert [row.step for row in rows] == [3, 2, 1, 2, 1]
    assert {row.due_on for row in rows[:3]} == {(NOON.date() + TERMS).isoformat()}


def test_who_pays_a_part_is_not_reminded_of_it_again(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=30)
        owe(db, merchant, 200, days_ago=22)
        first = remind(db, merchant, 3, 10)
        # What is left was due eight days later.
        pay(db, merchant, 700)
        rest = remind(db, merchant, *range(11, 60))

    assert first == {3: FRIENDLY, 10: FIRM}
    assert rest == {29: LAST}


def test_whoever_is_long_overdue_is_reminded_gently_first(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=99)

        assert remind(db, merchant, *range(30)) == {0: FRIENDLY, 7: FIRM, 18: LAST}


def test_only_what_is_overdue_counts_and_only_the_steps_that_are_set(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=30)
        days = [day for day in range(20) if check(db, merchant, day, 5)]

        assert days == [5]
        assert list_reminders(db, merchant.id, limit=9)[0].tone is FRIENDLY


def test_a_reminder_that_nobody_wants_says_so(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=30)
        [mary] = list_readers(db, merchant.id, MailKind.OVERDUE)
        write_choice(db, mary.id, MailKind.OVERDUE, is_wanted=False)
        sent = remind(db, merchant, 3)

        assert sent == {}
        assert [row.readers for row in list_reminders(db, merchant.id, limit=9)] == [0]


def test_the_same_step_cannot_be_stored_twice(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        new = a_new_reminder(merchant.id)
        add_reminder(db, new)
    with pytest.raises(IntegrityError), database.writing() as db:
        add_reminder(db, new)


def test_nobody_is_reminded_while_that_is_paused(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=30)
        first = remind(db, merchant, 3)
        pause_reminders(a_work(db, merchant), " They dispute\nit. ")
        paused = remind(db, merchant, *range(4, 30))
        weekly = ReminderTerms(TERMS)
        later = a_sender(db, now=NOON + timedelta(days=30))
        check_accounts(later, low_percent=0, reminders=weekly)
        assert write_notices(later, merchant.id, MailKind.OVERDUE) == 0
        standing = read_reminder_standing(db, merchant.id)
        resume_reminders(a_work(db, merchant))
        after = remind(db, merchant, *range(30, 50))

    assert first == {3: FRIENDLY}
    assert paused == {}
    assert standing.reminders_paused == "They dispute it."
    assert after == {30: FIRM, 41: LAST}


def test_a_pause_needs_a_reason_and_ends_once(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
    with pytest.raises(BadInput), database.writing() as db:
        pause_reminders(a_work(db, merchant), " ")
    with pytest.raises(WrongState, match="not paused"), database.writing() as db:
        resume_reminders(a_work(db, merchant))


def test_the_days_are_those_of_the_clock_of_the_merchant(database: Database) -> None:
    with database.writing() as db:
        merchant = an_account(db)
        owe(db, merchant, 700, days_ago=0)
        advance_clock(a_work(db, merchant), timedelta(days=33))

        assert remind(db, merchant, 0) == {0: FRIENDLY}
        [row] = list_reminders(db, merchant.id, limit=9)

    assert date.fromisoformat(row.due_on) == NOON.date() + TERMS
