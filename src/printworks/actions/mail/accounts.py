"""Mails about people's accounts, and about what merchants owe."""

from datetime import timedelta
from functools import partial
from typing import NamedTuple

from printworks.actions.mail.notices import notify
from printworks.actions.mail.reminders import ReminderTerms, remind_overdue
from printworks.actions.mail.writing import NewLetter, write_mail
from printworks.actions.work import SystemWork
from printworks.rules.jobs import JobKind
from printworks.rules.mail import (
    RESET_LASTS,
    MailFacts,
    MailKind,
    NoticeFact,
    is_credit_low,
)
from printworks.rules.people import INVITATION_LASTS, Realm
from printworks.rules.sign_in import OF_A_RESET, count_within
from printworks.store.accounts.invitations import NewInvitation, add_invitation
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.people import Person, find_person, get_person
from printworks.store.accounts.tries import count_try
from printworks.store.mail.mails import is_written
from printworks.store.money.accounts import (
    CreditAccount,
    list_credit_accounts,
    set_told,
)


class LinkToMail(NamedTuple):
    """An invitation that was just made, and how its link is sent."""

    kind: MailKind
    invitation: NewInvitation
    token: str
    # Whose dashboard it is about, if there is one.
    merchant_id: int | None
    lasts: timedelta = INVITATION_LASTS
    cause: str | None = None


def mail_link(work: SystemWork, link: LinkToMail) -> None:
    """Send somebody the link with which they choose a password."""
    new, merchant_id = link.invitation, link.merchant_id
    shop = "" if merchant_id is None else get_merchant(work.db, merchant_id).name
    letter = NewLetter(
        kind=link.kind,
        email=new.email,
        facts=MailFacts(shop=shop, role=new.role, until=work.real_now + link.lasts),
        merchant_id=merchant_id,
        person_id=new.person_id,
        token=link.token,
        cause=link.cause,
    )
    write_mail(work, letter)


def ask_for_reset(work: SystemWork, realm: Realm, email: str) -> timedelta | None:
    """Let somebody who forgot the password be sent a link; return how long to wait instead.

    Whether there is such a person makes no difference here: the same rows are written, and a worker
    finds out.
    """
    rule = partial(count_within, OF_A_RESET, now=work.real_now)
    counted = count_try(work.db, f"reset {realm} {email}", rule, now=work.real_now)
    if isinstance(counted, timedelta):
        return counted
    person = find_person(work.db, realm, email)
    # No person has this id.
    work.enqueue_unowned(JobKind.START_RESET, {"person": person.id if person else 0})
    return None


def start_reset(work: SystemWork, person: Person, *, cause: str) -> None:
    """Send a person a link to choose a new password. Idempotent: once for each cause."""
    if work.backing.mail_terms is None or is_written(work.db, cause):
        return
    invitation = NewInvitation(person.realm, person.role, person.email, person_id=person.id)
    token = add_invitation(work.db, invitation, now=work.real_now, lasts=RESET_LASTS)
    link = LinkToMail(
        MailKind.PASSWORD_RESET, invitation, token, person.merchant_id, RESET_LASTS, cause
    )
    mail_link(work, link)


def tell_password_changed(work: SystemWork, person_id: int) -> None:
    """Tell a person that the password was changed."""
    _tell_person(work, get_person(work.db, person_id), MailKind.PASSWORD_CHANGED, "")


def tell_new_device(work: SystemWork, person: Person, *, browser: str) -> None:
    """Tell a person that somebody signed in with a browser that they have not used before."""
    _tell_person(work, person, MailKind.NEW_DEVICE, browser)


def _tell_person(work: SystemWork, person: Person, kind: MailKind, browser: str) -> None:
    facts = MailFacts(
        role=person.role if person.realm is Realm.OPERATOR else "",
        at=work.real_now,
        browser=browser,
        address=work.actor.address,
    )
    letter = NewLetter(
        kind=kind,
        email=person.email,
        facts=facts,
        merchant_id=person.merchant_id,
        person_id=person.id,
    )
    write_mail(work, letter)


def check_accounts(system: SystemWork, *, low_percent: int, reminders: ReminderTerms) -> None:
    """Tell merchants whose credit is low or who are overdue. Idempotent: it stores who was told."""
    if system.backing.mail_terms is None:
        return
    for account in list_credit_accounts(system.db, of_all=system.cards is None):
        _check_credit(system, account, low_percent)
        remind_overdue(system, account, reminders)


def _check_credit(system: SystemWork, account: CreditAccount, percent: int) -> None:
    limit, told_at = account.credit_limit, account.low_credit_told_at
    if limit is None or not is_credit_low(limit, account.balance, percent=percent):
        if told_at is not None:
            set_told(system.db, account.id, low_credit_told_at=None)
        return
    if told_at is None:
        left = max(limit - account.balance, 0)
        fact = NoticeFact(amount=left, currency=account.currency)
        notify(system, account.id, MailKind.LOW_CREDIT, [fact])
        set_told(system.db, account.id, low_credit_told_at=system.real_now)
