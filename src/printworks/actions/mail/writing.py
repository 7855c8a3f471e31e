"""Writes mails, in the transaction of what causes them; a worker sends them."""

import secrets

import msgspec

from printworks.actions.work import SystemWork
from printworks.errors import WrongState
from printworks.rules.jobs import JobKind
from printworks.rules.languages import Language
from printworks.rules.mail import (
    NOTICES,
    WITH_LINK,
    MailFacts,
    MailKind,
    MailState,
    find_end,
)
from printworks.store.accounts.secrets import about_mail, seal
from printworks.store.mail.mails import (
    Mail,
    NewMail,
    get_mail_to_change,
    insert_mail,
    send_again,
)
from printworks.store.mail.settings import read_mail_settings


class NewLetter(msgspec.Struct, frozen=True, kw_only=True):
    """Who is written to, and about what."""

    kind: MailKind
    email: str
    facts: MailFacts
    # None is that of the merchant, or of the operator.
    language: Language | None = None
    name: str = ""
    merchant_id: int | None = None
    person_id: int | None = None
    order_id: int | None = None
    # Of the link that lets somebody in.
    token: str | None = None
    # What must not be written about twice.
    cause: str | None = None


def write_mail(work: SystemWork, new: NewLetter) -> bool:
    """Write a mail and enqueue it; return False if this deployment sends none, or it was before."""
    terms = work.backing.mail_terms
    if terms is None:
        return False
    message_id = f"{secrets.token_hex(16)}@{terms.domain}"
    secret = None
    if new.token is not None:
        secret = seal(work.db, work.backing.vault, new.token, about=about_mail(message_id))
    mail = NewMail(
        message_id=message_id,
        kind=new.kind,
        email=new.email,
        name=new.name,
        language=new.language or find_language(work, new.merchant_id),
        facts=new.facts,
        secret=secret,
        merchant_id=new.merchant_id,
        person_id=new.person_id,
        order_id=new.order_id,
        cause=new.cause,
        send_before=find_end(new.facts, now=work.real_now),
    )
    mail_id = insert_mail(work.db, mail, now=work.real_now)
    if mail_id is not None:
        _enqueue(work, mail_id, new.kind)
    return mail_id is not None


def find_language(work: SystemWork, merchant_id: int | None) -> Language:
    """Return the language of a merchant, or of the operator."""
    chosen = None if merchant_id is None else read_mail_settings(work.db, merchant_id).language
    terms = work.backing.mail_terms
    return chosen or (terms.language if terms else Language.EN)


def resend_mail(work: SystemWork, mail_id: int) -> Mail:
    """Send a mail again, or for the first time if that failed."""
    mail = get_mail_to_change(work.db, mail_id)
    if work.backing.mail_terms is None:
        raise WrongState("No mail server is set, so nothing can be sent.")
    if mail.state is MailState.WAITING:
        raise WrongState("This email is still waiting to be sent.")
    if mail.kind in WITH_LINK:
        raise WrongState(
            "The link of this email is not kept. Make a new invitation or a new reset link instead."
        )
    send_again(work.db, mail.id, send_before=find_end(mail.facts, now=work.real_now))
    _enqueue(work, mail.id, mail.kind)
    work.audit_for(mail.merchant_id, "resend-mail", mail=mail.id, kind=mail.kind)
    return mail


def _enqueue(work: SystemWork, mail_id: int, kind: MailKind) -> None:
    is_news = kind in NOTICES or kind is MailKind.PARCEL_SENT
    job = JobKind.SEND_NOTICE if is_news else JobKind.SEND_MAIL
    work.enqueue_unowned(job, {"mail": mail_id})
